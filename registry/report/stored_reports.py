"""Stored reports of earlier runs, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.report.audit_report import REPORT_VERSION, report_schema


def read_report(path: Path) -> dict[str, Any]:
    """Return a stored report, of this release or of an older one.

    Raises UnavailableError where it cannot be read, UsageError where it is something else.
    """
    try:
        report = json.loads(path.read_bytes())
    except OSError as error:
        raise UnavailableError(f"the report cannot be read: {error.strerror}", where=str(path)) from error
    except ValueError as error:
        raise UsageError("this is no report: it is not JSON", where=str(path)) from error
    version = report.get("report_version") if isinstance(report, dict) else None
    if type(version) is not int:
        raise UsageError(
            "this is no report: it has no report_version",
            where=str(path),
            hint="`audit --report FILE.json` writes one",
        )
    if version > REPORT_VERSION:
        raise UsageError(f"a newer release wrote this report (version {version})", where=str(path))
    if version == REPORT_VERSION:
        _check(report, path)
    return dict(report)


def _check(report: dict[str, Any], path: Path) -> None:
    for error in Draft202012Validator(report_schema()).iter_errors(report):
        raise UsageError(f"this is no report: {error.message[:200]}", where=f"{path}{error.json_path[1:]}")
