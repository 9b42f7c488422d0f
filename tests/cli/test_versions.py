"""`--versions` and `--write-versions`: a topic that changes versions in mid-stream, validated part by part."""

import json
import re

import pyarrow.parquet as pq
import pytest
from option_messages import TABLE, message
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.cli.options.topic_options import assign_validations
from cdc_contracts.cli.options.version_options import RangedValidationOptions
from cdc_contracts.registry.core.common.errors import UsageError

pytestmark = pytest.mark.usefixtures("first_versions")

OLD, NEW = "dts/canal@1", "dts/canal@2"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a topic of two partitions, each of which switches at another place."""
    monkeypatch.chdir(tmp_path)
    for name, at, seed in (("a.jsonl", 180, 3), ("b.jsonl", 60, 4)):
        old, new = (rendered(one, 300, seed=seed) for one in (OLD, NEW))
        (tmp_path / name).write_bytes(b"\n".join([*old[:at], *new[at:]]) + b"\n")
    return tmp_path


def report_of(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def run(capsys, *arguments):
    code = main(list(arguments))
    return code, capsys.readouterr()


AUDIT = ("audit", "file", "a.jsonl", "b.jsonl", "--engine", "local")
SWITCHED = {"topics": {"a.jsonl": {0: [{"to": 180, "contract": OLD}, {"from": 180, "contract": NEW}]},
                       "b.jsonl": {0: [{"to": 60, "contract": OLD}, {"from": 60, "contract": NEW}]}}}  # fmt: skip


def test_what_auto_cannot_decide_is_validated_part_by_part_by_the_file_that_it_says_how_to_write(here, capsys):
    code, report = report_of(capsys, *AUDIT)
    unclear = next(one for one in report["findings"] if one["class"] == "ambiguous")
    assert code == 4
    assert 0 < unclear["count"] < 30
    command = "detect a.jsonl b.jsonl --write-versions versions.yaml"
    assert main(command.split()) == 4  # as the audit: what lies between is of neither
    assert "versions.yaml says which version applies where" in capsys.readouterr().err

    code, placed = report_of(capsys, *AUDIT, "--versions", "versions.yaml")
    left = {one["rule"]: one["count"] for one in placed["findings"] if one["severity"] == "error"}
    ranges = placed["versions"]
    assert [(one["topic"], one["contract"], one["from"] is None, one["to"] is None) for one in ranges] == [
        (topic, *way) for topic in ("a.jsonl", "b.jsonl") for way in ((OLD, True, False), (NEW, False, True))
    ]
    between = [(old["to"], new["from"]) for old, new in zip(ranges[::2], ranges[1::2], strict=True)]
    number = sum(end - start for start, end in between)
    assert (code, left) == (4, {"D16.left-open": number})
    assert placed["ledger"]["conforming"] == 600 - number
    assert placed["contract"] == "dts/canal"
    for (start, end), one in zip(between, placed["switches"], strict=True):
        # the range ends at the second proof before the evidence does, and begins at the second after it
        assert 0 <= one["after"] + 1 - start <= 3
        assert 0 <= end - one["at"] <= 3


def test_audit_writes_the_file_that_detect_writes(here, capsys):
    assert main(["detect", "a.jsonl", "b.jsonl", "--write-versions", "v.yaml"]) == 4
    said = capsys.readouterr().out
    assert re.search(rf"\nVersions\na\.jsonl 0  {OLD} up to offset 17\d, {NEW} from 1[78]\d\nb\.jsonl 0  ", said)
    assert main([*AUDIT, "--write-versions", "w.yaml"]) == 4
    assert (here / "v.yaml").read_text() == (here / "w.yaml").read_text()


def test_a_file_that_says_it_all_leaves_nothing_open_in_audit_and_check(here, capsys):
    (here / "v.yaml").write_text(json.dumps(SWITCHED))
    code, report = report_of(capsys, *AUDIT, "--versions", "v.yaml")
    assert (code, report["verdict"], report["ledger"]["conforming"]) == (0, "pass", 600)
    checked, again = report_of(capsys, "check", "a.jsonl", "b.jsonl", "--versions", "v.yaml")
    assert (checked, again["ledger"], again["findings"]) == (0, report["ledger"], report["findings"])


def test_a_wrong_range_is_drift_where_messages_prove_it(here, capsys):
    wrong = json.loads(json.dumps(SWITCHED))
    wrong["topics"]["a.jsonl"]["0"] = [{"contract": NEW}]
    (here / "v.yaml").write_text(json.dumps(wrong))
    code, report = report_of(capsys, *AUDIT, "--versions", "v.yaml")
    proven = next(one for one in report["findings"] if one["class"] == "other-version")
    assert code == 1
    assert [one["topic"] for one in proven["partitions"]] == ["a.jsonl"]
    assert proven["partitions"][0]["last_offset"] < 180


def test_the_headline_says_how_many_messages_lie_where_nothing_is_declared(here, capsys):
    (here / "v.yaml").write_text(json.dumps({"topics": {"a.jsonl": {0: [{"from": 180, "contract": NEW}]}}}))
    code, (out, _) = run(capsys, "audit", "file", "a.jsonl", "--engine", "local", "--versions", "v.yaml")
    assert code == 4
    assert " ".join(out.split()).startswith("INCONCLUSIVE: 180 of 300 messages are outside the ranges of any version")


@pytest.mark.parametrize(
    ("document", "reported"),
    [
        ({"topics": {"b.jsonl": {0: [{"contract": NEW}]}}}, "the versions file does not mention topic a.jsonl (v.yaml)\n  It names b.jsonl."),
        ({"topics": {"a.jsonl": {0: [{"contract": NEW}], 7: [{"contract": NEW}]}, "b.jsonl": {"all": []}}},
         "the versions file names partition 7, and topic a.jsonl has no such partition (v.yaml)\n  It has 0"),
        ({"topics": {"a.jsonl": {0: []}, "b.jsonl": {0: []}}}, "no range says which version a.jsonl, b.jsonl is written in (v.yaml)"),
        ({"topics": {"a.jsonl": {0: [{"contract": "dts/canal@3"}]}}}, "topics.a.jsonl.0.0.contract: dts/canal has no version 3 (v.yaml)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "command", [AUDIT, ("check", "a.jsonl", "b.jsonl"), ("decode", "file", "a.jsonl", "b.jsonl", "--to", "out")]
)
def test_a_file_that_does_not_fit_what_is_read_is_reported_before_anything_starts(
    here, capsys, command, document, reported
):
    (here / "v.yaml").write_text(json.dumps(document))
    code, (out, err) = run(capsys, *command, "--versions", "v.yaml")
    assert (code, out) == (2, "")
    assert f"error: {reported}" in err
    assert not (here / "out").exists()


def test_a_part_of_the_partitions_may_be_read_by_the_file_of_them_all(here, capsys):
    topic = {"topics": {"a.jsonl": {0: [{"contract": OLD}], 1: [{"contract": NEW}]}}}
    (here / "v.yaml").write_text(json.dumps(topic))
    code, _ = run(capsys, "audit", "file", "a.jsonl", "--engine", "local", "--versions", "v.yaml", "--from",
                  "offset:0=0", "--to", "offset:0=100")  # fmt: skip
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ([*AUDIT, "--versions", "v.yaml", "--contract", NEW], "--contract and --versions cannot be combined"),
        ([*AUDIT, "--versions", "none.yaml"], "there is no file none.yaml"),
        ([*AUDIT, "--versions", "v.yaml", "--write-versions", "v.yaml"], "this file is already used for something else in this run (v.yaml)"),
        ([*AUDIT, "--write-versions", "no/v.yaml"], "there is no such folder (no)"),
        (["detect", "a.jsonl", "--write-versions", "a.jsonl"], "this file is already used for something else in this run (a.jsonl)"),
        (["detect", "-", "--write-versions", "w.yaml"], "standard input can be read only once"),
        (["audit", "topic", "t", "-b", "x:1", "--follow", "--checkpoint", "c", "--write-versions", "w.yaml"],
         "--write-versions cannot be combined with --follow"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_reported(here, capsys, arguments, reported):
    (here / "v.yaml").write_text(json.dumps(SWITCHED))
    code, (_, err) = run(capsys, *arguments)
    assert code == 2
    assert reported in err


def test_nothing_is_written_where_the_contract_cannot_be_detected(here, capsys):
    (here / "c.jsonl").write_text('{"a": 1}\n')
    code, (_, err) = run(capsys, "detect", "c.jsonl", "--write-versions", "w.yaml")
    assert code == 1
    assert "w.yaml is not written" in err
    assert not (here / "w.yaml").exists()


def test_the_schema_of_the_file_is_shown_for_editors(capsys):
    assert main(["show", "versions", "--schema", "json"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["title"] == "cdc-contracts versions"
    assert set(schema["$defs"]["WrittenRange"]["properties"]) == {"from", "to", "contract", "options"}


def test_a_change_of_an_option_is_written_into_the_file_and_decoded_across(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = [message("precise" if offset < 30 else "string") for offset in range(60)]
    (tmp_path / "orders.jsonl").write_bytes(b"\n".join(values) + b"\n")
    (tmp_path / "orders.yaml").write_text(json.dumps(TABLE))
    audit = ["audit", "file", "orders.jsonl", "--tables", "orders.yaml", "--engine", "local"]

    code, (out, _) = run(capsys, *audit, "--write-versions", "v.yaml")
    assert code == 1
    said = " ".join(out.split())
    assert "decimal.handling.mode changes (1 column, 60 values): in partition 0 precise from offset 0 to 29, " in said
    assert "string from offset 30 to 59. Read as sent: shop.orders.price; `audit --write-versions FILE` says" in said

    code, report = report_of(capsys, *audit, "--versions", "v.yaml")
    assert (code, report["ledger"]["conforming"]) == (0, 60)
    modes = [one["options"]["decimal.handling.mode"] for one in report["versions"]]
    assert [(one["from"], one["to"]) for one in report["versions"]] == [(None, 30), (30, None)]
    assert modes == ["precise", "string"]
    decode = ["decode", "file", "orders.jsonl", "--tables", "orders.yaml", "--engine", "local", "--to", "out"]
    assert main([*decode, "--versions", "v.yaml"]) == 0
    rows = pq.read_table(next(iter((tmp_path / "out").glob("changes/*/*.parquet")))).to_pylist()
    assert {dict(row["after"])["price"] for row in rows} == {"12.59"}
    assert main(["why", "orders.jsonl", "--line", "31", "--tables", "orders.yaml", "--versions", "v.yaml"]) == 0


class TestSettings:
    """`versions:` in cdc-contracts.yaml goes before what is bound there, and behind what the command line says."""

    @pytest.fixture(autouse=True)
    def _settings(self, here):
        (here / "cdc-contracts.yaml").write_text("topics: {orders: dts/canal@2, more: drs/json@2}\nversions: v.yaml\n")
        (here / "v.yaml").write_text("topics: {orders: {0: [{to: 9, contract: dts/canal@1}]}}\n")

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [("dts/canal", ["orders"], True), ("drs/json@2", ["more"], False)]),
            ({"contract": "oms/canal@1"}, [("oms/canal@1", ["orders", "more"], False)]),
        ],
    )
    def test_each_topic_is_judged_by_what_says_most_of_it(self, options, expected):
        validating = RangedValidationOptions(**options)
        assigned = assign_validations(
            ["orders", "more"], validating.contract, validating.open_validation, validating.ranged_topics
        )
        assert [
            (validation.declared, names, validation.ranges is not None) for validation, names in assigned
        ] == expected

    def test_a_file_on_the_command_line_has_to_name_every_topic(self, here):
        validating = RangedValidationOptions(versions=here / "v.yaml")
        with pytest.raises(UsageError, match="does not mention topic more"):
            assign_validations(["orders", "more"], None, validating.open_validation, validating.ranged_topics)

    def test_topics_of_one_run_are_judged_in_one_way(self):
        assert RangedValidationOptions().open_validation(["orders"]).ranges is not None
        with pytest.raises(UsageError, match="does not mention topic more"):
            RangedValidationOptions().open_validation(["orders", "more"])

    def test_a_file_that_is_not_there_is_reported(self, here):
        (here / "v.yaml").unlink()
        with pytest.raises(UsageError, match=r"there is no file v\.yaml"):
            RangedValidationOptions().open_validation(["orders"])


def test_why_judges_a_message_by_the_range_that_it_lies_in(here, capsys):
    (here / "v.yaml").write_text(json.dumps(SWITCHED))
    place = {"a.jsonl": {0: [{"to": 100, "contract": OLD}, {"from": 180, "contract": NEW}]}}
    (here / "open.yaml").write_text(json.dumps({"topics": place}))
    values = (here / "a.jsonl").read_bytes().splitlines()
    for start, end, contract, other in ((0, 100, OLD, NEW), (180, 300, NEW, OLD)):
        line = next(at for at in range(start, end) if b'"DELETE"' in values[at]) + 1
        code, reported = report_of(capsys, "why", "a.jsonl", "--line", str(line), "--versions", "v.yaml")
        assert (code, reported["outcome"], reported["contract"], reported["declared"]) == (
            0,
            "conforming",
            contract,
            contract,
        )
        assert reported["choice"] == "the versions file declares it there"
        code, reported = report_of(capsys, "why", "a.jsonl", "--line", str(line), "--contract", other)
        assert (code, reported["outcome"]) == (1, "other-version")

    code, reported = report_of(capsys, "why", "a.jsonl", "--line", "141", "--versions", "open.yaml")
    assert (code, reported["outcome"], reported["declared"]) == (4, "ambiguous", None)
    assert [finding["rule"] for finding in reported["findings"]] == ["D16.left-open"]
    assert reported["choice"] == "the versions file declares no version at partition 0 offset 140"
    code, printed = run(capsys, "why", "a.jsonl", "--line", "141", "--versions", "open.yaml")
    assert "outside the ranges of any version" in " ".join(printed.out.split())


def test_why_with_a_versions_file_refuses_what_the_judging_commands_refuse(here, capsys):
    (here / "v.yaml").write_text(json.dumps(SWITCHED))
    (here / "c.jsonl").write_bytes((here / "a.jsonl").read_bytes())
    code, printed = run(capsys, "why", "a.jsonl", "--versions", "v.yaml", "--contract", OLD)
    assert (code, "--contract and --versions cannot be combined" in printed.err) == (2, True)
    code, printed = run(capsys, "why", "c.jsonl", "--versions", "v.yaml")
    assert (code, "does not mention topic c.jsonl" in printed.err) == (2, True)
