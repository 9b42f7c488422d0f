"""The page of a report in a real browser: it fits a telephone and a desk, can be read, and nothing in it runs."""

import re

import pytest
from browsers import DESK, PHONE, TABLET, launched, needs_browser, windows
from report_examples import NAMES, example
from written_reports import render_page


@pytest.fixture(scope="module")
def browser():
    with launched() as running:
        yield running


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens the page of a report in a window of its own and returns it with what it asked for."""
    with windows(browser) as show:

        def show_report(report, *, scripts=True, **options):
            target = tmp_path / "report.html"
            target.write_text(render_page(report), encoding="utf-8")
            return show(target.as_uri(), java_script_enabled=scripts, **options)

        yield show_report


def open_everything(page):
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def test_the_figures_at_the_top_are_those_of_the_ledger():
    report = example("drift")
    report["ledger"] |= {"conforming": 8472, "control": 273}
    page = render_page(report)
    assert "<dt>conform</dt><dd>8,472</dd>" in page
    assert "<dt>control</dt><dd>273</dd>" in page


@pytest.mark.one_in(3)
@needs_browser
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_window_asks_for_anything_or_complains(open_page, name):
    page = open_page(example(name))
    for size in (PHONE, TABLET, DESK):
        page.set_viewport_size(size)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = false)")
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [size["width"]] * 2
        open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
        assert page.evaluate("[...document.querySelectorAll('p,td,th,dd,summary,pre,li,h1')]"
                             ".filter(one => one.getBoundingClientRect().right > innerWidth + 1).length") == 0  # fmt: skip
    assert page.asked == [page.url]
    assert page.complaints == []


@needs_browser
def test_columns_of_a_finding_have_its_whole_width_so_that_their_forms_can_be_read(open_page):
    report = example("drift")
    forms = ["iso-datetime-minutes, as oms-community/default@1 writes DATETIME"]
    column = {
        "rule": "D03.value-form", "path": "/postStruct/seen", "fingerprint": "0123456789abcdef", "expected": "SQL",
        "observed": forms, "count": 3, "first": report["findings"][0]["first"],
    }  # fmt: skip
    report["findings"][0]["columns"] = [column, {**column, "path": "/postStruct/made"}]
    page = open_page(report)
    open_everything(page)
    widths = "[...document.querySelectorAll('table.columns, .tables:has(table.columns)')].map(one => one.clientWidth)"
    container, table = page.evaluate(widths)
    assert table > 0.95 * container
    assert page.locator("table.columns tbody tr").first.bounding_box()["height"] < 60


@needs_browser
def test_attack_text_is_shown_as_text_and_becomes_no_element(open_page):
    page = open_page(example("attack"))
    open_everything(page)
    assert page.title().startswith("DRIFT: topics <script>document.title=")
    assert page.locator("script, img, iframe, object, embed, link, form, base").count() == 0
    handlers = (
        "[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()).filter(name => /^on/.test(name))"
    )
    assert page.evaluate(handlers) == []
    assert page.evaluate("[...document.querySelectorAll('a')].map(one => one.getAttribute('href')[0])") == ["#"] * 3
    text = page.locator("body").inner_text()
    assert '<script>document.title="owned"</script>' in text
    assert '"><img src=x onerror="document.title=\'owned\'">' in text
    assert "]]>&lt;b&gt;" in text
    assert "\\x1b[31mred\\x1b[0m\\x07\\x00\\ufffe\\ud800" in text
    assert "\\u202egnp.exe\\u2066" in text
    assert "x" * 240 + "… (4,760 more characters)" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


@needs_browser
def test_a_script_that_were_there_would_not_run(open_page):
    """The policy of the page is a second wall behind the escaping."""
    report = example("drift")
    page = render_page(report).replace(
        "</main>", "<script>document.title = 'owned'</script><p style='color:red'>a</p></main>"
    )
    window = open_page(report)
    window.set_content(page)
    assert window.title() == "DRIFT: topic shop.changes at localhost:9092"
    assert any("script" in complaint and "Content Security Policy" in complaint for complaint in window.complaints)


@pytest.mark.nightly
@needs_browser
def test_findings_open_without_javascript(open_page):
    page = open_page(example("drift"), scripts=False)
    first, second = page.locator("#finding-1"), page.locator("#finding-2")
    assert first.get_by_text("ab54d286474f53a1").is_visible()
    assert not second.get_by_text("A decimal sent as a number loses digits").is_visible()
    second.locator("summary").click()
    assert second.get_by_text("A decimal sent as a number loses digits").is_visible()
    assert second.get_by_text("--partition 1 --offset 4100").is_visible()


@needs_browser
def test_the_verdict_comes_first_and_findings_stand_in_the_order_of_the_report(open_page):
    page = open_page(example("drift"))
    assert page.locator("h1").inner_text() == "DRIFT 10,802 of 19,996 messages do not conform to oms-community/canal@2"
    assert page.locator("h2").all_inner_texts() == ["WHAT TO DO", "CONTRACT", "LEDGER", "TIMELINE", "FINDINGS"]
    assert page.locator(".finding .what strong").all_inner_texts() == [
        "other-version", "type-change", "unknown-enum", "unknown-field", "table-schema", "not-exercised",
    ]  # fmt: skip
    ledger = [text.split("\t") for text in page.locator(".ledger tbody tr").all_inner_texts()]
    assert [row[2:8] for row in ledger] == [
        ["5,000", "2,249", "0", "1", "2,750", "0"],
        ["5,000", "2,598", "0", "1", "2,401", "0"],
        ["5,000", "1,949", "0", "1", "3,050", "0"],
        ["5,000", "2,398", "0", "1", "2,601", "0"],
        ["20,000", "9,194", "0", "4", "10,802", "0"],
    ]


@needs_browser
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_switch_is_drawn_at_its_place_and_read_by_screen_readers(open_page, size):
    page = open_page(example("drift"), size=size)
    strip = page.get_by_role("img", name="shop.changes partition 1")
    box, mark = strip.bounding_box(), strip.locator("line.switch").bounding_box()
    assert (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"] == pytest.approx(2400 / 5000, abs=0.005)
    old, new = (one.bounding_box() for one in strip.locator("rect.c0, rect.c1").all())
    assert old["width"] / box["width"] == pytest.approx(2400 / 5000, abs=0.005)
    assert new["x"] + new["width"] == pytest.approx(box["x"] + box["width"], abs=2)
    assert strip.locator("text").all_text_contents() == ["A", "B", "0", "5000", "2400"]
    assert strip.locator("desc").text_content() == (
        "oms-community/canal@1 up to offset 2399, oms-community/canal@2 from 2400 (2026-11-20T06:40:00Z)"
    )
    page.get_by_text("Show as a table").click()
    assert page.get_by_role("row").filter(has_text="2026-11-20T06:40:00Z").count() == 2


CONTRASTS = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const channels = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = colour => channels(colour).slice(0, 3)
    .map(one => one / 255).map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    const words = [...one.childNodes].filter(child => child.nodeType === 3 && child.data.trim());
    if (!words.length || !one.getClientRects().length || ["title", "desc"].includes(one.tagName)) continue;
    const drawn = one.tagName === "text", style = getComputedStyle(one), before = one.previousElementSibling;
    const colour = drawn ? style.fill : style.color;
    const ground = drawn && !one.classList.contains("axis") ? getComputedStyle(before).fill : behind(one);
    const [more, less] = [light(colour), light(ground)].sort((a, b) => b - a);
    found.push({text: words[0].data.trim().slice(0, 40), ratio: (more + 0.05) / (less + 0.05)});
  }
  return found;
}
"""


