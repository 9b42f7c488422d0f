"""`cdc-contracts sample`: messages that conform, and messages that drift as asked."""

import itertools
import json

import pyarrow.parquet as pq
import pytest
from output_rows import ask_reference
from topics import scope_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.validate.validation_context import open_validation

CATALOGUE = shipped_catalogue()
VERSIONS = list(CATALOGUE.all_versions())
ONE_MESSAGE = (
    "malformed", "other-dialect", "other-version", "unknown-field", "missing-field", "type-change", "value-form",
    "unknown-enum", "cross-field", "precision",
)  # fmt: skip
# What a dialect has no place for: a record has fixed fields and codes, and what is read by its kind has one form.
CANNOT = {
    "dts/avro": {"unknown-field", "missing-field", "unknown-enum"},
    "oms/avro": {"unknown-field", "missing-field", "unknown-enum"},
    "debezium/flat": {"unknown-field", "missing-field"},
    "oms/debezium-smt": {"unknown-field", "missing-field", "value-form", "cross-field"},
    "dts/shareplex": {"precision"},
    "aws-dms/json": {"precision"},
    "goldengate/json": {"precision", "value-form"},
    "goldengate/json-row": {"precision", "value-form", "missing-field", "unknown-field"},
    "flink-cdc/canal-json": {"value-form"},
    "flink-cdc/debezium-json": {"value-form"},
}


@pytest.mark.one_in(4, any_subject=True)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_samples_of_a_version_conform_to_it(version):
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    outcomes = [
        validation.validate(message).verdict
        for message in sample_messages(version, 60, seed=3, reading_options=ReadingOptions())
    ]

    assert len(outcomes) == 60
    assert {verdict.outcome for verdict in outcomes} <= {"conforming", "control"}
    assert not [finding for verdict in outcomes for finding in verdict.findings if finding.severity != "info"]


KEYED = [version for version in VERSIONS if version.meaning.envelope.key_place is not None]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", KEYED, ids=str)
def test_a_capture_of_samples_has_the_keys_that_the_contract_reads(version, tmp_path):
    target = tmp_path / "orders.parquet"
    assert main(["sample", version.reference, "-n", "60", "-o", str(target)]) == 0
    rows = pq.read_table(target).to_pylist()
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    read = [validation.validate(row["value"], row["key"]) for row in rows]
    changes = [change for message in read for change in message.changes]

    assert [row["key"] is not None for row in rows] == [bool(message.changes) for message in read]
    named = [name for _, name in version.meaning.envelope.key_place.json_texts] or ["id"]
    assert {tuple(change.primary_key) for change in changes} == {tuple(named)}
    assert not [finding for message in read for finding in message.verdict.findings if finding.severity != "info"]
    if version.meaning.columns.types != "none" and version.meaning.columns.types.reading == "connect-schema":
        keys = [json.loads(row["key"]) for row in rows if row["key"] is not None]
        assert {key["schema"]["fields"][0]["field"] for key in keys} == {"id"}
        assert len({key["payload"]["id"] for key in keys}) > 1


@pytest.mark.one_in(6, any_subject=True)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_tenth_message_shows_the_drift_that_is_asked_for(version):
    validation = scope_of(version.reference)
    lone = len(CATALOGUE.versions(version.subject)) == 1
    cannot = CANNOT.get(version.subject, set())
    made = {}
    for drift in ONE_MESSAGE:
        try:
            messages = list(sample_messages(version, 10, seed=5, reading_options=ReadingOptions(), drift=drift))
        except UsageError:
            made[drift] = False
            continue
        made[drift] = True
        verdicts = [ask_reference(validation, message, None).verdict for message in messages]
        assert [drift in {finding.name for finding in verdict.findings} for verdict in verdicts].count(True) == 1

    assert {drift for drift, done in made.items() if not done} - {"other-version"} == cannot
    assert not (made["other-version"] and lone)


