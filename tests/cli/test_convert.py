"""`cdc-contracts convert file`: JSON messages as Avro and back; nothing is lost, and other readers read the same."""

import io
import json
import struct
import sys
from datetime import UTC, datetime
from pathlib import Path

import avro.datafile
import avro.io
import avro.schema
import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.message.avro_records import same_message
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA

CATALOGUE = shipped_catalogue()
CANAL = CATALOGUE.version("dts/canal@2")
OF_JSON = [version for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
OWN = Path(__file__).parents[1] / "registry/lint/contracts"
MOMENT = datetime(2026, 3, 1, 12, 0, 0, 123000, UTC)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def messages():
    return list(sample_messages(CANAL, 30, seed=4, reading_options=ReadingOptions()))


def convert(*arguments, contract="dts/canal@2"):
    return main(["convert", "file", *map(str, arguments), "--contract", contract])


def write_lines(path, values):
    path.write_bytes(b"".join(value + b"\n" for value in values))


def write_capture(path, values, **columns):
    total = len(values)
    given = {
        "value": values,
        "topic": ["t"] * total,
        "partition": [3] * total,
        "offset": list(range(100, 100 + total)),
        "timestamp": [MOMENT] * total,
        "timestampType": [0] * total,
        **columns,
    }
    rows = {field.name: pa.array(given.get(field.name, [None] * total), field.type) for field in CAPTURE_SCHEMA}
    pq.write_table(pa.table(rows, schema=CAPTURE_SCHEMA), path)


def read_lines(path):
    return path.read_bytes().splitlines()


def same(left, right):
    return len(left) == len(right) and all(
        same_message(parse_message(one), parse_message(other)) for one, other in zip(left, right, strict=True)
    )


def schema_of(version):
    return json.loads(version.folder.joinpath("message.avsc").read_text(encoding="utf-8"))


def lock_id(version):
    """The id as the lines of ids.lock say it."""
    lines = CATALOGUE.roots[0].joinpath("ids.lock").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[0]) for line in lines if line.split()[1:3] == [version.reference, "AVRO"])


@pytest.mark.one_in(4, any_subject=True)
@pytest.mark.parametrize("version", OF_JSON, ids=str)
def test_messages_of_every_json_version_come_back_to_the_digit(version, here):
    written = [one.value for one in find_samples(version).messages]
    pq.write_table(pa.table({"value": written}), here / "a.parquet")

    assert convert("a.parquet", "--to", "avro", "-o", "a.avro", contract=version.reference) == 0
    assert convert("a.avro", "--to", "json", "-o", "b.jsonl", contract=version.reference) == 0
    assert same(read_lines(here / "b.jsonl"), written)


