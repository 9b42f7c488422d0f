"""Report documents: a report as the JSON document that its schema describes."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import msgspec

from cdc_contracts.registry.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.report.report_model import Report


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    text = files("cdc_contracts.registry.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def write_document(report: Report | ReportedDetection) -> dict[str, Any]:
    """Return a report, or what was detected, as plain data in the order of the model, without what is not known."""
    document: dict[str, Any] = msgspec.to_builtins(report)
    return document