def test_the_other_way_of_placing_rows_is_shown_by_the_next_event_that_can():
    validation = open_validation(CATALOGUE, "dts/canal@2", ReadingOptions())
    messages = sample_messages(
        CATALOGUE.version("dts/canal@2"), 60, seed=1, reading_options=ReadingOptions(), drift="other-version"
    )
    found = [validation.validate(message).verdict.outcome for message in messages]
    assert 3 <= found.count("other-version") <= 6


def test_lines_go_to_standard_output_and_the_same_seed_gives_the_same(capfdbinary):
    def lines(*options):
        assert main(["sample", "dts/canal@2", "-n", "7", *options]) == 0
        return capfdbinary.readouterr().out

    first = lines("--seed", "4")
    assert [json.loads(line)["database"] for line in first.splitlines()] == ["shop"] * 7
    assert lines("--seed", "4") == first
    assert lines("--seed", "5") != first


def test_records_go_to_a_file_and_never_over_one(tmp_path, capsys):
    target = tmp_path / "records.parquet"
    assert main(["sample", "dts/avro", "-n", "30", "-o", str(target)]) == 0
    assert pq.read_table(target).num_rows == 30
    assert main(["check", str(target), "--contract", "dts/avro"]) == 0
    assert main(["sample", "dts/avro", "-o", str(target)]) == 2
    assert "--replace" in capsys.readouterr().err
    assert main(["sample", "dts/avro", "-n", "3", "-o", str(target), "--replace"]) == 0
    assert pq.read_table(target).num_rows == 3


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["-o", "nodir/foo.jsonl"], "error: there is no such folder (nodir)\n  Create it first.\n"),
        (["-o", "d.jsonl", "--replace"], "error: this is a folder, not a file (d.jsonl)\n"),
        (["-o", "d.jsonl"], "error: this is a folder, not a file (d.jsonl)\n"),
    ],
)
def test_where_no_file_can_be_is_reported(tmp_path, monkeypatch, capsys, options, reported):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").mkdir()
    assert main(["sample", "dts/canal@2", *options]) == 2
    assert capsys.readouterr() == ("", reported)


def test_a_table_of_the_users_takes_the_place_of_our_own(tmp_path, capfdbinary):
    table = tmp_path / "visits.yaml"
    table.write_text("table: clinic.visits\ncolumns:\n  no: {type: int}\n  seen: {type: date}\nprimary_key: [no]\n")
    assert main(["sample", "oms-community/canal@2", "-n", "5", "--tables", str(table)]) == 0
    messages = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert {(one["database"], one["table"]) for one in messages} == {("clinic", "visits")}
    assert {*messages[0]["mysqlType"]} == {"no", "seen"}


def test_an_update_is_written_as_two_messages_where_the_dialect_allows_it(capfdbinary):
    assert main(["sample", "dataworks/streamx", "-n", "40", "--split-updates"]) == 0
    codes = [json.loads(line)["payload"]["op"] for line in capfdbinary.readouterr().out.splitlines()]
    assert codes.count("UPDATE_BEFOR") >= 5
    pairs = itertools.pairwise(codes)
    assert all(after == "UPDATE_AFTER" for before, after in pairs if before == "UPDATE_BEFOR")


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["sample", "dts/canal", "--drift", "typo"], "not a drift class"),
        (["sample", "dts/canal", "--drift", "control-share"], "control-share is not a drift of single messages"),
        (
            ["sample", "oms/canal", "--drift", "order"],
            "the contract does not define the order of positions in oms/canal@1",
        ),
        (["sample", "dts/canal", "--drift", "unknown-table"], "List tables with --tables."),
        (["sample", "dts/avro"], "-o FILE.parquet"),
        (["sample", "dts/avro", "-o", "x.jsonl"], ".parquet"),
        (["sample", "dts/canal", "-o", "x.txt"], ".jsonl or .parquet"),
        (["sample", "dts/kanal"], "Did you mean dts/canal?"),
        (
            ["sample", "dts/shareplex", "--drift", "precision"],
            "no generated message of dts/shareplex@1 can show precision",
        ),
    ],
)
def test_what_cannot_be_made_is_reported(arguments, reported, capsys):
    assert main(arguments) == 2
    assert reported in capsys.readouterr().err
