"""What the pages of the documentation show is what the commands do."""

from pathlib import Path

import pytest
from site_pages import DOCS, PAGES, ROOT, agrees, blocks_of, inline_calls, parse, unknown_words

from cdc_contracts.cli.app import main
from cdc_contracts.cli.output import progress

WITH_SPARK = [ROOT / "README.md", DOCS / "first-steps.md"]
NAMES = {page: str(page.relative_to(ROOT)) for page in PAGES}
WRITTEN = sorted([*PAGES, *DOCS.glob("reference/*.md"), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"])
CARRIED_OUT = [
    page
    for page in PAGES
    if page not in WITH_SPARK and any(block.calls and not block.needs for block in blocks_of(page))
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
                Path(call.target).write_bytes(out)
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
        if block.language == "python":
            capsysbinary.readouterr()
            exec(compile(block.text, NAMES[page], "exec"), {})
            assert capsysbinary.readouterr().out


def test_the_first_steps_are_the_same_with_kafka(spark, broker, make_topic, tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    run_page(DOCS / "first-steps.md", capsysbinary, commands={"sample", "tables"})
    messages = Path("drifted.jsonl").read_bytes().splitlines()
    named = {"orders": make_topic([(0, value) for value in messages]), "localhost:9092": broker.bootstrap}
    blocks = [block for block in blocks_of(DOCS / "first-steps.md") if block.needs == "kafka"]
    calls = [call for block in blocks for call in block.calls if "orders" in call.arguments]
    assert [main([named.get(word, word) for word in call.arguments]) for call in calls] == [1, 1]
    assert b"20 of 200 messages" in capsysbinary.readouterr().out


def test_pages_say_what_blocks_need_in_words_that_are_known():
    known = {
        "kafka", "spark", "spark and a minute", "kcat", "a server", "a terminal", "a git repository", "a report", "a decoded directory",
        "a folder of contracts", "a new virtual environment", "a changed catalogue", "table contracts", "messages", "no output shown", "PyFlink",
    }  # fmt: skip
    assert {block.needs for page in PAGES for block in blocks_of(page)} <= {None, *known}


def test_lines_that_are_left_out_are_the_only_ones_that_may_differ():
    assert agrees("a\nb\nc\n", "a\n...\n")
    assert agrees("a\nb\nc\n", "a\n...\nc\n")
    assert not agrees("a\nb\nc\n", "a\nc\n")
    assert not agrees("a\nb\n", "...\nc\n")
