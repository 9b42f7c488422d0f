"""Decoding by either engine: every row of the source is there once, digit for digit, or nothing is."""

import gzip
import hashlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import CATALOGUE, WITH_TABLES, rendered, scope_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UndetectedError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.validation_context import Undetected
from cdc_contracts.spark_checks import detecting
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.run_directory import name_run


def write_lines(path, lines):
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def decode_lines(engine, path, out, reference, *, window=("earliest", "latest"), **options):
    source = read_files([path], parse_range(*window), tasks=2)
    return decode_input(engine, source, scope_of(reference), Output(str(out), **options), fail_on="error")


def read_table(out, table):
    """What a reader sees who trusts the records of finished runs alone."""
    records = [json.loads(path.read_text()) for path in sorted((out / "_runs").glob("*.json"))]
    paths = [out / part["path"] for record in records for part in record["files"] if part["table"] == table]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(rows, key=lambda row: (row["partition"], row.get("offset", 0), row.get("row_index", 0)))


def source_rows(seed, count, **options):
    return [
        event for event in row_stream(seed, count, **options) if event.op in ("insert", "update", "delete", "snapshot")
    ]


def carried(image, reference):
    """Canonical values with what the dialect cannot carry taken off, by hand for the two forms it concerns."""
    if image is None:
        return None
    if reference == "oms-community/canal@1":
        # A TIMESTAMP of whole seconds; every other value as it is.
        return {
            name: text.partition(".")[0] + "Z" if name == "seen" and text and "." in text else text
            for name, text in image.items()
        }
    if reference.startswith("dts/"):
        # Bytes and BIT are kept as the text that was sent; a TIMESTAMP has no zone.
        return {name: text for name, text in image.items() if name not in ("photo", "flags", "seen")}
    return image


@pytest.mark.parametrize("reference", ["oms-community/canal@1", "dts/canal@1"])  # the latest are in test_every_subject
def test_every_row_of_a_topic_of_an_older_version_comes_out_as_it_went_in(
    engine, broker, make_topic, tmp_path, reference
):
    fractions = reference != "oms-community/canal@1"
    topic = make_topic([(0, value) for value in rendered(reference, 1_500, fractions=fractions)])
    source = read_topics(engine, broker.bootstrap, [topic], parse_range(), {})
    decoded = decode_input(engine, source, scope_of(reference), Output(str(tmp_path)), fail_on="error")
    assert decoded.withheld is None
    rows, events = read_table(tmp_path, "changes"), source_rows(1, 1_500, fractions=fractions)
    assert len(rows) == len(events)
    for offset, (row, event) in enumerate(zip(rows, events, strict=True)):
        assert (row["offset"], row["op"], row["table"], row["contract"]) == (offset, event.op, "orders", reference)
        assert row["event_time"].timestamp() * 1_000_000 == event.event_time
        for side in ("before", "after"):
            image, wanted = row[side], carried(getattr(event, side), reference)
            assert (image is None) == (wanted is None)
            assert image is None or {name: text for name, text in image if name in wanted} == wanted
        assert row["primary_key"] == ["id"]
        assert row["kafka_timestamp"] is not None


def test_rows_counted_are_rows_written_and_the_record_names_every_file(engine, tmp_path):
    lines = [*rendered("oms-community/canal@2", 500, controls=50), b"broken", b"[]"]
    out = tmp_path / "out"
    decoded = decode_lines(engine, write_lines(tmp_path / "a.jsonl", lines), out, "oms-community/canal@2")
    record = json.loads((out / "_runs" / f"{decoded.run}.json").read_text())
    ledger = decoded.report.ledger
    assert {part["table"]: 0 for part in record["files"]}.keys() == {"changes", "control", "quarantine", "ledger"}
    for table, count in (("changes", ledger.changes), ("control", ledger.control), ("quarantine", 2)):
        assert (
            sum(part["rows"] for part in record["files"] if part["table"] == table)
            == count
            == len(read_table(out, table))
        )
    on_disk = {str(path.relative_to(out)) for path in out.rglob("*.parquet")}
    typed = [part for one in record["tables"] for part in one["files"]]
    assert on_disk == {part["path"] for part in [*record["files"], *typed]}
    assert sum(part["rows"] for part in typed) == ledger.changes
    assert [row["value"] for row in read_table(out, "quarantine")] == [b"broken", b"[]"]
    assert [row["findings"][0]["rule"] for row in read_table(out, "quarantine")] == ["D01.json", "D01.not-object"]
    (counted,) = read_table(out, "ledger")
    assert counted["read"] == len(lines) == counted["end"]
    assert decoded.report.verdict == "drift"


