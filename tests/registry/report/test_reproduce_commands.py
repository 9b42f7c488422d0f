"""Commands of a report name their record in a way that a shell hands over unchanged."""

import shutil
import subprocess

import pytest

from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.reproduce_commands import detect_command, why_command

NAMES = {
    "plain": ("a.jsonl", "a.jsonl"),
    "space": ("a b.jsonl", "'a b.jsonl'"),
    "quote": ("it's.jsonl", """'it'"'"'s.jsonl'"""),
    "quotes and dollar": ('"$HOME`id`".jsonl', """'"$HOME`id`".jsonl'"""),
    "a folder": ("in/a b.jsonl", "'in/a b.jsonl'"),
    "a dash first": ("-a.jsonl", "./-a.jsonl"),
    "line feed and tab": ("x\ny\tz.jsonl", "$'x\\ny\\tz.jsonl'"),
    "escape and quote": ("e\x1b[31m'.jsonl", "$'e\\x1b[31m\\'.jsonl'"),
    "right to left": ("a\u202e\\b.jsonl", "$'a\\u202e\\\\b.jsonl'"),
    "Chinese": ("订单.jsonl", "'订单.jsonl'"),
}


@pytest.mark.parametrize(("name", "written"), NAMES.values(), ids=NAMES)
def test_a_file_of_any_name_is_written_so_that_a_shell_reads_it_back(name, written):
    source = ReportSource(kind="file", paths=(name,))
    command = why_command(source, name.rpartition("/")[2], 0, 9, "dts/canal@2")
    assert command == f"cdc-contracts why {written} --line 10 --contract dts/canal@2"
    assert detect_command(source, []) == f"cdc-contracts detect {written}"
    assert command.isprintable()
    read = [shutil.which("bash"), "-c", f"cdc-contracts() {{ printf '%s' \"$2\"; }}; {command}"]
    there = subprocess.run(read, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert there.stdout.decode() == (f"./{name}" if name.startswith("-") else name)


@pytest.mark.parametrize(
    ("name", "offset", "place"),
    [("a.jsonl", 0, " --line 1"), ("a.json.gz", 0, " --line 1"), ("a.json", 0, ""), ("a.json", 2, " --line 3")],
)
def test_lines_and_elements_of_an_array_are_numbered_and_a_whole_file_is_not(name, offset, place):
    source = ReportSource(kind="file", paths=(f"in/{name}",))
    assert why_command(source, name, 0, offset, None) == f"cdc-contracts why in/{name}{place}"
