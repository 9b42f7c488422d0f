"""The native part takes a text exactly where it is UTF-8: every first and second byte, wherever bytes enter."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from avro_records import NAMESPACE, VERSION, WRITTEN
from both_paths import VERSIONS
from scanned_messages import LIBRARY, OwnPlan, scan
from topics import CATALOGUE, WITH_TABLES, rendered, samples
from utf8_sequences import EDGES, is_utf8, of_every_class, sequences

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.native.avro_reading import AvroReader
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.validation_context import open_validation

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

OPTIONS = ReadingOptions(tables=WITH_TABLES.tables)
GOOD, BAD = of_every_class()
FULL = -1


PLACES = {
    "a text": b'{"text":"%s"}',
    "a name with letters of its own": b'{"k\xc3\xa9y":"%s"}',
    "a text in a list": b'{"list":[1,"%s"]}',
    "a name in a list": b'{"list":[{"%s":1}]}',
    "a name of a nested value": b'{"list":{"a":{"%s":null}}}',
    "a text of a nested value": b'{"list":{"a":{"b":["%s"]}}}',
    "a text in a nested object": b'{"nested":{"text":"%s"}}',
    "a column of a list of rows": b'{"rows":[{"c":1},{"c":"%s"}]}',
    "a column of a row": b'{"row":{"c":"%s"}}',
}


@pytest.mark.parametrize("place", PLACES)
def test_a_text_is_taken_exactly_where_it_is_utf8(place):
    """Every first and second byte, at every distance from a word of eight bytes."""
    found = sequences()
    messages = [
        PLACES[place].replace(b"%s", b"a" * (at % 9) + one + b"b" * (at // 9 % 9)) for at, one in enumerate(found)
    ]
    result = scan(OwnPlan(), messages)
    assert result.taken == [at for at, one in enumerate(found) if is_utf8(one)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("before", range(9))
def test_a_text_that_ends_within_a_letter_is_not_taken(place, before):
    start, end = PLACES[place].split(b"%s")
    cut = [good[:size] for good in GOOD for size in range(1, len(good))]
    messages = [start + b"a" * before + one + end for one in cut] + [start + b"a" * before + one for one in cut + GOOD]
    assert scan(OwnPlan(), messages).taken == []


@pytest.mark.parametrize("place", PLACES)
def test_control_characters_are_taken_nowhere_and_half_characters_neither(place):
    bad = [bytes([byte]) for byte in range(0x20)] + [b"\\ud800", b"\\udbff", b"\\udc00", b"\\udfff", b"\\ud800\\ud800",
           b"\\ud800x", b"\\ud800\\u0041", b"\\ud83d\\ue000", b"\\u12", b"\\u12g4", b"\\x", b"\\", b"\\ud83d\\"]  # fmt: skip
    good = [
        b"\x7f",
        b"\\ud800\\udc00",
        b"\\udbff\\udfff",
        b"\\ud7ff",
        b"\\ue000",
        b"\\u00Ff",
        b"\\/",
        b"\\b\\f\\n\\r\\t",
    ]
    texts = [b"a" * before + one for before in range(9) for one in (*good, *bad)]
    taken = scan(OwnPlan(), [PLACES[place].replace(b"%s", one) for one in texts]).taken
    assert taken == [at for at in range(len(texts)) if at % (len(good) + len(bad)) < len(good)]


STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", [one for one in VERSIONS if one.meaning.transport == "json"], ids=str)
def test_no_version_takes_bytes_that_are_no_utf8_in_any_text_or_name(version, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")
    validator = FastValidator(open_validation(CATALOGUE, version.subject, OPTIONS))
    good = [value for value in samples(version) if value]
    good += rendered(version.reference, 40, seed=7, controls=5, reading_options=OPTIONS)
    validator._sorter.sort(MessageValues(pa.array(good, pa.binary())))  # the shapes are learnt
    scanner = validator._sorter._scanner
    recent, spoilt, kept = list(scanner._recent), [], {}
    for value in good:
        kept.setdefault(len(STRING.findall(value)), value)
    for value in part(kept.values(), 4):
        for at, text in enumerate(STRING.finditer(value)):
            for number, sequence in enumerate(BAD):
                inner = text.start() + 1 + (at + number) % max(len(text[0]) - 1, 1)
                spoilt.append(value[:inner] + sequence + value[inner:])
    assert len(spoilt) > 50
    assert taken_of(scanner, spoilt) == []
    scanner._recent[:] = recent
    assert taken_of(scanner, list(kept.values())) != []


def taken_of(scanner, values):
    found, left = scanner.scan(MessageValues(pa.array(values, pa.binary())), np.arange(len(values)))
    taken = [values[number] for batch in found for number in batch.numbers.tolist()]
    assert len(taken) + len(left) == len(values)
    return taken


def record_with(at: str, text: str) -> bytes:
    """Return an Avro record with a text at some place."""
    named = (NAMESPACE + "Integer", {"precision": 1, "value": "1"})
    moment = dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "millis"), 9)
    values = {
        "a value": ("TextObject", {"type": "JSON", "value": text}),
        "what is passed over": ("TextObject", {"type": text, "value": "{}"}),
        "the type of bytes": ("BinaryObject", {"type": text, "value": b"x"}),
        "an integer": ("Integer", {"precision": 1, "value": text}),
        "a decimal": ("Decimal", {"precision": 1, "scale": 0, "value": text}),
        "a zone": ("TimestampWithTimeZone", {"value": moment, "timezone": text}),
        "characters": ("Character", {"charset": "utf8mb4", "value": text.encode()}),
    }
    if at in values:
        return WRITTEN.record([values[at]])
    column = text if at == "the name of a column" else "c"
    more = {
        "a member": {"objectName": text},
        "a name in a map": {"tags": {text: "x"}},
        "a value in a map": {"tags": {"x": text}},
        "an image of text": {"beforeImages": text},
    }.get(at, {})
    return WRITTEN.record([], [{"name": column, "dataTypeNumber": 3}], **{"afterImages": [named]} | more)


AVRO_PLACES = (
    "a value", "what is passed over", "the type of bytes", "an integer", "a decimal", "a zone", "characters",
    "the name of a column", "a member", "a name in a map", "a value in a map", "an image of text",
)  # fmt: skip


@pytest.mark.parametrize("place", AVRO_PLACES)
def test_a_text_of_an_avro_record_is_read_exactly_where_it_is_utf8(place):
    wire = open_transport(VERSION, ReadingOptions())

    def refuse(_: bytes) -> bytes:
        raise Unreadable("no record", "")

    wire.text_of = refuse
    found = [b"a" * (at % 9) + one for at, one in enumerate(sequences(EDGES))]
    templates = {size: record_with(place, "~" * size) for size in {len(one) for one in found}}
    records = [templates[len(one)].replace(b"~" * len(one), one) for one in found]
    texts = AvroReader(wire).read(pa.array(records, pa.binary())).array.to_pylist()
    assert [bool(text) for text in texts] == [is_utf8(one) for one in found]