def test_the_run_is_named_by_range_and_contract(tmp_path):
    lines = rendered("dts/canal@2", 20)
    path = write_lines(tmp_path / "a.jsonl", lines)
    source = read_files([path], parse_range(), tasks=1)
    validation = scope_of("dts/canal@2")
    mine, spans = validation.fingerprint, source.spans
    digest = hashlib.sha256(b"a.jsonl\n0\n0\n20\n" + mine.encode()).hexdigest()[:16]
    assert name_run(spans, mine, {}) == digest
    assert name_run(spans, scope_of("dts/canal@1").fingerprint, {}) != digest
    made_anew = [name_run(spans, mine, {"a.jsonl": identity}) for identity in ("x", "y")]
    assert len({digest, *made_anew}) == 3
    assert Source("a.jsonl", 0) in source.spans


def test_the_same_run_again_changes_no_file_and_reports_the_same(engine, tmp_path):
    path, out = write_lines(tmp_path / "a.jsonl", [*rendered("dts/canal@2", 40), b"broken"]), tmp_path / "out"
    first = decode_lines(engine, path, out, "dts/canal@2")
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()}
    second = decode_lines(engine, path, out, "dts/canal@2")
    assert (first.again, second.again) == (False, True)
    assert (first.run, first.report) == (second.run, second.report)
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*") if file.is_file()} == before
    forced = decode_lines(engine, path, out, "dts/canal@2", replace=True)
    assert (forced.again, forced.report) == (False, first.report)
    assert len(read_table(out, "changes")) == len(list((out / "changes").rglob("*.parquet"))) * 40 == 40


def test_the_same_run_again_is_judged_by_what_fails_a_run_now(engine, tmp_path):
    source = read_files([write_lines(tmp_path / "a.jsonl", [*rendered("dts/canal@2", 40), b"broken"])], parse_range(),
                        tasks=1)  # fmt: skip
    verdicts = [
        decode_input(engine, source, scope_of("dts/canal@2"), Output(str(tmp_path / "out")), fail_on=fail_on).report
        for fail_on in ("error", "missing-field")
    ]
    assert [report.verdict for report in verdicts] == ["drift", "pass"]
    assert [report.fail_on for report in verdicts] == [("error",), ("missing-field",)]


def test_a_range_that_another_run_has_read_is_refused_without_the_option_that_replaces_it(engine, tmp_path):
    path, out = write_lines(tmp_path / "a.jsonl", rendered("dts/canal@2", 40)), tmp_path / "out"
    decode_lines(engine, path, out, "dts/canal@2", window=("earliest", "offset:10"))
    with pytest.raises(UnavailableError, match="has decoded some of these records") as refused:
        decode_lines(engine, path, out, "dts/canal@2")
    assert refused.value.hint.startswith(
        """Decode what follows: a.jsonl --from '{"0": 10}' --until '{"0": 40}'. Or choose """
    )
    decode_lines(engine, path, out, "dts/canal@2", window=("offset:10", "latest"))
    with pytest.raises(UnavailableError, match="has decoded some of these records") as refused:
        decode_lines(engine, path, out, "dts/canal@2", window=("offset:5", "offset:15"))
    assert refused.value.hint.startswith("Choose another range")
    assert [row["offset"] for row in read_table(out, "changes")] == list(range(40))
    decode_lines(engine, path, out, "dts/canal@2", replace=True)
    assert [row["offset"] for row in read_table(out, "changes")] == list(range(40))
    assert len(list((out / "_runs").glob("*.json"))) == 1


