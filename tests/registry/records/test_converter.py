"""Single values into Avro and back: the same to the digit, or refused."""

import pytest
from both_paths import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.avro_records import same_message
from cdc_contracts.registry.core.records.conversion.conversion_forms import Framing, MessageForm
from cdc_contracts.registry.core.records.conversion.converter import Conversion, ConversionRefused, write_message
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema

OF_JSON = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
CANAL = avro_message_schema(CATALOGUE.version("dts/canal@2"))


def both_ways(schema, framing=Framing.BARE, schema_id=None):
    return (Conversion(schema, form, framing, schema_id).open() for form in (MessageForm.AVRO, MessageForm.JSON))


@pytest.mark.parametrize("version", OF_JSON, ids=str)
def test_samples_that_drift_come_back_to_the_digit_too_or_are_refused(version):
    to_avro, to_json = both_ways(avro_message_schema(version))
    carried = 0
    for sample in find_samples(version).drifts:
        try:
            record = to_avro(sample.value)
        except ConversionRefused:
            continue
        carried += 1
        assert same_message(parse_message(to_json(record)), parse_message(sample.value)), sample.name
    assert carried


@pytest.mark.parametrize(
    "text",
    [
        '{"a":-0,"b":1.0,"c":1E400,"d":[null,true,false,{}],"e":"\\u2028\\"\\\\\\n\\u0000é😀","":123456789012345678901234567890.10}',
        "{}",
    ],
)
def test_a_message_is_written_as_one_line_that_says_the_same(text):
    written = write_message(parse_message(text.encode()))
    assert b"\n" not in written
    assert same_message(parse_message(written), parse_message(text.encode()))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "no frame"),
        (b"\x00\x00\x00\x01", "no frame"),
        (b"\x01\x00\x00\x00\x07", "no frame"),
        (b"\x00\x00\x00\x00\x08{", "written with schema id 8, not 7"),
        (b"\x00\x00\x00\x00\x07", "not a record of the schema"),
    ],
)
def test_what_is_no_framed_record_of_the_schema_is_refused(value, reason):
    _, to_json = both_ways(CANAL, Framing.CONFLUENT, 7)
    with pytest.raises(ConversionRefused, match=reason):
        to_json(value)


def test_a_frame_without_an_id_is_refused_before_any_value():
    with pytest.raises(UsageError, match="no ids"):
        Conversion(CANAL, MessageForm.JSON, Framing.CONFLUENT).check()
    Conversion(CANAL, MessageForm.JSON).check()  # containers need none


def test_bytes_cut_off_or_left_over_are_refused():
    to_avro, to_json = both_ways(CANAL)
    sample = find_samples(CATALOGUE.version("dts/canal@2")).messages[0].value
    record = to_avro(sample)
    for broken in (record[:-1], record + b"\x00"):
        with pytest.raises(ConversionRefused):
            to_json(broken)
