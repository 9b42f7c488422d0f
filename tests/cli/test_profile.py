"""`audit --profile`: what columns hold, in the report of every format, and nowhere without the option."""

import json

import pytest
from producing import write_records
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.cli.output.report_output import Ending
from cdc_contracts.registry.core.common.findings import Severities
from cdc_contracts.registry.core.report.profile_baseline import read_profile_baseline
from cdc_contracts.registry.core.report.stored_reports import read_report

MESSAGE = {
    "data": [], "database": "shop", "es": 1_718_000_000_000, "id": 1, "isDdl": False, "mysqlType": {}, "old": None,
    "gtid": "", "pkNames": ["id"], "sql": "", "sqlType": {}, "table": "orders", "ts": 1_718_000_000_250,
    "type": "INSERT",
}  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_topic(path, rows, **changes):
    """Write messages of `dts/canal@2`, one for each row."""
    lines = []
    for number, row in enumerate(rows):
        types = {"mysqlType": dict.fromkeys(row, "varchar"), "sqlType": dict.fromkeys(row, 12)}
        lines.append(json.dumps({**MESSAGE, **types, "id": number, "data": [row], **changes}))
    path.write_text("\n".join(lines) + "\n")


def audit(capsys, *arguments):
    code = main(["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--engine", "local", "-q", *arguments])
    return code, capsys.readouterr().out