def test_files_that_were_decoded_are_known_among_more_files_and_alone(engine, tmp_path):
    files, out = tmp_path / "files", tmp_path / "out"
    files.mkdir()
    for number, name in enumerate(("b", "c", "a")):
        write_lines(files / f"{name}.jsonl", rendered("dts/canal@2", 10, seed=number))
    (files / "a.jsonl").rename(tmp_path / "a.jsonl")
    decode_lines(engine, files, out, "dts/canal@2")
    (tmp_path / "a.jsonl").rename(files / "a.jsonl")
    for more in (files, files / "b.jsonl", files / "c.jsonl"):
        with pytest.raises(UnavailableError, match="has decoded some of these records"):
            decode_lines(engine, more, out, "dts/canal@2")
    decode_lines(engine, files / "a.jsonl", out, "dts/canal@2")
    decode_lines(engine, files, tmp_path / "at once", "dts/canal@2")
    rows, at_once = ([(one["topic"], one["partition"], one["offset"]) for one in read_table(folder, "changes")]
                     for folder in (out, tmp_path / "at once"))  # fmt: skip
    assert sorted(rows) == sorted(at_once) == [(f"{name}.jsonl", 0, line) for name in "abc" for line in range(10)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.parquet"])
def test_a_file_of_the_same_name_with_other_messages_is_not_taken_for_the_one_that_was_decoded(engine, tmp_path, name):
    out, both = tmp_path / "out", [rendered("dts/canal@2", 30, seed=seed) for seed in (1, 2)]
    write = {
        "a.jsonl": lambda path, lines: path.write_bytes(b"\n".join(lines)),
        "a.jsonl.gz": lambda path, lines: path.write_bytes(gzip.compress(b"\n".join(lines))),
        "a.json": lambda path, lines: path.write_bytes(b"[" + b",".join(lines) + b"]"),
        "a.parquet": lambda path, lines: pq.write_table(pa.table({"value": pa.array(lines, pa.binary())}), path),
    }[name]
    for number, lines in enumerate(both):
        (tmp_path / str(number)).mkdir()
        write(tmp_path / str(number) / name, lines)
    first = decode_lines(engine, tmp_path / "0" / name, out, "dts/canal@2")
    assert decode_lines(engine, tmp_path / "0" / name, out, "dts/canal@2").again
    with pytest.raises(UnavailableError, match=f"{name} is not the file that run {first.run} read") as refused:
        decode_lines(engine, tmp_path / "1" / name, out, "dts/canal@2")
    assert refused.value.hint.startswith("Rename it, or decode it into another directory")
    decode_lines(engine, tmp_path / "1" / name, out, "dts/canal@2", replace=True)
    decode_lines(engine, tmp_path / "1" / name, tmp_path / "other", "dts/canal@2")
    rows, wanted = read_table(out, "changes"), read_table(tmp_path / "other", "changes")
    assert [row["after"] for row in rows] == [row["after"] for row in wanted]


def test_a_file_that_grows_is_decoded_from_where_it_ended(engine, tmp_path):
    lines, out = rendered("dts/canal@2", 30), tmp_path / "out"
    path = write_lines(tmp_path / "a.jsonl", lines[:20])
    decode_lines(engine, path, out, "dts/canal@2")
    write_lines(path, lines)
    decode_lines(engine, path, out, "dts/canal@2", window=("offset:20", "latest"))
    assert [row["offset"] for row in read_table(out, "changes")] == list(range(30))


def test_an_update_that_may_be_the_wrong_way_round_is_never_published(engine, tmp_path):
    path, out = write_lines(tmp_path / "a.jsonl", rendered("dts/canal@1", 400)), tmp_path / "out"
    decoded = decode_lines(engine, path, out, "dts/canal@2")
    assert decoded.withheld is not None
    assert "proven to be another version" in decoded.withheld
    assert list(out.rglob("*.parquet")) == list(out.rglob("_runs/*.json")) == []
    trusted = decode_lines(engine, path, out, "dts/canal@2", trust_contract=True)
    assert trusted.withheld is None
    ops = {row["op"] for row in read_table(out, "changes")}
    assert ops == {"insert", "update"}


def test_a_stream_of_the_declared_version_is_published_although_it_could_be_read_otherwise(engine, tmp_path):
    lines = [line for line in rendered("dts/canal@2", 300) if b'"DELETE"' not in line]
    decoded = decode_lines(engine, write_lines(tmp_path / "a.jsonl", lines), tmp_path / "out", "dts/canal@2")
    assert decoded.withheld is None
    assert all(row["undecided"] for row in read_table(tmp_path / "out", "changes"))
    ambiguous = decode_lines(engine, tmp_path / "a.jsonl", tmp_path / "both", "dts/canal")
    assert ambiguous.report.verdict == "inconclusive"
    assert {row["outcome"] for row in read_table(tmp_path / "both", "quarantine")} == {"ambiguous"}


def test_versions_that_differ_in_value_forms_only_cannot_contradict_each_other(engine, tmp_path):
    old = rendered("oms-community/canal@1", 200, fractions=False)
    lines = old + rendered("oms-community/canal@2", 200)
    decoded = decode_lines(engine, write_lines(tmp_path / "a.jsonl", lines), tmp_path / "out", "oms-community/canal@2")
    assert decoded.withheld is None
    assert decoded.report.verdict == "drift"
    quarantined = read_table(tmp_path / "out", "quarantine")
    assert {row["outcome"] for row in quarantined} == {"other-version"}
    assert max(row["offset"] for row in quarantined) < len(old)


def test_of_the_default_dialect_with_tables_the_undecided_are_published_and_the_rest_is_kept_back(engine, tmp_path):
    changed = ("flags", "made", "seen")
    lines = rendered("oms-community/default@1", 400, fractions=False, reading_options=WITH_TABLES)
    for number in range(0, 400, 10):  # rows that no changed column tells apart
        message = json.loads(lines[number])
        for image in filter(None, (message["prevStruct"], message["postStruct"])):
            image.update(dict.fromkeys(changed))
        lines[number] = json.dumps(message).encode()
    source = read_files([write_lines(tmp_path / "a.jsonl", lines)], parse_range(), tasks=2)
    validation = scope_of("oms-community/default@2", tables=WITH_TABLES.tables)
    decoded = decode_input(engine, source, validation, Output(str(tmp_path / "out")), fail_on="error")
    assert decoded.withheld is None
    assert decoded.report.verdict == "drift"
    held, published = read_table(tmp_path / "out", "quarantine"), read_table(tmp_path / "out", "changes")
    assert {row["outcome"] for row in held} == {"other-version"}
    assert len(held) + len(published) == len(lines)
    assert [(row["offset"], row["undecided"]) for row in published] == [(number, True) for number in range(0, 400, 10)]


def test_a_task_that_fails_leaves_nothing_behind(engine, tmp_path):
    path, out = write_lines(tmp_path / "a.jsonl", rendered("dts/canal@2", 40)), tmp_path / "out"
    source = read_files([path], parse_range(), tasks=2)
    path.unlink()
    with pytest.raises(Exception, match=r"No such file|FileNotFound"):
        decode_input(engine, source, scope_of("dts/canal@2"), Output(str(out)), fail_on="error")
    assert list(out.rglob("*.parquet")) == []
    assert not (out / "_runs").exists()


def test_huge_numbers_come_out_digit_for_digit(engine, tmp_path):
    digits = "7" * 400
    message = (
        '{"database":"shop","table":"n","type":"INSERT","isDdl":false,"es":0,"ts":0,"sql":"","pkNames":[],"old":null,'
        '"mysqlType":{"a":"bigint","b":"decimal","c":"decimal","d":"decimal"},"sqlType":{"a":-5,"b":3,"c":3,"d":3},'
        f'"data":[{{"a":10223372036854775806,"b":99999999999999999.99,"c":12.10,"d":{digits}.5}}]}}'
    )
    decode_lines(
        engine, write_lines(tmp_path / "a.jsonl", [message.encode()]), tmp_path / "out", "oms-community/canal@2"
    )
    (row,) = read_table(tmp_path / "out", "changes")
    assert dict(row["after"]) == {
        "a": "10223372036854775806",
        "b": "99999999999999999.99",
        "c": "12.10",
        "d": f"{digits}.5",
    }


def test_a_capture_holds_a_topic_byte_for_byte(spark, broker, make_topic, tmp_path):
    from cdc_contracts.spark_checks.topic_capture import capture_topic

    values = [b"\xff\x00", None, b"", b"{}"]
    topic = make_topic(
        [
            (number % 2, value, {"key": b"k%d" % number, "headers": [("h", b"v")]})
            for number, value in enumerate(values)
        ],
        partitions=2,
    )
    source = read_topics(SparkEngine(spark), broker.bootstrap, [topic], parse_range(), {})
    assert capture_topic(spark, source, tmp_path / "c.parquet") == 4
    rows = pq.read_table(tmp_path / "c.parquet").to_pylist()
    assert [(row["partition"], row["offset"], row["value"], row["key"]) for row in rows] == [
        (0, 0, b"\xff\x00", b"k0"), (0, 1, b"", b"k2"), (1, 0, None, b"k1"), (1, 1, b"{}", b"k3"),
    ]  # fmt: skip
    assert rows[0]["headers"] == [{"key": "h", "value": b"v"}]
    assert pq.read_schema(tmp_path / "c.parquet").field("timestamp").type == pa.timestamp("us", tz="UTC")
    assert [path.name for path in tmp_path.iterdir()] == ["c.parquet"]


def test_headers_of_a_quarantined_record_are_kept_whole(engine, broker, make_topic, tmp_path):
    headers = [("trace", b"\xff\x00"), ("trace", b"again"), ("empty", b""), ("none", None)]
    topic = make_topic([(0, b"broken", {"headers": headers, "key": b"k"}), (0, b"broken too")])
    source = read_topics(engine, broker.bootstrap, [topic], parse_range(), {})
    decode_input(engine, source, scope_of("dts/canal@2"), Output(str(tmp_path)), fail_on="error")
    first, second = read_table(tmp_path, "quarantine")
    assert [(header["key"], header["value"]) for header in first["headers"]] == headers
    assert (first["key"], second["headers"]) == (b"k", None)


# --- contracts that nobody declared


def decode_undeclared(engine, path, out):
    source = read_files([path], parse_range(), tasks=2)
    return decode_input(engine, source, Undetected(CATALOGUE, ReadingOptions()), Output(str(out)), fail_on="error")


@pytest.mark.parametrize("reference", ["dts/canal@1", pytest.param("dts/canal@2", marks=pytest.mark.nightly)])
def test_updates_are_read_by_the_version_that_the_chains_of_their_keys_prove(engine, tmp_path, reference):
    updates = [value for value in rendered(reference, 1_500) if b'"type":"UPDATE"' in value]
    path = write_lines(tmp_path / "updates.jsonl", updates)
    decoded = decode_undeclared(engine, path, tmp_path / "out")
    declared = decode_lines(engine, path, tmp_path / "declared", reference)
    assert (decoded.withheld, decoded.report.detection.version) == (None, int(reference[-1]))
    assert decoded.report.ledger.quarantined == 0
    assert read_table(tmp_path / "out", "changes") == read_table(tmp_path / "declared", "changes")
    assert declared.report.ledger.conforming == len(updates)


def test_nothing_is_published_where_a_record_proves_the_sample_wrong(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(detecting, "ENOUGH", 200)
    other = [value for value in rendered("dts/canal@1", 300, seed=3) if b'"type":"DELETE"' in value]
    lines = [*rendered("dts/canal@2", 300), *other, *rendered("dts/canal@2", 600, seed=2)]
    decoded = decode_undeclared(engine, write_lines(tmp_path / "a.jsonl", lines), tmp_path / "out")
    assert decoded.report.verdict == "inconclusive"
    assert "the sample supports dts/canal@2, offset 300 is proven to be dts/canal@1" in decoded.withheld
    assert not (tmp_path / "out" / "_runs").exists()


def test_dialects_that_take_turns_are_decoded_side_by_side_in_the_order_of_their_offsets(engine, tmp_path):
    pairs = zip(rendered("dts/canal@2", 300), rendered("oms/default@1", 300), strict=True)
    path = write_lines(tmp_path / "a.jsonl", [value for pair in pairs for value in pair])
    decoded = decode_undeclared(engine, path, tmp_path / "out")
    rows = read_table(tmp_path / "out", "changes")
    assert decoded.withheld is None
    assert [(row["offset"], row["contract"].partition("@")[0]) for row in rows] == [
        (offset, ("dts/canal", "oms/default")[offset % 2]) for offset in range(600)
    ]


def test_messages_of_no_contract_are_not_decoded(engine, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [b'{"op_type":"I","pos":"0001","after":{"ID":1}}'] * 5)
    with pytest.raises(UndetectedError, match="cannot be detected, so nothing is decoded"):
        decode_undeclared(engine, path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
