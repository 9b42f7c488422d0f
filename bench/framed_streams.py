"""Streams of records framed for a schema registry: changes by a schema that Debezium registered, and rows of TiCDC."""

from __future__ import annotations

import io
import json
import lzma
import random
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import fastavro

from cdc_contracts.registry.core.writer_schemas.writer_schemas import AVRO, NoSchema, SchemaText, WriterSchemas

CAPTURED: Final = Path(__file__).parent.parent.joinpath(
    "tests/producers/captures/debezium/3.5.0/postgresql/defaults-avro.schemas.tar.xz"
)
_OF: Final = "subjects/cdc-defaults-avro.public.orders-value/v1.avsc"
Stream = tuple[WriterSchemas, list[bytes], list[bytes] | None]
"""Schemas, values, and keys where rows need them."""
_NAMED: Final = {"Date": "int", "MicroTime": "long", "MicroTimestamp": "long", "ZonedTimestamp": "string"}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_TIDB: Final[Mapping[str, tuple[Any, ...]]] = MappingProxyType({
    "id": ("long", "BIGINT"), "customer": ("string", "TEXT"),
    "total": ("bytes", "DECIMAL", {"logicalType": "decimal", "precision": 20, "scale": 2}),
    "rate": ("double", "DOUBLE"),
    "quantity": ("int", "INT"), "flags": ("bytes", "BIT", {"connect.parameters": {"tidb_type": "BIT", "length": "8"}}),
    "note": ("string", "TEXT"), "day": ("string", "DATE"), "at": ("string", "TIME"), "made": ("string", "DATETIME"),
    "seen": ("string", "TIMESTAMP"), "photo": ("bytes", "BLOB"),
})  # fmt: skip
_BESIDE: Final = MappingProxyType({
    "_tidb_op": ("string", ""), "_tidb_commit_ts": ("long", 0), "_tidb_commit_physical_time": ("long", 0),
})  # fmt: skip


@dataclass(frozen=True)
class HeldSchemas:
    """Schemas by id that need no registry."""

    schemas: Mapping[int, str]
    named: str = "bench"

    def find(self, number: int) -> SchemaText:
        """Return a schema. Raises NoSchema."""
        if number not in self.schemas:
            raise NoSchema("no such schema")
        return SchemaText(AVRO, self.schemas[number])


def change_stream(total: int, *, updates: bool = False) -> Stream:
    """Return inserts, updates and deletes over twelve columns; the members around the row are those of a capture."""
    schema = _schema()
    values = list(_framed(1, schema, _messages(total, updates=updates)))
    return WriterSchemas(HeldSchemas({1: json.dumps(schema)})), values, None


def row_stream(total: int, *, updates: bool = False) -> Stream:
    """Return rows of twelve columns with the members of TiDB beside them, and their keys."""
    fields = [_tidb_field(name, *kind) for name, kind in _TIDB.items()]
    beside = [{"name": name, "type": kind, "default": empty} for name, (kind, empty) in _BESIDE.items()]
    row = {"type": "record", "name": "orders", "namespace": "default.shop", "fields": [*fields, *beside]}
    key = {**row, "fields": fields[:1]}
    draw, rows = random.Random(5), []  # noqa: S311
    for number in range(total):
        op = "u" if updates else draw.choice("cu")
        extra = {"_tidb_op": op, "_tidb_commit_ts": (1_718_000_000_000 + number) << 18,
                 "_tidb_commit_physical_time": 1_718_000_000_000 + number}  # fmt: skip
        rows.append({**_tidb_row(draw), **extra})
    schemas = {1: json.dumps(row), 2: json.dumps(key)}
    return WriterSchemas(HeldSchemas(schemas)), list(_framed(1, row, rows)), list(_framed(2, key, rows))


