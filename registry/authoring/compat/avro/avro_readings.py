"""Avro readings: how real readers read a message: fastavro, and Apache's library for messages that fastavro accepts.

fastavro reads logical types as the writer's schema has them. A consumer uses those of its own schema, as
Apache's Java does: the message is resolved on the bare types, and the reader's logical types are applied to the result.
"""

from __future__ import annotations

import io
import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import fastavro

from cdc_contracts.registry.authoring.compat.avro.avro_writing import NO_NAMESPACE, to_fastavro, to_schema
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType

FASTAVRO: Final = "fastavro"
APACHE: Final = "avro (Apache)"

_LONGEST: Final = 200


class AvroReading:
    """Messages of one writer's type as read by a consumer with another type. The constructor raises TooDeep."""

    def __init__(self, writer: AvroType, reader: AvroType) -> None:
        self._types = (writer, reader)
        self._schemas = [to_schema(type_, logical=False) for type_ in self._types]
        self._writer, self._reader = (fastavro.parse_schema(schema) for schema in self._schemas)

    def refusal(self, datum: Any) -> str | None:
        """Return why fastavro does not read what was written, or None if it does."""
        try:
            self._resolved(datum)
        except Exception as error:  # noqa: BLE001  fastavro raises a dozen kinds
            return _describe_error(error)
        return None

    def refusal_of_apache(self, datum: Any) -> str | None:
        """Return why Apache's library does not read it, or None, also if the library is not installed."""
        try:
            import avro.io
            import avro.schema
        except ImportError:
            return None
        message = io.BytesIO(self._written(datum))
        try:
            parsed = [avro.schema.parse(json.dumps(schema)) for schema in self._schemas]
            avro.io.DatumReader(*parsed).read(avro.io.BinaryDecoder(message))
        except Exception as error:  # noqa: BLE001  it raises a dozen kinds
            return _describe_error(error)
        return None

    def as_written(self, datum: Any) -> Any:
        """Return what the writer means by a datum. Raises what fastavro raises where that is no value."""
        return _read(self._written(datum), _parsed(self._types[0]), None)

    def as_read(self, datum: Any) -> Any:
        """Return what the consumer has of a datum. Raises what fastavro raises where that is no value."""
        return _read(_write(self._reader, self._resolved(datum)), _parsed(self._types[1]), None)

    def _written(self, datum: Any) -> bytes:
        return _write(self._writer, to_fastavro(self._types[0], datum))

    def _resolved(self, datum: Any) -> Any:
        return _read(self._written(datum), self._writer, self._reader)


def shown(value: Any) -> Any:
    """Return what was read as JSON: times, decimals and bytes as readable text."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, UUID):
        return f"UUID {value}"
    if isinstance(value, bytes):
        return f"bytes {value.hex(' ')}" if value else "no bytes"
    if isinstance(value, dict):
        return {name: shown(one) for name, one in value.items()}
    return value


def _parsed(type_: AvroType) -> Any:
    return fastavro.parse_schema(to_schema(type_, logical=True))


def _write(schema: Any, datum: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, datum)
    return out.getvalue()


def _read(message: bytes, writer: Any, reader: Any) -> Any:
    return fastavro.schemaless_reader(io.BytesIO(message), writer, reader)


def _describe_error(error: Exception) -> str:
    text = f"{error}".replace(NO_NAMESPACE, "").partition("\n")[0]
    short = text.partition("{")[0].rstrip(" :")  # whole schemas follow
    return f"{type(error).__name__}: {short[:_LONGEST]}"
