"""Streams of records framed for a schema registry: messages of Debezium, by a schema that it registered."""

from __future__ import annotations

import io
import json
import lzma
import random
import tarfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import fastavro

from cdc_contracts.registry.core.writer_schemas.writer_schemas import AVRO, NoSchema, SchemaText, WriterSchemas

CAPTURED: Final = Path(__file__).parent.parent.joinpath(
    "tests/producers/captures/debezium/3.5.0/postgresql/defaults-avro.schemas.tar.xz"
)
_OF: Final = "subjects/cdc-defaults-avro.public.orders-value/v1.avsc"
_NAMED: Final = {"Date": "int", "MicroTime": "long", "MicroTimestamp": "long", "ZonedTimestamp": "string"}


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


def framed_stream(total: int, *, ids: int = 1, updates: bool = False) -> tuple[WriterSchemas, list[bytes]]:
    """Return inserts, updates and deletes over twelve columns, and their schemas: of several ids in turn.

    The members around the row are those of a captured schema.
    """
    schema = _schema()
    write = fastavro.parse_schema(json.loads(json.dumps(schema).replace('"logicalType"', '"was"')))
    values = []
    for number, message in enumerate(_messages(total, updates=updates)):
        out = io.BytesIO(b"\0" + (1 + number % ids).to_bytes(4, "big"))
        out.seek(0, io.SEEK_END)
        fastavro.schemaless_writer(out, write, message)
        values.append(out.getvalue())
    return WriterSchemas(HeldSchemas(dict.fromkeys(range(1, ids + 1), json.dumps(schema)))), values


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
