"""The report as Markdown, read by a real Markdown parser."""

import re

import pytest
from markdown_it import MarkdownIt
from report_examples import NAMES, example
from written_reports import render_markdown

from cdc_contracts.registry.core.report.report_markdown import MOST_CHARACTERS, literal

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


def shown(markdown):
    """The text that a reader sees of inline Markdown, and the kinds of marks in it."""
    (_, inline, _) = PARSER.parse(markdown)
    return "".join(child.content for child in inline.children), {child.type for child in inline.children}


def tables_of(markdown):
    """Each table as rows of cells, as their Markdown."""
    tables = []
    for token in PARSER.parse(markdown):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and token.level == 4:
            tables[-1][-1].append(re.sub("</?code>", "", token.content))
    return tables


@pytest.mark.parametrize(
    "text",
    ["a*b*c", "_x_ y_z", "`code`", "[a](b)", "![a](b)", "<b>&amp;", "a|b", "# head", "- item", "+ item", "1. item", "===", "~~no~~",
     "\\*", "$x$", "&#42;", "**x**", "<!-- x -->", "http://a.example", "a\\"],
)  # fmt: skip
def test_text_is_shown_as_it_stands(text):
    assert shown(literal(text)) == (text, {"text"})


@pytest.mark.parametrize(
    ("text", "written"),
    [("@everyone", "&#64;everyone"), ("a @b", "a &#64;b"), ("dts/canal@2", "dts/canal@2"), ("#1", "&#35;1"),
     (":tada:", "&#58;tada:"), ("www.a.example", "www&#46;a.example"), ("12:30:00", "12:30:00"), ("a\nb", "a&#92;nb"),
     ("\x1b[0m", "&#92;x1b&#91;0m")],
)  # fmt: skip
def test_nobody_is_notified_and_nothing_becomes_a_link_or_an_emoji(text, written):
    assert literal(text) == written


def test_a_report_of_drift_has_its_ledger_and_its_findings_as_tables():
    ledger, findings = tables_of(render_markdown(example("drift")))
    assert ledger[0] == ["partition", "offsets", "read", "conforming", "control", "tombstone", "quarantined", "gaps"]
    assert ledger[1] == ["shop.changes 0", "0..5000", "5,000", "2,249", "0", "1", "2,750", "0"]
    assert ledger[5] == ["all", "", "20,000", "9,194", "0", "4", "10,802", "0"]
    assert [row[0] for row in findings] == ["", "error", "error", "error", "warning", "warning", "info"]
    assert findings[2] == ["error", "type-change D06", "shop.orders", "/data/0/total", "120"]


def test_topics_of_several_contracts_have_a_table():
    text = render_markdown(example("several"))
    contracts, *_ = tables_of(text)
    assert contracts == [["topics", "contract"], ["orders", "dts/canal@2"], ["payments", "auto: drs/json@2"]]
    assert "**Contract of <code>payments</code>:** drs/json@2 (likely, not proven); equal on every message: " in text


def test_a_report_of_drift_opens_to_what_each_finding_means():
    text = render_markdown(example("drift"))
    assert text.startswith("### ❌ DRIFT: 10,802 of 19,996 messages do not conform to oms-community/canal@2\n")
    assert text.count("<details><summary>") == text.count("</details>") == 6
    assert (
        "- explained by ALTER TABLE orders ADD COLUMN vip_levle VARCHAR(8) at shop.changes partition 0 offset 4599"
        in text
    )
    assert "- similar to <code>vip_level</code>" in text
    assert "```sh\ncdc-contracts why topic shop.changes --partition 2 --offset 3777 " in text
    assert "> 2 findings omitted because known.json lists them." in text


def test_attack_text_marks_nothing_up():
    text = render_markdown(example("attack"))
    tokens = [child for token in PARSER.parse(text) for child in [token, *(token.children or ())]]
    html = "".join(token.content for token in tokens if token.type in ("html_inline", "html_block"))
    assert set(re.findall(r"<(/?\w+)", html)) == {"details", "/details", "summary", "/summary", "code", "/code"}
    kinds = {token.type for token in tokens}
    assert kinds.isdisjoint({"link_open", "image", "em_open", "s_open", "code_inline", "hr"})
    ledger, schemas, findings = tables_of(text)
    assert {len(row) for row in ledger} == {8}
    assert {len(row) for row in schemas} == {6}
    assert {len(row) for row in findings} == {5}
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


def test_a_fence_is_longer_than_any_inside_it():
    text = render_markdown(example("attack"))
    fences = [token for token in PARSER.parse(text) if token.type == "fence" and token.info == "json"]
    assert fences
    assert all(token.content.count("</code></pre><script>") == 1 for token in fences)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_a_comment(name):
    assert len(render_markdown(example(name))) <= MOST_CHARACTERS + 200


def test_a_report_that_is_too_long_says_so_and_breaks_off_between_two_findings():
    finding = example("drift")["findings"][0]
    finding["example"]["message"] = "x" * 10_000
    text = render_markdown(example("drift", findings=[finding] * 20))
    assert len(text) <= MOST_CHARACTERS + 200
    assert text.count("<details>") == text.count("</details>") == 5
    assert text.endswith("*The rest is in the JSON report: this comment would be too long.*\n")


def test_a_report_without_findings_is_short():
    text = render_markdown(example("pass"))
    assert text.startswith(
        "### ✅ PASS: all 2,400 messages conform to dts/canal@2\n\nAudit of topic orders at broker:9092.\n"
    )
    assert len(tables_of(text)) == 1
