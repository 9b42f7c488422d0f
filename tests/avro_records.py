"""Avro records for tests: the samples, rendered ones, records with any values, and changed bytes of records."""

from __future__ import annotations

import io
import random

import fastavro
from changed_bytes import changed_bytes
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.transport import open_transport

VERSIONS = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "avro"]
VERSION = VERSIONS[0]
NAMESPACE = "com.alibaba.dts.formats.avro."
FRAME = b"\x00\x00\x00\x00\x07"
PARTS = (
    b"\x00", b"\x01", b"\x02", b"\x7f", b"\x80", b"\x80\x00", b"\xff" * 9 + b"\x01", b"\xff" * 9 + b"\x02", b"\xff" * 10,
    b"\xff" * 12, b"\xfe\xff\xff\xff\x0f", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b'"', b"\\",
    b"\n", b"\x1f", FRAME, b"\x06abc", b"\x02\x02\x02", bytes(40),
)  # fmt: skip


class Written:
    """Records of the newest schema, with the values of one image given by test."""

    def __init__(self):
        self.wire = open_transport(VERSION, ReadingOptions())
        self.schema = list(self.wire.schemas.values())[-1]

    def record(self, values, columns=None, **more):
        fields = [{"name": f"c{place}", "dataTypeNumber": 8} for place in range(len(values))]
        message = {
            "version": 1, "id": 7, "sourceTimestamp": 1718000000, "sourcePosition": "", "safeSourcePosition": "",
            "sourceTxid": "", "source": {"sourceType": "MySQL", "version": ""}, "operation": "INSERT",
            "objectName": "shop.orders", "processTimestamps": None, "tags": {}, "beforeImages": None,
            "fields": fields if columns is None else columns, "bornTimestamp": 0,
            "afterImages": [(NAMESPACE + one[0], one[1]) if isinstance(one, tuple) else one for one in values],
        } | more  # fmt: skip
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self.schema, message)
        return out.getvalue()


WRITTEN = Written()


def good_records() -> list[bytes]:
    own = [value for value in samples(VERSION) if value]
    options = ReadingOptions(tables=WITH_TABLES.tables, table="shop.orders")
    return own + rendered(VERSION.reference, 60, seed=7, controls=5, reading_options=options)


def changed_record(draw: random.Random, value: bytes, other: bytes) -> bytes:
    if draw.randrange(7) == 0:
        return FRAME + value
    return changed_bytes(draw, value, other, PARTS)
