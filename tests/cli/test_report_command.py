"""`report render`, and the summary of a report on a terminal."""

import json
import re

import pytest
from report_examples import NAMES, example, path_of
from rich.cells import cell_len
from topics import rendered
from written_reports import report_of

from cdc_contracts.cli.app import main
from cdc_contracts.cli.output import report_output
from cdc_contracts.registry.core.common.errors import UnavailableError


@pytest.fixture(autouse=True)
def terminal(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def summary_of(name, capsys):
    assert main(["report", "render", str(path_of(name))]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_a_stored_report_is_written_in_every_kind(tmp_path, capsys):
    call = ["report", "render", str(path_of("drift")), "-o", "a.html", "-o", "a.md", "-o", "a.xml", "-o", "a.json"]
    assert main(call) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>\n")
    assert (tmp_path / "a.md").read_text().startswith("### ")
    assert (tmp_path / "a.xml").read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    assert json.loads((tmp_path / "a.json").read_text()) == example("drift")


@pytest.mark.parametrize("options", [["--write-baseline", "r.json"], ["-o", "r.json"], ["-o", "./r.json"]])
def test_a_stored_report_is_not_written_over_by_what_is_made_of_it(tmp_path, capsys, options):
    stored = path_of("drift").read_bytes()
    (tmp_path / "r.json").write_bytes(stored)
    assert main(["report", "render", "r.json", *options]) == 2
    assert "error: this file is already used for something else in this run (" in capsys.readouterr().err
    assert (tmp_path / "r.json").read_bytes() == stored


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_fits_80_columns_and_holds_no_terminal_sequence(name, capsys):
    text = summary_of(name, capsys)
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


def test_a_summary_says_the_verdict_first_and_then_what_a_person_asks_next(capsys):
    text = summary_of("drift", capsys)
    assert text.startswith(
        "DRIFT: 10,802 of 19,996 messages do not conform to oms-community/canal@2\n"
        "2 findings omitted because known.json lists them.\n\n"
        "Contract\n"
        "found      several contracts in one topic, all of oms-community/canal, from\n"
        "           19,996 messages\n"
    )
    headings = [line for line in text.splitlines() if line in ("Contract", "Ledger", "Versions", "Findings")]
    assert headings == ["Contract", "Ledger", "Versions", "Findings"]
    assert """
warning table-schema (D11) shop.orders /data/0/vip_levle
  count     400 of 19,984
  onset     every message of the table with op INSERT since shop.changes
            partition 0 offset 4600 (2026-11-20T12:46:40Z)
  expected  the columns of the table contract
  observed  a new column, string
  similar   vip_level
  because   ALTER TABLE orders ADD COLUMN vip_levle VARCHAR(8) at shop.changes
            partition 0 offset 4599 (2026-11-20T12:46:30Z)
  why       The columns of a table change.
  fix       Apply the change to the table contract.
""" in text  # fmt: skip
    assert text.endswith("""
info not-exercised (D15) any table (message)
  count     0 of 19,996
  onset     not seen in the messages read
  expected  at least one DELETE
  observed  none
  why       A rule of the contract was never put to the test by the messages
            read.
  fix       Read a longer range before trusting a green result.
""")  # fmt: skip
    assert "  observed   number (90), object (20), array (10)\n" in text
    assert "  reproduce  cdc-contracts why topic shop.changes --partition 2 --offset 3777 \\\n             -b " in text


def test_advice_is_said_once_where_it_is_the_same(tmp_path, capsys):
    first = example("drift")["findings"][0]
    second, other = first | {"path": "/data/0/seen"}, first | {"path": "/data/0/x", "explanation": "Something else."}
    (tmp_path / "r.json").write_text(json.dumps(example("drift", findings=[first, second, other])))
    assert main(["report", "render", "r.json"]) == 0
    out = capsys.readouterr().out
    assert out.count("  fix        Check when the project or instance was created or restarted; audit\n") == 1
    assert out.count("  fix        as above\n") == 2
    assert out.count("  why        The message does not fit the version it is judged by, and fits\n") == 1
    assert "  why        Something else.\n  fix        as above\n  reproduce  " in out


def test_a_report_of_an_older_release_is_shown(capsys):
    text = summary_of("version-1", capsys)
    assert "  count     10,331 of 19,984, first at shop.changes partition 0 offset 0\n" in text
    assert "shop.changes 0         oms-community/canal@1 up to offset 2749,\n" in text


def test_messages_that_were_not_to_be_judged_have_a_column_where_there_are_any(capsys):
    text = summary_of("several", capsys)
    assert text.startswith("DRIFT: 4 of 1,090 messages do not conform to their contracts\n")
    assert "partition   offsets  read  conform  control  null  quarantine  excluded  gaps\n" in text
    assert "orders 0    0..900   890   580      10       0     0           300       10\n" in text
    assert "excluded" not in summary_of("pass", capsys)


def test_several_topics_are_reported_with_the_contract_of_each(capsys):
    assert (
        "Contracts\n"
        "dts/canal@2       orders\n"
        "auto: drs/json@2  payments\n"
        "\n"
        "Contract of payments\n"
        "found    drs/json@2 (likely, not proven), from 500 messages\n"
        "equal    drs/json-c@2\n"
        "because  an UPDATE has both images (31 times, for drs/json@2 against drs/json@1,\n"
        "         first at payments partition 0 offset 12)\n"
    ) in summary_of("several", capsys)


def test_a_run_that_was_stopped_says_how_far_it_came(capsys):
    assert summary_of("interrupted", capsys).startswith(
        "PASS: all 32,000 messages read so far conform to dts/canal@2\n"
        "Stopped before the end (interrupted): the report covers what was read until\nthen.\n"
        "Read 32,000 of 200,000 offsets (16.0 %), a sample of 1/2 of the records, by\noffset.\n"
    )


def test_colour_is_for_terminals_that_want_it(capsys, monkeypatch):
    assert "\x1b[" not in summary_of("drift", capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["report", "render", str(path_of("drift"))]) == 0
    assert capsys.readouterr().out.startswith("\x1b[1;31mDRIFT:")
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["report", "render", str(path_of("drift"))]) == 0
    assert "\x1b[1;31m" not in capsys.readouterr().out


def test_a_baseline_is_made_of_a_stored_report_and_hides_it(capsys):
    assert main(["report", "render", str(path_of("drift")), "--write-baseline", "known.json"]) == 0
    assert capsys.readouterr().err == "known.json has the findings of this run: 6\n"
    assert main(["report", "render", str(path_of("drift")), "--baseline", "known.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "PASS: 10,802 of 19,996 messages do not conform to oms-community/canal@2, none of\nit new\n"
        "6 findings omitted because known.json lists them.\n"
    )
    assert "Findings" not in out


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [(["none.json"], 3, "the report cannot be read: No such file or directory (none.json)"),
     (["bad.json"], 2, "this is not a report"), (["deep.json"], 2, "this is not a report: it is not JSON"),
     (["long.json"], 2, "this is not a report: it has a number of 400 digits (long.json)"), (["bad.json", "-o", "x.pdf"], 2, "`.pdf` is not a report format"),
     (["bad.json", "-o", "no/x.md"], 2, "there is no such folder (no)"),
     (["bad.json", "--baseline", "none.json"], 2, "the baseline cannot be read"),
     (["bad.json", "--write-baseline", "no/b.json"], 2, "there is no such folder (no)")],
)  # fmt: skip
def test_a_call_that_cannot_be_carried_out_says_why(tmp_path, capsys, arguments, code, reported):
    (tmp_path / "bad.json").write_text("[]")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "long.json").write_text("[" + "9" * 400 + "]")
    assert main(["report", "render", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert reported in err
    assert "Traceback" not in err


def test_what_was_found_is_reported_even_where_a_file_cannot_be_written(tmp_path, capsys):
    with pytest.raises(UnavailableError):
        report_output.print_report(report_of(example("pass")), as_json=False, targets=[tmp_path / "gone" / "a.md"])
    assert capsys.readouterr().out.startswith("PASS: all 2,400 messages conform to dts/canal@2\n")


def test_names_in_messages_cannot_command_the_terminal(tmp_path, capsys):
    (message,) = rendered("dts/canal@2", 1)
    (tmp_path / "a.jsonl").write_bytes(b'{"\\u001b[2J\\u202e":1,' + message[1:] + b"\n")
    assert main(["check", "a.jsonl", "--contract", "dts/canal@2"]) == 1
    out, err = capsys.readouterr()
    assert "\\x1b[2J\\u202e" in out
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", out + err)
