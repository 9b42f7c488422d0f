"""`audit --profile`: what columns hold, in the report of every format, and nowhere without the option."""

import json

import pytest
from topics import rendered

from cdc_contracts.cli.app import main

MESSAGE = {
    "data": [], "database": "shop", "es": 1_718_000_000_000, "id": 1, "isDdl": False, "mysqlType": {}, "old": None,
    "pkNames": ["id"], "serverId": "1", "sql": "", "sqlType": {}, "table": "orders", "ts": 1_718_000_000_250,
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
        types = {"mysqlType": dict.fromkeys(row, "varchar(60)"), "sqlType": dict.fromkeys(row, 12)}
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