@pytest.mark.nightly
@pytest.mark.one_in(3)
@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["drift", "pass", "empty", "attack"])
def test_every_word_stands_out_from_its_ground(open_page, name, scheme):
    page = open_page(example(name), color_scheme=scheme)
    open_everything(page)
    measured = page.evaluate(CONTRASTS)
    assert len(measured) > 20
    assert [one for one in measured if one["ratio"] < 4.5] == []


@pytest.mark.nightly
@needs_browser
def test_light_and_dark_are_two_pages(open_page):
    grounds = {
        scheme: open_page(example("drift"), color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert grounds == {"light": "rgb(247, 247, 245)", "dark": "rgb(18, 21, 24)"}


@pytest.mark.nightly
@needs_browser
def test_what_is_printed_is_the_whole_report(open_page):
    page = open_page(example("drift"))
    page.emulate_media(media="print")
    for number in range(1, 7):
        assert page.locator(f"#finding-{number} .facts").bounding_box()["height"] > 10


def test_the_same_report_is_the_same_page_to_the_byte():
    assert render_page(example("drift")) == render_page(example("drift"))


def test_a_page_holds_no_script_and_no_address_but_that_of_the_document_as_text():
    page = render_page(example("drift"))
    document = "https://en.oceanbase.com/docs/community-oms-en-10000000000840763"
    assert document in page
    assert re.search(rf"(?:href|src|action)=.?{document}", page) is None
    page = page.replace(document, "")
    assert not re.search(r"https?:|//|<script|javascript:|@import|url\(", page.replace("<!doctype html>", ""))
    assert re.search(r"content=\"default-src &#x27;none&#x27;; style-src &#x27;sha256-[\w+/]{43}=&#x27;", page)
