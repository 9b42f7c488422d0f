"""Stored reports: a report as the JSON document that its schema describes, written and read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.json_documents import render_json
from cdc_contracts.registry.core.report.report_model import REPORT_VERSION, Report

_MOST_DIGITS = 20


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    text = files("cdc_contracts.registry.core.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def write_document(report: Report | ReportedDetection) -> dict[str, Any]:
    """Return a report, or the result of detection, as plain data in the order of the model, without unset members."""
    document: dict[str, Any] = msgspec.to_builtins(report)
    return document


def render_report(report: Report) -> str:
    """Return the report as the JSON document that its schema describes."""
    return render_json(write_document(report))


def read_report(path: Path) -> Report:
    """Return a stored report, of this release or of an older one.

    Raises UnavailableError if it cannot be read, UsageError if it is something else.
    """
    try:
        document = json.loads(path.read_bytes(), parse_int=_whole_number)
    except OSError as error:
        raise UnavailableError(f"the report cannot be read: {error.strerror}", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError("this is not a report: it is not JSON", where=str(path)) from error
    except OverflowError as error:
        raise UsageError(f"this is not a report: {error}", where=str(path)) from error
    return read_document(document, str(path))


def _whole_number(token: str) -> int:
    """Return a count or an offset. Raises OverflowError far beyond 64 bits: no share of it can be computed."""
    if len(token) > _MOST_DIGITS:
        raise OverflowError(f"it has a number of {len(token):,} digits")
    return int(token)


def read_document(document: Any, where: str) -> Report:
    """Return the report that plain data describes, of this release or of an older one.

    Raises UsageError if it is something else, with the path of what is wrong, or of a newer release.
    """
    version = document.get("report_version") if isinstance(document, Mapping) else None
    if type(version) is not int:
        raise UsageError(
            "this is not a report: it has no report_version", where=where, hint="`audit --report FILE.json` writes one."
        )
    if version > REPORT_VERSION:
        raise UsageError(f"a newer release wrote this report (version {version})", where=where)
    from jsonschema import Draft202012Validator  # imported here, as only reading a report needs it

    if version == REPORT_VERSION:  # a report of an older release lacks members
        for error in Draft202012Validator(report_schema()).iter_errors(document):
            raise UsageError(f"this is not a report: {error.message[:200]}", where=f"{where}{error.json_path[1:]}")
    try:
        return msgspec.convert(document, Report)
    except (msgspec.ValidationError, UnicodeError) as error:
        what, _, path = str(error).partition(" - at `$")
        raise UsageError(f"this is not a report: {what[:200]}", where=f"{where}{path.removesuffix('`')}") from error
