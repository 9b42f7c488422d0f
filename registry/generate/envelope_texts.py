"""Texts of the envelope: names joined, positions and moments as a version writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.generate.message_outlines import write_json

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"(?:0|[1-9]\d*)\Z", re.ASCII)


def join_names(place: Place, database: str | None, schema: str | None, table: str) -> str:
    """Return the names of a table in one text."""
    match place.split:
        case "database.table":
            return f"{database}.{table}" if database else table
        case "schema.table":
            return f"{schema}.{table}" if schema else table
        case _:
            return ".".join(part.replace(".", "\\u002E") for part in (database, schema, table) if part)


def write_position(text: str, kinds: list[str]) -> str:
    """Return the token of a position, as a number where its member may be one; UsageError if it can be neither."""
    if "integer" in kinds and _DIGITS.match(text):
        return text
    if "string" not in kinds:
        raise UsageError(f"the position `{text}` is no number")
    return write_json(text)


def _write_iso(micros: int, zone: Any) -> str:
    moment = (_EPOCH + timedelta(microseconds=micros)).astimezone(zone or UTC)
    return write_json(moment.strftime("%Y-%m-%dT%H:%M:%S"))


def _write_iso_or_utc(micros: int, zone: Any) -> str:
    if zone is not None:
        return _write_iso(micros, zone)
    return write_json((_EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%SZ"))


TIME_WRITERS: Final[Mapping[str, Callable[[int, Any], str]]] = {
    "epoch-millis": lambda micros, _: str(micros // 1000),
    "epoch-seconds": lambda micros, _: str(micros // 1_000_000),
    "epoch-seconds-text": lambda micros, _: f'"{micros // 1_000_000}"',
    "epoch-millis-list-last": lambda micros, _: f"[{micros // 1000}]",
    "iso-local": _write_iso,
    "iso-local-or-utc": _write_iso_or_utc,
}
