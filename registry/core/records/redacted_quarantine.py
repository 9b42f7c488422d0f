"""Redacted quarantine, where row values may not be kept: of a record only what reports show of it stays.

Messages and keys that are text stay as their shapes, anything else as its length. No digest is kept: that of a short
value can be guessed, and the coordinates of a record name it anyway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.redaction import redact_message
from cdc_contracts.registry.core.validate.verdicts import OTHER_DIALECT

_NOT_TEXT: Final = re.compile("[^\t\r\n -~\u00a0-\U0010ffff]")


def redact_quarantine(rows: pa.RecordBatch, catalogue: Catalogue) -> pa.RecordBatch:
    """Return rows of `QUARANTINE_SCHEMA` without any value of a row: findings hold none to begin with."""
    detected = zip(rows.column("contract").to_pylist(), rows.column("outcome").to_pylist(), strict=True)
    # Messages of another dialect have other member names than this one.
    versions = [
        catalogue.version(contract) if contract is not None and outcome != OTHER_DIALECT else None
        for contract, outcome in detected
    ]
    keys = rows.column("key").to_pylist()
    redacted = {
        "value": _shown(rows.column("value").to_pylist(), versions),
        "key": _shown(keys, [None] * len(keys)),
        "headers": pa.array(list(map(_name_headers, rows.column("headers").to_pylist())), HEADERS_TYPE),
    }
    columns = [redacted.get(name, rows.column(name)) for name in rows.schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def redact_bytes(data: bytes, version: Version | None) -> str:
    """Return what may be shown of a message or key: the shapes of a text, the length of what is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or _NOT_TEXT.search(text):
        return f"{len(data)} bytes"
    return redact_message(text, version)


def forget_examples(tally: Tally) -> None:
    """Remove the messages from a tally before it is stored; a report made from it has no examples."""
    for finding in tally.findings.values():
        finding.example = None


def _shown(values: Sequence[bytes | None], versions: Sequence[Version | None]) -> pa.Array:
    shown = [
        None if value is None else redact_bytes(value, version).encode()
        for value, version in zip(values, versions, strict=True)
    ]
    return pa.array(shown, pa.binary())


def _name_headers(headers: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Return the names of headers, without their values."""
    return None if headers is None else [{"key": header["key"], "value": None} for header in headers]
