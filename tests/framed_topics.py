"""Topics of tables whose records are framed for a schema registry, as a Debezium connector with an Avro converter writes."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import fastavro
import pyarrow as pa
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.authoring.compat.reader_comparison import compare_readers
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import NoSchema, SchemaText, WriterSchemas

CONTRACT = "debezium/json-schema@4"
SOURCE = ("version", "connector", "name", "db", "schema", "table")
START = 1_760_000_000_000_000
"""The time of offset 0 in microseconds; each offset is a second later."""


class HeldSchemas:
    """Schemas by id, kept in memory: Avro as its document, others as texts."""

    named = "memory"

    def __init__(self, schemas: Mapping[int, Any]) -> None:
        self.texts = {
            number: schema if isinstance(schema, SchemaText) else SchemaText("AVRO", json.dumps(schema))
            for number, schema in schemas.items()
        }

    def find(self, number: int) -> SchemaText:
        if number not in self.texts:
            raise NoSchema("no such schema")
        return self.texts[number]


def envelope_of(*columns: Mapping[str, Any], table: str = "orders") -> dict[str, Any]:
    """The schema of the changes of a table with some columns."""
    row = {"type": "record", "name": "Value", "fields": list(columns)}
    source = {"type": "record", "name": "Source", "fields": [{"name": one, "type": "string"} for one in SOURCE]}
    return {"type": "record", "name": "Envelope", "namespace": f"shop.{table}", "fields": [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": source},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ]}  # fmt: skip


def json_envelope_of(**columns: str) -> SchemaText:
    """The JSON Schema of the changes of a table, its columns by the types that Kafka Connect calls them."""
    kinds = {"int32": "integer", "string": "string"}
    row = {"type": "object", "title": "Value", "properties": {
        name: {"type": kinds[kind], "connect.type": kind, "connect.index": place}
        for place, (name, kind) in enumerate(columns.items())
    }}  # fmt: skip
    properties = {
        "before": {"oneOf": [{"type": "null"}, row], "connect.index": 0},
        "after": {"oneOf": [{"type": "null"}, row], "connect.index": 1},
        "source": {"type": "object", "title": "Source", "connect.index": 2,
                   "properties": {one: {"type": "string", "connect.index": at} for at, one in enumerate(SOURCE)}},
        "op": {"type": "string", "connect.index": 3},
        "ts_ms": {"type": "integer", "connect.type": "int64", "connect.index": 4},
    }  # fmt: skip
    return SchemaText("JSON", json.dumps({"type": "object", "title": "Envelope", "properties": properties}))


def body_of(schema: Any, message: Any) -> bytes:
    """The bytes of a record; decimals are given as the bytes they are written as."""
    plain = json.loads(json.dumps(schema).replace('"logicalType": "decimal"', '"was": "decimal"'))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), message)
    return out.getvalue()


def frame(number: int, body: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + body


def change(number: int, schema: Any, row: Mapping[str, Any], table: str = "orders") -> bytes:
    """The framed insert of a row, as Avro, or as JSON where the schema is a JSON Schema."""
    source = dict.fromkeys(SOURCE, "shop") | {"connector": "postgresql", "version": "3.5.0.Final", "schema": "public"}
    message = {"before": None, "after": row, "source": source | {"table": table}, "op": "c", "ts_ms": 1_760_000_000_000}
    body = json.dumps(message).encode() if isinstance(schema, SchemaText) else body_of(schema, message)
    return frame(number, body)


def scope_of(schemas: Mapping[int, Any], contract: str = CONTRACT, **options: Any) -> ValidationContext:
    """The validation of framed records by schemas kept in memory, compared as those of a registry are."""
    held = WriterSchemas(HeldSchemas(schemas), comparison=compare_readers)
    return open_validation(CATALOGUE, contract, ReadingOptions(schemas=held, **options))


def topic_of(
    records: Sequence[tuple[int, int, bytes | None]],
    keys: Sequence[bytes | None] = (),
    topic: str = "shop.public.orders",
) -> pa.RecordBatch:
    """Records given by partition, offset and value, with the times of their offsets."""
    found = batch_of(records, topic=topic, time=lambda offset: START + offset * 1_000_000)
    return found.append_column("key", pa.array(keys, pa.binary())) if keys else found
