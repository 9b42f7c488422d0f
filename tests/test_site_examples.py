"""What the pages of the documentation show is what the commands do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from block_needs import NEEDS as NEEDS_IN_WORDS
from block_needs import UNSAID
from run_walk import ADDRESS, differences, write_file
from site_pages import DOCS, PAGES, ROOT, PageBlock, agrees, blocks_of, calls_of, inline_calls, parse, unknown_words
from walk_machines import INDEX, INSTALLATION, PROVIDED

from cdc_contracts.cli.app import main
from cdc_contracts.cli.output import progress

WITH_SPARK = [ROOT / "README.md", DOCS / "first-steps.md"]
TYPED = {"unknown-topic": True, "first-contract": False, "ci": False, "test-a-consumer": True, "decode": False}
"""Guides of which every step is typed, and whether that is left to the night."""
NAMES = {page: str(page.relative_to(ROOT)) for page in PAGES}
WRITTEN = sorted([*PAGES, *DOCS.glob("reference/*.md"), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"])
CARRIED_OUT = [
    page
    for page in PAGES
    if page not in WITH_SPARK
    and page.stem not in TYPED
    and any(block.calls and not block.needs for block in blocks_of(page))
]


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch):
    """Pages show no lines of progress; how many a run writes depends on how long it takes."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 3_600)


def run_page(page, capsysbinary, met=frozenset(), commands=None):
    """Carry out the blocks of a page that need nothing but what is met, all commands or some; return what was done."""
    done = []
    for block in blocks_of(page):
        if block.needs not in {None, *met}:
            continue
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text)
        for call in block.calls:
            if commands and call.arguments[0] not in commands:
                continue
            capsysbinary.readouterr()
            code = main(call.arguments)
            out, err = capsysbinary.readouterr()
            where = f"{NAMES[page]}:{block.line}: {' '.join(call.arguments)}"
            assert code in {0, 1}, f"{where}\n{err.decode()}"
            if call.target:
                with Path(call.target).open("ab" if call.appends else "wb") as file:
                    file.write(out)
            elif call.shown is not None:
                seen = [out, err + out, out + err]  # a terminal shows both
                assert any(agrees(one.decode(), call.shown) for one in seen), f"{where}\n{out.decode()}"
            else:
                assert code == 0, f"{where}\n{out.decode()}"
            done.append(call)
    return done


@pytest.mark.parametrize("page", PAGES, ids=NAMES.get)
def test_every_command_of_a_page_is_one_that_the_command_line_takes(page):
    for block in blocks_of(page):
        for call in block.calls:
            parse(call.arguments)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_the_commands_and_options_that_prose_names_exist(page):
    assert [(call, words) for call in inline_calls(page) if (words := unknown_words(call))] == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("page", CARRIED_OUT, ids=NAMES.get)
