"""Records framed for a schema registry: a message of Debezium, its schema, and the bytes of both."""

import io
import json

import fastavro
import patient

SOURCE = {"type": "record", "name": "Source", "fields": [
    {"name": name, "type": "string"} for name in ("version", "connector", "name", "db", "schema", "table")
]}  # fmt: skip
ROW = {"type": "record", "name": "Value", "fields": [
    {"name": "id", "type": "int"},
    {"name": "rate", "type": ["null", "float"], "default": None},
    {"name": "price", "type": {
        "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2,
        "connect.name": "org.apache.kafka.connect.data.Decimal", "connect.parameters": {"scale": "2"},
    }},
]}  # fmt: skip
ENVELOPE = {"type": "record", "name": "Envelope", "namespace": "shop.orders", "fields": [
    {"name": "before", "type": ["null", ROW], "default": None},
    {"name": "after", "type": ["null", "Value"], "default": None},
    {"name": "source", "type": SOURCE},
    {"name": "op", "type": "string"},
    {"name": "ts_ms", "type": ["null", "long"], "default": None},
]}  # fmt: skip
MESSAGE = {
    "before": None, "after": {"id": 7, "rate": 0.1, "price": b"\x30\x39"}, "op": "c", "ts_ms": 1_760_000_000_000,
    "source": {"version": "3.5.0.Final", "connector": "postgresql", "name": "shop", "db": "shop", "schema": "public",
               "table": "orders"},
}  # fmt: skip
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}


def body_of(schema, message):
    """The bytes of a record; decimals are given as the bytes they are written as."""
    plain = json.loads(json.dumps(schema).replace('"logicalType": "decimal"', '"was": "decimal"'))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), message)
    return out.getvalue()


def frame(number, body):
    return b"\0" + number.to_bytes(4, "big") + body


def register(registry, schema, kind="AVRO", subject=None, references=()):
    text = schema if isinstance(schema, str) else json.dumps(schema)
    subject = subject or f"s{abs(hash(text))}-value"
    answer = patient.post(
        f"{registry}/subjects/{subject}/versions",
        json={"schema": text, "schemaType": kind, "references": list(references)},
    )
    assert answer.is_success, answer.text
    return answer.json()["id"]