def _framed(number: int, schema: Any, messages: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield messages as records behind an id; decimals are given as the bytes they are written as."""
    write = fastavro.parse_schema(json.loads(json.dumps(schema).replace('"logicalType"', '"was"')))
    for message in messages:
        out = io.BytesIO(b"\0" + number.to_bytes(4, "big"))
        out.seek(0, io.SEEK_END)
        fastavro.schemaless_writer(out, write, message)
        yield out.getvalue()


def _tidb_field(name: str, avro: str, tidb: str, more: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
    type_ = {"type": avro, "connect.parameters": {"tidb_type": tidb}, **more}
    return {"name": name, "type": type_} if name == "id" else {"name": name, "type": ["null", type_], "default": None}


def _tidb_row(draw: random.Random) -> dict[str, Any]:
    at = f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"
    made = f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    return {
        "id": draw.randrange(100_000), "customer": draw.choice(("line\nbreak third floor", "Ada", "王小明", "O'Neil")),
        "total": draw.randrange(10**9).to_bytes(5, "big"), "rate": draw.randrange(10**6) / 8,
        "quantity": draw.randrange(1000), "flags": bytes([draw.randrange(256)]),
        "note": draw.choice(("spare", "first", None)), "day": made, "at": at, "made": f"{made} {at}",
        "seen": f"{made} {at}", "photo": draw.randbytes(16),
    }  # fmt: skip


def _schema() -> Any:
    """Return the captured schema of a table, with a row of columns of many types."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(CAPTURED.read_bytes()))) as archive:
        schema = json.load(archive.extractfile(_OF))  # type: ignore[arg-type]
    decimal = {
        "type": "bytes", "scale": 2, "precision": 20, "connect.version": 1, "logicalType": "decimal",
        "connect.parameters": {"scale": "2", "connect.decimal.precision": "20"},
        "connect.name": "org.apache.kafka.connect.data.Decimal",
    }  # fmt: skip
    bits = {
        "type": "bytes", "connect.version": 1, "connect.parameters": {"length": "8"},
        "connect.name": "io.debezium.data.Bits",
    }  # fmt: skip
    temporal = {
        name: {"type": kind, "connect.version": 1, "connect.name": f"io.debezium.time.{name}"}
        for name, kind in _NAMED.items()
    }
    types = {
        "id": "long", "customer": "string", "total": decimal, "rate": "double", "quantity": "int", "flags": bits,
        "note": "string", "day": temporal["Date"], "at": temporal["MicroTime"], "made": temporal["MicroTimestamp"],
        "seen": temporal["ZonedTimestamp"], "photo": "bytes",
    }  # fmt: skip
    row = schema["fields"][0]["type"][1]
    row["fields"] = [
        {"name": name, "type": deepcopy(kind) if name == "id" else ["null", deepcopy(kind)]}
        for name, kind in types.items()
    ]
    return schema


def _messages(total: int, *, updates: bool) -> Iterator[dict[str, Any]]:
    draw = random.Random(5)  # noqa: S311
    for number in range(total):
        op = "u" if updates else draw.choices("cud", (3, 5, 2))[0]
        before, after = _row(draw), _row(draw)
        after["id"] = before["id"]
        made = 1_718_000_000_000 + number
        yield {
            "before": None if op == "c" else before, "after": None if op == "d" else after,
            "source": {
                "version": "3.5.0.Final", "connector": "postgresql", "name": "shop", "ts_ms": made, "snapshot": "false",
                "db": "shop", "sequence": '["24023128","24023128"]', "ts_us": made * 1000, "ts_ns": made * 1_000_000,
                "schema": "public", "table": "orders", "txId": 500 + number, "lsn": 24_023_128 + number, "xmin": None,
                "origin": None, "origin_lsn": None,
            },
            "transaction": None, "op": op, "ts_ms": made + 250, "ts_us": made * 1000 + 250,
            "ts_ns": made * 1_000_000 + 250,
        }  # fmt: skip


def _row(draw: random.Random) -> dict[str, Any]:
    total = draw.randrange(10**9)
    return {
        "id": draw.randrange(100_000), "customer": draw.choice(("line\nbreak third floor", "Ada", "王小明", "O'Neil")),
        "total": total.to_bytes(5, "big"), "rate": draw.randrange(10**6) / 8, "quantity": draw.randrange(1000),
        "flags": bytes([draw.randrange(256)]), "note": draw.choice(("spare", "first", None)),
        "day": draw.randrange(20_000), "at": draw.randrange(86_400_000_000),
        "made": draw.randrange(1_718_000_000_000_000),
        "seen": f"2021-08-16T00:{draw.randrange(60):02}:18.057178Z", "photo": draw.randbytes(16),
    }  # fmt: skip