def test_a_page_shows_what_is_printed(page, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    assert run_page(page, capsysbinary)


@pytest.mark.parametrize("page", WITH_SPARK, ids=NAMES.get)
def test_the_first_steps_lead_to_decoded_rows(page, spark, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    done = run_page(page, capsysbinary, {"spark"})
    assert {call.arguments[0] for call in done} >= {"sample", "detect", "audit", "why", "decode"}
    for block in blocks_of(page):
        if block.language == "python" and not block.needs:
            capsysbinary.readouterr()
            exec(compile(block.text, NAMES[page], "exec"), {})
            assert capsysbinary.readouterr().out


def type_step(typed, capsysbinary):
    """Carry out a step of a walk, a command of this project in this process; return what a terminal may show, and the code."""
    (call, *_) = [*calls_of(PageBlock(Path(), 1, "sh", typed, None, None)), None]
    if call is None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "cdc_contracts.testing.plugin",
                 "PYTEST_ADDOPTS": "-p no:cacheprovider"}  # fmt: skip
        author = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        ended = subprocess.run(
            ["bash", "-c", typed], env={**os.environ, **alone, **author, "PATH": path}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return [ended.stdout], ended.returncode
    capsysbinary.readouterr()
    code = main(call.arguments)
    out, err = (one.decode() for one in capsysbinary.readouterr())
    if call.target:
        Path(call.target).write_text(out)
        return [err], code
    return [err + out, out + err], code


def type_walk(name, address, capsysbinary):
    """Type all that a walk has but the installation; return its commands and what is not as the page shows it."""
    typed, wrong = [], []
    for block in blocks_of(DOCS / "how-to" / f"{name}.md"):
        if block.needs not in {None, *PROVIDED} - {INSTALLATION, INDEX}:
            continue
        if block.file:
            write_file(block, Path(), address)
        for step in block.steps:
            seen, code = type_step(step.typed.replace(ADDRESS, address), capsysbinary)
            found = [
                list(differences(step, one.replace(address, ADDRESS), code, f"{name}:{block.line}")) for one in seen
            ]
            wrong += min(found, key=len)
            typed.append(step.typed.split()[0])
    return typed, wrong


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly if night else ())
             for name, night in TYPED.items() if name != "unknown-topic"],
)  # fmt: skip
def test_a_walk_leads_where_its_page_says(name, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    typed, wrong = type_walk(name, ADDRESS, capsysbinary)
    assert wrong == []
    assert len(typed) > 1


@pytest.mark.nightly
def test_the_walk_through_a_topic_leads_where_its_page_says(broker, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    typed, wrong = type_walk("unknown-topic", broker.bootstrap, capsysbinary)
    assert wrong == []
    assert typed.count("cdc-contracts") == 6
    assert "do not conform to their contracts, 3 are outside" in Path("report.html").read_text()


def test_the_first_steps_are_the_same_with_kafka(spark, broker, make_topic, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    run_page(DOCS / "first-steps.md", capsysbinary, commands={"sample", "tables"})
    messages = Path("drifted.jsonl").read_bytes().splitlines()
    named = {"orders": make_topic([(0, value) for value in messages]), "localhost:9092": broker.bootstrap}
    blocks = [block for block in blocks_of(DOCS / "first-steps.md") if block.needs in {"kafka", "kafka and spark"}]
    calls = [call for block in blocks for call in block.calls if "orders" in call.arguments]
    assert [main([named.get(word, word) for word in call.arguments]) for call in calls] == [1, 1]
    assert b"20 of 200 messages" in capsysbinary.readouterr().out


def test_pages_say_what_blocks_need_in_words_that_are_known():
    assert {block.needs for page in PAGES for block in blocks_of(page)} <= {None, *NEEDS_IN_WORDS, *UNSAID}


def test_a_step_is_a_line_with_what_continues_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\na \\\n  b # c\n# d\n\ncat > e <<'END'\nf\nEND\nfor i in 1 2; do\n  h\ndone\ng\n```\n\n"
        "```console\n$ a\nb\n$ c \\\n d\n```\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n"
    )
    shell, console, python, _ = blocks_of(page)
    assert [step.typed for step in shell.steps] == [
        "a \\\n  b # c\n",
        "cat > e <<'END'\nf\nEND\n",
        "for i in 1 2; do\n  h\ndone\n",
        "g\n",
    ]
    assert [(step.typed, step.shown) for step in console.steps] == [("a\n", "b\n"), ("c \\\n d\n", "")]
    assert [(step.typed, step.shown) for step in python.steps] == [("python - <<'END'\nprint(1)\nEND\n", "1\n")]


def test_lines_that_are_left_out_are_the_only_ones_that_may_differ():
    assert agrees("a\nb\nc\n", "a\n...\n")
    assert agrees("a\nb\nc\n", "a\n...\nc\n")
    assert not agrees("a\nb\nc\n", "a\nc\n")
    assert not agrees("a\nb\n", "...\nc\n")
    assert agrees("main (0a1b), which\n", "main (…), which\n")
    assert not agrees("main (0a\n1b), which\n", "main (…), which\n")