def test_apache_and_fastavro_read_the_container_with_its_schema_inside(here, messages):
    write_lines(here / "a.jsonl", messages * 40)  # more than one block
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro") == 0

    with (here / "a.avro").open("rb") as file:
        theirs = list(fastavro.reader(file))
    with avro.datafile.DataFileReader((here / "a.avro").open("rb"), avro.io.DatumReader()) as reader:
        apache = list(reader)
        kept = json.loads(reader.get_meta("avro.schema"))
    assert kept == schema_of(CANAL)
    assert len(theirs) == len(messages) * 40
    assert theirs == apache
    for record, message in zip(theirs, messages, strict=False):
        reported = parse_message(message)
        assert (record["database"], record["table"], record["type"]) == (
            reported["database"],
            reported["table"],
            reported["type"],
        )


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_container_that_fastavro_wrote_is_read(codec, here, messages):
    write_lines(here / "a.jsonl", messages)
    convert("a.jsonl", "--to", "avro", "-o", "a.avro")
    with (here / "a.avro").open("rb") as file:
        records = list(fastavro.reader(file, return_named_type=True))
    with (here / "b.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema_of(CANAL)), records, codec=codec)

    assert convert("b.avro", "--to", "json", "-o", "b.jsonl") == 0
    assert same(read_lines(here / "b.jsonl"), messages)


def test_a_frame_is_a_zero_byte_the_id_of_the_lock_and_the_bare_record(here, messages):
    write_lines(here / "a.jsonl", messages)
    assert convert("a.jsonl", "--to", "avro", "-o", "a.parquet") == 0
    assert convert("a.jsonl", "--to", "avro", "--framing", "bare", "-o", "b.parquet") == 0

    framed = pq.read_table(here / "a.parquet")["value"].to_pylist()
    bare = pq.read_table(here / "b.parquet")["value"].to_pylist()
    assert framed == [struct.pack(">bI", 0, lock_id(CANAL)) + record for record in bare]
    apache = avro.io.DatumReader(avro.schema.parse(json.dumps(schema_of(CANAL))))
    parsed = fastavro.parse_schema(schema_of(CANAL))
    for record in bare:
        read = apache.read(avro.io.BinaryDecoder(io.BytesIO(record)))
        assert fastavro.schemaless_reader(io.BytesIO(record), parsed, None) == read

    assert convert("a.parquet", "--to", "json", "-o", "a2.jsonl") == 0
    assert convert("b.parquet", "--to", "json", "--framing", "bare", "-o", "b2.jsonl") == 0
    assert same(read_lines(here / "a2.jsonl"), messages)
    assert read_lines(here / "b2.jsonl") == read_lines(here / "a2.jsonl")


def test_a_record_with_another_id_is_refused_and_not_read_by_the_wrong_schema(here, messages, capsys):
    write_lines(here / "a.jsonl", messages[:3])
    assert convert("a.jsonl", "--to", "avro", "--schema-id", "70000", "-o", "a.parquet") == 0
    assert convert("a.parquet", "--to", "json", "-o", "b.jsonl") == 1
    reported = capsys.readouterr().err
    assert f"written with schema id 70000, not {lock_id(CANAL)}" in reported
    assert "3 read: 0 converted, 3 refused, 0 tombstones" in reported
    assert convert("a.parquet", "--to", "json", "--schema-id", "70000", "-o", "c.jsonl") == 0
    assert same(read_lines(here / "c.jsonl"), messages[:3])


def test_keys_headers_times_places_and_null_values_of_a_capture_are_kept(here, messages):
    headers = [[("h", b"1"), ("h", None)], None, []]
    write_capture(
        here / "a.parquet", [messages[0], None, messages[1]], key=[b"k", b"gone", None],
        headers=[None if one is None else [{"key": k, "value": v} for k, v in one] for one in headers],
    )  # fmt: skip
    assert convert("a.parquet", "--to", "avro", "-o", "b.parquet") == 0
    assert convert("b.parquet", "--to", "json", "-o", "c.parquet") == 0

    first, avro_form, back = (pq.read_table(here / f"{name}.parquet") for name in "abc")
    assert avro_form.drop_columns("value").equals(first.drop_columns("value"))
    assert back.drop_columns("value").equals(first.drop_columns("value"))
    assert back["value"].to_pylist()[1] is None
    assert same([back["value"].to_pylist()[place] for place in (0, 2)], messages[:2])


def test_what_a_container_does_not_keep_of_a_capture_is_said(here, messages, capsys):
    write_capture(here / "a.parquet", [messages[0], None], key=[b"k", None])
    assert convert("a.parquet", "--to", "avro", "-o", "a.avro") == 0
    reported = capsys.readouterr().err
    assert "2 records have a key, headers or no value: only a .parquet file keeps these" in reported
    assert "2 read: 1 converted, 0 refused, 1 tombstones" in reported


def test_refused_messages_are_reported_with_their_line_and_reason_and_the_others_are_converted(here, messages, capsys):
    twice = messages[0][:-1] + b',"table":"t"}'
    unknown = messages[0][:-1] + b',"brandNew":1}'
    write_lines(here / "a.jsonl", [messages[0], b"{", messages[1], twice, unknown, b""])
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro", "--strict-json", "--quarantine", "q.parquet") == 1

    reported = capsys.readouterr().err.splitlines()
    assert reported == [
        "a.jsonl:2 refused: no JSON message: not one JSON text",
        "a.jsonl:4 refused: no JSON message: a member name twice",
        "a.jsonl:5 refused: /brandNew: the record has no such field",
        "kept in q.parquet",
        "5 read: 2 converted, 3 refused, 0 tombstones",
    ]
    rows = pq.read_table(here / "q.parquet").to_pylist()
    assert [(row["offset"], row["value"]) for row in rows] == [(1, b"{"), (3, twice), (4, unknown)]
    assert rows[0]["reason"] == "no JSON message: not one JSON text"
    assert convert("a.avro", "--to", "json", "-o", "b.jsonl") == 0
    assert same(read_lines(here / "b.jsonl"), messages[:2])


def test_without_a_quarantine_refused_messages_are_reported_and_the_others_converted(here, messages, capsys):
    write_capture(here / "a.parquet", [messages[0], b"\x00"])
    assert convert("a.parquet", "--to", "avro", "-o", "a.avro") == 1
    reported = capsys.readouterr().err.splitlines()
    assert reported[0] == "t/3@101 refused: no JSON message: not one JSON text"
    assert reported[1] == "--quarantine FILE.parquet keeps refused messages"
    assert (here / "a.avro").exists()


def test_nothing_to_convert_is_inconclusive(here):
    (here / "a.jsonl").write_bytes(b"\n\n")
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro") == 4


def test_standard_input_is_converted_to_standard_output_and_back(here, messages, monkeypatch, capfdbinary):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    give(b"\n".join(messages))
    assert convert("-", "--to", "avro") == 0
    container = capfdbinary.readouterr().out
    assert container[:4] == b"Obj\x01"
    give(container)
    assert convert("-", "--to", "json") == 0
    assert same(capfdbinary.readouterr().out.splitlines(), messages)


def test_files_are_converted_without_spark_and_that_may_be_said(here, messages, capsys):
    (here / "a.jsonl").write_bytes(b"\n".join(messages))
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro", "--engine", "local") == 0
    assert convert("a.jsonl", "--to", "avro", "-o", "b.avro", "--engine", "spark") == 2
    assert "files are converted without Spark" in capsys.readouterr().err


def test_one_message_goes_bare_into_a_file_of_its_own_and_back(here, messages, capsys):
    (here / "a.json").write_bytes(messages[0])
    assert convert("a.json", "--to", "avro", "--framing", "bare", "-o", "a.avro") == 0
    assert convert("a.avro", "--to", "json", "--framing", "bare", "-o", "b.json") == 0
    assert same([(here / "b.json").read_bytes()], messages[:1])

    write_lines(here / "a.jsonl", messages[:2])
    assert convert("a.jsonl", "--to", "avro", "--framing", "bare", "-o", "two.avro") == 2
    assert "this file type holds one message, but there are several" in capsys.readouterr().err
    assert not (here / "two.avro").exists()


def test_a_container_that_is_cut_off_is_an_error_and_leaves_no_file(here, messages, capsys):
    write_lines(here / "a.jsonl", messages)
    convert("a.jsonl", "--to", "avro", "-o", "a.avro")
    whole = (here / "a.avro").read_bytes()
    (here / "cut.avro").write_bytes(whole[:-40])
    assert convert("cut.avro", "--to", "json", "-o", "b.jsonl") == 3
    assert "the container cannot be read after 0 records" in capsys.readouterr().err
    assert not (here / "b.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "contract", "says"),
    [
        (["a.jsonl", "--to", "avro"], "dts/avro@1", "dts/avro@1 is Avro already, not a JSON dialect"),
        (["a.jsonl", "--to", "json"], "oms/avro@1", "oms/avro@1 is Avro already"),
        (["a.jsonl", "--to", "json"], "dts/canal@2", "lines hold JSON, not Avro"),
        (["a.avro", "--to", "avro"], "dts/canal@2", "this is already Avro"),
        (
            ["a.avro", "--to", "json", "-o", "x.jsonl"],
            "dts/canal@1",
            "it contains records of cdc_contracts.dts_canal.v2",
        ),
        (["a.jsonl", "--to", "avro", "-o", "x.jsonl"], "dts/canal@2", "`.jsonl` is not a file type for avro"),
        (["a.jsonl", "--to", "avro", "--framing", "container", "-o", "x.parquet"], "dts/canal@2", "a separate file"),
        (["a.jsonl", "--to", "avro", "--schema-id", "7"], "dts/canal@2", "only schema registry framing has an id"),
        (["a.jsonl", "--to", "avro", "-o", "a.jsonl"], "dts/canal@2", "not a file type"),
        (
            ["a.parquet", "--to", "avro", "-o", "a.parquet"],
            "dts/canal@2",
            "already used for something else in this run",
        ),
        (["a.jsonl", "--to", "avro", "-o", "a.avro"], "dts/canal@2", "the file exists already"),
        (["a.jsonl", "--to", "avro", "--quarantine", "q.jsonl"], "dts/canal@2", "a quarantine is a .parquet file"),
    ],
)
def test_what_cannot_be_done_is_reported_before_anything_is_written(arguments, contract, says, here, messages, capsys):
    write_lines(here / "a.jsonl", messages[:2])
    convert("a.jsonl", "--to", "avro", "-o", "a.avro")
    write_capture(here / "a.parquet", messages[:2])
    before = {path: path.read_bytes() for path in here.iterdir()}
    assert convert(*arguments, contract=contract) == 2
    assert says in capsys.readouterr().err
    assert {path: path.read_bytes() for path in here.iterdir()} == before


def test_a_contract_has_to_be_named(here, capsys):
    (here / "a.jsonl").write_bytes(b"{}")
    assert main(["convert", "file", "a.jsonl", "--to", "avro", "-o", "a.avro"]) == 2
    assert "a conversion needs a contract" in capsys.readouterr().err


def read_as_confluent(url, path):
    """The types of the messages, read by Confluent's own deserializer, which asks the registry for the schema."""
    pytest.importorskip("confluent_kafka", reason="Confluent's client comes with the extra 'kafka'")
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    read = AvroDeserializer(SchemaRegistryClient({"url": url}))
    where = SerializationContext("orders", MessageField.VALUE)
    return [read(value, where)["type"] for value in pq.read_table(path)["value"].to_pylist()]


def test_a_registry_is_asked_for_the_id(here, messages, capsys):
    pytest.importorskip("uvicorn", reason="a registry is served only with the extra 'server'")
    import patient
    from registry_servers import serving

    write_lines(here / "a.jsonl", messages)
    with serving(f"sqlite:///{here}/registry.db") as url:
        asked = ("a.jsonl", "--to", "avro", "--registry", url, "-o", "a.parquet")
        assert convert(*asked) == 3
        assert "the registry has no schema of dts/canal@2 in subject dts.canal.avro" in capsys.readouterr().err

        for subject, schema in (("other", '"string"'), ("orders-value", json.dumps(schema_of(CANAL)))):
            answer = patient.post(f"{url}/subjects/{subject}/versions", json={"schema": schema}).json()
        assert convert(*asked, "--subject", "orders-value") == 0
        assert pq.read_table(here / "a.parquet")["value"][0].as_py()[:5] == struct.pack(">bI", 0, answer["id"])
        assert read_as_confluent(url, here / "a.parquet") == [parse_message(one)["type"] for one in messages]
        asked = ("a.parquet", "--to", "json", "--registry", url, "--subject", "orders-value", "-o", "b.jsonl")
        assert convert(*asked) == 0
    assert same(read_lines(here / "b.jsonl"), messages)


def test_of_many_refused_messages_the_first_are_reported_and_the_others_counted(here, capsys):
    write_lines(here / "a.jsonl", [b"{"] * 130)
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro", "--quarantine", "q.parquet") == 1
    reported = capsys.readouterr().err.splitlines()
    assert reported[99:] == [
        "a.jsonl:100 refused: no JSON message: not one JSON text",
        "and 30 more that are refused",
        "kept in q.parquet",
        "130 read: 0 converted, 130 refused, 0 tombstones",
    ]
    assert pq.read_table(here / "q.parquet").num_rows == 130
    with (here / "a.avro").open("rb") as file:
        assert list(fastavro.reader(file)) == []


def test_a_contract_of_ones_own_without_an_id_needs_one_for_a_frame(here, capsys):
    (here / "a.jsonl").write_bytes(b"")
    own = ("--contracts", OWN)
    assert convert("a.jsonl", "--to", "avro", "-o", "a.parquet", *own, contract="acme/plain@1") == 2
    assert "no ids.lock has an id for the schema" in capsys.readouterr().err
    assert convert("a.jsonl", "--to", "avro", "-o", "a.parquet", "--schema-id", "5", *own, contract="acme/plain@1") == 4
    assert convert("a.jsonl", "--to", "avro", "-o", "a.avro", *own, contract="acme/plain@1") == 4
