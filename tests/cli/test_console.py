"""Tables at 80 columns: numbers are not broken, names only where nothing else would have room."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from topics import rendered

from cdc_contracts.cli.output import console

COMMAND = "cdc-contracts why topic 'a b' --partition 2 --offset 3777 -b one:9092,two:9092 --contract dts/canal@2"
LEDGER = ["partition", "offsets", "read", "conform", "control", "null", "quarantine", "gaps"]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_a_long_name_of_a_topic_gives_way_to_the_numbers_beside_it(capsys):
    name = "prod.shop.inventory.orders.cdc.v1.jsonl"
    console.print_table(
        LEDGER, [[f"{name} 0", "0..2000", 2000, 1949, 0, 1, 50, 0], ["all", "", 20000, 9194, 0, 4, 10802, None]]
    )
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == LEDGER
    assert lines[0].split()[1:] == ["0..2000", "2000", "1949", "0", "1", "50", "0"]
    assert "".join([lines[0].split()[0], *lines[1:-1]]).replace(" ", "") == f"{name}0"
    assert lines[-1].split() == ["all", "20000", "9194", "0", "4", "10802"]
    assert max(map(len, [head, *lines])) <= 80


def test_numbers_that_have_no_room_beside_each_other_stand_below_each_other(capsys):
    offsets = "1234567890123..1234567990123"
    console.print_table(LEDGER, [["shop.orders.cdc.v1 0", offsets, 100000, 99990, 0, None, 10, 0]])
    assert capsys.readouterr().out.splitlines() == [
        "shop.orders.cdc.v1 0",
        "  offsets     1234567890123..1234567990123",
        "  read        100000",
        "  conform     99990",
        "  control     0",
        "  quarantine  10",
        "  gaps        0",
    ]


def test_names_give_way_where_words_beside_them_would_have_no_room(capsys):
    console.print_table(["", ""], [["x" * 78, "words that need room"]])
    assert "words that" in capsys.readouterr().out


def test_what_is_said_stands_after_what_was_printed_before_in_the_log_of_a_pipe():
    code = (
        "from cdc_contracts.cli.output import console\n"
        "console.write('one\\n'); console.say('two'); console.write('three\\n'); console.say('four')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    assert ended.stdout == "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        ("80", ["  reproduce  cdc-contracts why topic 'a b' --partition 2 --offset 3777 \\",
                "             -b one:9092,two:9092 --contract dts/canal@2"]),
        ("44", ["  reproduce  cdc-contracts why topic 'a b' \\", "             --partition 2 --offset 3777 \\",
                "             -b one:9092,two:9092 \\", "             --contract dts/canal@2"]),
        ("200", [f"  reproduce  {COMMAND}"]),
    ],
)  # fmt: skip
def test_a_long_command_is_continued_as_a_shell_reads_it_and_no_option_loses_its_value(
    width, expected, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", width)
    console.print_table(["", ""], [["  reproduce", console.continued(COMMAND, beside="  reproduce")]])
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_runs_as_with_the_null_device(closed, tmp_path):
    line, call = rendered("dts/canal@2", 1)[0], [sys.executable, "-m", "cdc_contracts.cli"]
    (tmp_path / "good.jsonl").write_bytes(line)
    (tmp_path / "bad.jsonl").write_bytes(line[:-1])
    reports = []
    for streams in (closed, "</dev/null >/dev/null 2>&1"):
        report = tmp_path / f"report{len(reports)}.json"
        audit = [*call, "audit", "file", "--contract", "dts/canal@2", "--engine", "local"]
        codes = [
            subprocess.run(["sh", "-c", f'"$@" {streams}', "sh", *audit, *more], cwd=tmp_path, check=False).returncode
            for more in (["good.jsonl", "--report", str(report)], ["bad.jsonl"], ["none.jsonl"])
        ]
        reports.append((codes, json.loads(report.read_text())))
    assert reports[0] == reports[1]
    assert reports[0][0] == [0, 1, 3]