def test_a_report_has_a_profile_only_where_it_is_asked_for(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1"}])
    _, plain = audit(capsys, "--json")
    _, profiled = audit(capsys, "--json", "--profile")
    found = json.loads(profiled)
    assert found.pop("profile")
    assert json.dumps(found, indent=2) + "\n" == plain


def test_the_profile_is_written_in_whole_numbers(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1", "note": "four"}, {"id": "22", "note": None}, {"id": "3"}])
    _, out = audit(capsys, "--json", "--profile")
    texts = {"texts": 3, "empty": 0, "replaced": 0, "shortest": 1, "longest": 2, "characters": 4}
    note = {"texts": 1, "empty": 0, "replaced": 0, "shortest": 4, "longest": 4, "characters": 4}
    assert json.loads(out)["profile"] == [
        {
            "topic": "a.jsonl", "rows": 3, "other_rows": 0,
            "tables": [{
                "table": "shop.orders", "contract": "dts/canal@2", "rows": 3, "ops": {"insert": 3},
                "columns": [
                    {"name": "id", "absent": 0, "nulls": 0, **texts},
                    {"name": "note", "absent": 1, "nulls": 1, **note},
                ],
                "other_values": 0,
            }],
            "lag": [{
                "until": "process-time", "messages": 3, "unknown": 0, "least_us": 250_000, "most_us": 250_000,
                "buckets": [{"below_ms": 256, "messages": 3}],
            }],
            "resends": {"repeated": 0, "back": 0},
        }
    ]  # fmt: skip


def test_messages_that_are_sent_again_are_counted(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1"}] * 4)
    lines = (here / "a.jsonl").read_text().splitlines()
    (here / "a.jsonl").write_text("\n".join([*lines, *lines[1:]]) + "\n")
    _, out = audit(capsys, "--json", "--profile")
    assert json.loads(out)["profile"][0]["resends"] == {"repeated": 0, "back": 1}


def test_the_terminal_shows_shares_and_lengths(here, capsys):
    rows = [{"id": "1", "note": "four"}, {"id": "22", "note": None}, {"id": "3"}, {"id": "4", "note": "a\ufffd"}]
    write_topic(here / "a.jsonl", rows)
    _, out = audit(capsys, "--profile")
    shown = out.partition("\nProfile of ")[2]
    assert [line.split() for line in shown.splitlines() if line] == [
        ["a.jsonl"],
        ["table", "version", "rows", "share", "ops"],
        ["shop.orders", "dts/canal@2", "4", "100", "%", "insert", "100", "%"],
        [
            "lag",
            "from",
            "the",
            "change",
            "to",
            "when",
            "the",
            "message",
            "was",
            "made:",
            "250",
            "ms",
            "to",
            "250",
            "ms",
        ],
        ["sent", "again", "none"],
        ["shop.orders", "dts/canal@2"],
        ["column", "NULL", "absent", "empty", "characters", "mean", "U+FFFD"],
        ["id", "1", "to", "2", "1.3"],
        ["note", "25.0", "%", "25.0", "%", "2", "to", "4", "3.0", "1"],
    ]


def test_no_format_of_a_profiled_report_shows_a_value(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "4111111111111111", "note": "Erika Mustermann"}] * 3)
    formats = [argument for ending in ("json", "html", "md", "xml") for argument in ("--report", f"r.{ending}")]
    _, out = audit(capsys, "--profile", *formats)
    assert "shop.orders" in (here / "r.html").read_text()
    for text in [out, *((here / f"r.{ending}").read_text() for ending in ("json", "html", "md", "xml"))]:
        assert "4111" not in text
        assert "Erika" not in text


def test_a_profiled_report_is_rendered_again_as_it_was(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1", "note": None}] * 3)
    _, shown = audit(capsys, "--profile", "--report", "r.json", "--report", "r.html")
    assert main(["report", "render", "r.json"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["report", "render", "r.json", "-o", "again.html"]) == 0
    assert (here / "again.html").read_bytes() == (here / "r.html").read_bytes()


def test_a_topic_of_which_no_row_conforms_says_so(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1"}], type="INSRT")
    _, out = audit(capsys, "--profile", "--report", "r.html")
    assert "no row conforms" in out
    assert "No row conforms." in (here / "r.html").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("reference", ["dts/canal@2", "dts/avro@1", "oms-community/default@2", "drs/json@2"])
def test_both_engines_count_the_same(spark, broker, make_topic, here, capsys, reference):
    records = [(place % 3, value) for place, value in enumerate(rendered(reference, 900, controls=90))]
    topic, found = make_topic(records, partitions=3), {}
    for engine in ("spark", "local"):
        call = ["audit", "topic", topic, "-b", broker.bootstrap, "--contract", reference, "-q", "--profile", "--json"]
        assert main([*call, "--engine", engine]) == 0
        found[engine] = json.loads(capsys.readouterr().out)
    assert found["spark"] == found["local"]
    assert found["local"]["profile"][0]["rows"] == found["local"]["ledger"]["changes"]


# --- against an earlier report


MONDAY = {}
"""The report of the first day, audited once for all tests."""


def write_two_days(here, capsys):
    """Write the report of a day, and the messages of the next: `note` is NULL more often, and `card` is not sent."""
    rows = [{"id": str(number), "note": None if number % 10 == 0 else "secret"} for number in range(200)]
    if not MONDAY:
        write_topic(here / "a.jsonl", [row | {"card": "4111"} for row in rows])
        code, _ = audit(capsys, "--profile", "--report", "monday.json")
        assert code == 0
        MONDAY["report"] = (here / "monday.json").read_bytes()
    (here / "monday.json").write_bytes(MONDAY["report"])
    write_topic(here / "a.jsonl", [row | {"note": None if int(row["id"]) % 2 else "secret"} for row in rows])


def changes_in(out):
    return [
        (one["severity"], one["rule"], one["table"], one["path"], one["count"], one["denominator"])
        for one in json.loads(out)["findings"]
        if one["class"] == "profile-change"
    ]


CHANGES = [
    ("D17.null-share", "shop.orders", "/note", 100, 200),
    ("D17.column", "shop.orders", "/card", 0, 200),
]


def test_changes_since_an_earlier_report_are_findings_that_fail_nothing(here, capsys):
    write_two_days(here, capsys)
    code, out = audit(capsys, "--against", "monday.json", "--json", "--report", "tuesday.html")
    assert (code, json.loads(out)["verdict"]) == (0, "pass")
    assert changes_in(out) == [("info", *one) for one in CHANGES]
    found = json.loads(out)["findings"][0]
    assert (found["expected"], found["observed"]) == ("10.0 % NULL (20 of 200)", ["50.0 % NULL (100 of 200)"])
    assert json.loads(out)["profile"][0]["rows"] == 200
    for text in (out, (here / "tuesday.html").read_text()):
        assert "secret" not in text
        assert "4111" not in text


@pytest.mark.parametrize("arguments", [["--fail-on", "D17,error"], ["--severity", "profile-change=warning"]])
def test_changes_fail_a_run_where_that_is_asked_for(here, capsys, arguments):
    write_two_days(here, capsys)
    code, out = audit(capsys, "--against", "monday.json", "--json", *arguments)
    level = "warning" if "--severity" in arguments else "info"
    assert (code, json.loads(out)["verdict"]) == (1, "drift")
    assert changes_in(out) == [(level, *one) for one in CHANGES]


def test_the_headline_distinguishes_a_changed_profile_from_messages_that_do_not_conform(here, capsys):
    write_two_days(here, capsys)
    _, out = audit(capsys, "--against", "monday.json", "--severity", "profile-change=warning")
    headline = " ".join(out.partition("\n\n")[0].split())
    assert headline.startswith("DRIFT: all 200 messages conform to dts/canal@2, but their profile has changed")


def test_the_same_messages_have_not_changed_and_known_changes_are_left_out(here, capsys):
    write_two_days(here, capsys)
    code, _ = audit(capsys, "--against", "monday.json", "--write-baseline", "known.json", "--report", "tuesday.json")
    assert code == 0
    fails = ["--fail-on", "profile-change", "--json"]
    assert changes_in(audit(capsys, "--against", "tuesday.json", *fails)[1]) == []
    code, out = audit(capsys, "--against", "monday.json", "--baseline", "known.json", *fails)
    assert (code, changes_in(out)) == (0, [])


def test_files_of_other_names_are_compared_all_together(here, capsys):
    write_two_days(here, capsys)
    (here / "a.jsonl").rename(here / "b.jsonl")
    code = main(["audit", "file", "b.jsonl", "--contract", "dts/canal@2", "--engine", "local", "-q", "--json",
                 "--against", "monday.json"])  # fmt: skip
    assert (code, changes_in(capsys.readouterr().out)) == (0, [("info", *one) for one in CHANGES])


def test_what_cannot_be_compared_is_refused_before_anything_is_read(here, capsys):
    write_topic(here / "a.jsonl", [{"id": "1"}])
    audit(capsys, "--report", "plain.json")
    audit(capsys, "--profile", "--report", "profiled.json")
    (here / "list.json").write_text("[]")
    newer = json.loads((here / "profiled.json").read_text()) | {"report_version": 3}
    (here / "newer.json").write_text(json.dumps(newer))
    call = ["audit", "file", "nowhere.jsonl", "--engine", "local", "-q", "--contract"]
    for arguments, wanted in (
        (["dts/canal@2", "--against", "plain.json"], "this report has no profile (plain.json)"),
        (["dts/canal@2", "--against", "list.json"], "this is not a report: it has no report_version (list.json)"),
        (["dts/canal@2", "--against", "newer.json"], "a newer release wrote this report (version 3) (newer.json)"),
        (["dts/canal@2", "--against", "none.json"], "the report cannot be read: No such file or directory (none.json)"),
        (
            ["drs/json@2", "--against", "profiled.json"],
            "the baseline report is of dts/canal, not of drs/json@2 (profiled.json)",
        ),
    ):
        assert main([*call, *arguments]) in {2, 3}
        assert capsys.readouterr().err.splitlines()[0] == f"error: {wanted}"
    assert main(["audit", "file", "a.jsonl", "--against", "profiled.json", "--report", "profiled.json"]) == 2


def test_reports_of_a_stream_and_of_its_batches_are_compared_as_well(here, capsys):
    write_two_days(here, capsys)
    audit(capsys, "--profile", "--report", "tuesday.json")
    baseline = read_profile_baseline(here / "monday.json", Severities({"profile-change": "warning"}))
    found = Ending("warning", as_json=False, targets=None, against=baseline).compare(read_report(here / "tuesday.json"))
    assert (found.verdict, [one.rule for one in found.findings if one.severity == "warning"]) == (
        "drift",
        [rule for rule, *_ in CHANGES],
    )


@pytest.mark.nightly
def test_a_stream_is_profiled_and_compared_across_restarts(spark, broker, make_topic, here, capsys):
    write_two_days(here, capsys)
    lines = (here / "a.jsonl").read_bytes().splitlines()
    topic = make_topic([(0, line) for line in lines])
    call = ["audit", "topic", topic, "-b", broker.bootstrap, "--contract", "dts/canal@2", "--follow", "--once", "-q",
            "--checkpoint", "stream", "--interval-reports", "batches", "--report", "whole.json",
            "--against", "monday.json"]  # fmt: skip
    assert main([*call, "--from", "earliest"]) == 0
    write_records(broker, topic, [(0, line) for line in lines])
    assert main(call) == 0
    whole = json.loads((here / "whole.json").read_text())
    batches = [json.loads(file.read_text()) for file in sorted((here / "batches").iterdir())]
    assert [one["profile"][0]["rows"] for one in (*batches, whole)] == [200, 200, 400]
    for one in (*batches, whole):
        assert {rule for _, rule, *_ in changes_in(json.dumps(one))} == {"D17.null-share", "D17.column"}
