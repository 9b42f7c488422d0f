"""Annotations as a JSON document for a machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from cdc_contracts.registry.report.report_formats import render_json
from cdc_contracts.registry.review.annotations.annotation import Annotation, Review


def render_document(review: Review) -> str:
    """Return the whole review, ignored annotations apart."""
    return render_json({
        "command": review.command,
        "findings": [_told(one) for one in review.told],
        "ignored": [_told(one) for one in review.ignored],
        "checked": dict(review.checked),
        "notes": list(review.notes),
    })  # fmt: skip


def _told(one: Annotation) -> dict[str, Any]:
    result = {
        "rule": one.rule, "name": one.name, "severity": one.severity, "file": one.file, "line": one.line,
        "column": one.column, "path": one.path, "message": one.message, "help": one.help, **one.data,
    }  # fmt: skip
    return result | {"ignored": asdict(one.excuse)} if one.excuse else result
