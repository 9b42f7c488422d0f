"""The server's pages in a real browser: they fit a telephone and a desk, can be read, and nothing in them runs."""

import json
from urllib.parse import quote

import patient
import pytest
from browsers import DESK, PHONE, launched, needs_browser, windows
from registry_sites import serving_site

HOSTILE = '<script>document.title="owned"</script>"><img src=x onerror="document.title=1">'
LONG = "x" * 400
PAGES = {
    "all": "/ui",
    "contract": "/ui/contract?ref=dts/canal@2",
    "avro-contract": "/ui/contract?ref=dts/avro@1",
    "contracts": "/ui/compare?old=dts/canal@1&new=dts/canal@2",
    "subject": "/ui/subject?name=orders-value",
    "hostile-subject": f"/ui/subject?name={quote(HOSTILE)}",
    "long-subject": f"/ui/subject?name={LONG}",
    "versions": "/ui/compare?subject=orders-value&old=1&new=2&level=BACKWARD",
    "not-there": "/ui/subject?name=nothing",
}
FIRST = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "note": {"type": ["string", "null"]}},
    "required": ["id"],
}
SECOND = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["id", "note"],
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with (
        serving_site(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db") as served,
        patient.Client(base_url=served) as client,
    ):
        client.put("/config/orders-value", json={"compatibility": "NONE"})
        for subject, schema in (
            ("orders-value", FIRST),
            ("orders-value", SECOND),
            (HOSTILE, {"title": HOSTILE}),
            (LONG, {"title": LONG}),
        ):
            body = {"schema": json.dumps(schema), "schemaType": "JSON"}
            assert client.post(f"/subjects/{quote(subject, safe='')}/versions", json=body).status_code == 200
        yield served


@pytest.fixture(scope="module")
def browser():
    with launched() as running:
        yield running


@pytest.fixture
def visit(browser, address):
    """A function that opens a page of the server and returns it with what it asked for."""
    with windows(browser) as show:
        yield lambda path, **options: show(address + path, **options)


@pytest.mark.nightly
@pytest.mark.one_in(4)
@needs_browser
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_asks_for_nothing_and_complains_of_nothing(visit, name):
    page = visit(PAGES[name])
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [size["width"]] * 2
        assert page.evaluate("[...document.querySelectorAll('p,td,th,dd,summary,pre,li,h1,button,select,input')]"
                             ".filter(one => one.getBoundingClientRect().right > innerWidth + 1).length") == 0  # fmt: skip
    assert page.asked == [page.url]
    assert [one for one in page.complaints if "404" not in one] == []


@needs_browser
def test_names_from_outside_are_text(visit):
    for path in ("/ui", PAGES["hostile-subject"], f"/ui?find={quote(HOSTILE)}"):
        page = visit(path)
        assert "cdc-contracts" in page.title()
        assert page.locator("script, img, iframe, object, embed, base").count() == 0
        assert (
            HOSTILE in page.locator("main").inner_text() or page.locator("input[type=search]").input_value() == HOSTILE
        )
    page = visit("/ui")
    page.get_by_role("link", name=HOSTILE).click()
    assert page.locator("h1").inner_text() == HOSTILE


@pytest.mark.nightly
@needs_browser
def test_a_script_that_were_there_would_not_run(visit):
    page = visit("/ui")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
    page.evaluate("""() => { const one = document.createElement('p'); one.setAttribute('style', 'color: red');
                     document.body.append(one) }""")
    assert page.title() == "Registry · cdc-contracts"
    assert any("Content Security Policy" in one for one in page.complaints)


@pytest.mark.nightly
@pytest.mark.one_in(3)
@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["all", "contracts", "versions"])
def test_all_text_can_be_read(visit, name, scheme):
    """Every text has the contrast that WCAG AA asks for: 4.5 to 1."""
    page = visit(PAGES[name], color_scheme=scheme)
    low = page.evaluate("""() => {
      const parse = text => text.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      const behind = one => { for (; one; one = one.parentElement) {
        const [r, g, b, a = 1] = parse(getComputedStyle(one).backgroundColor); if (a > 0) return [r, g, b]; } return [255, 255, 255] };
      return [...document.querySelectorAll('main *, nav *')].filter(one => [...one.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        .map(one => { const a = light(parse(getComputedStyle(one).color)), b = light(behind(one));
          return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), one.tagName, one.textContent.slice(0, 40)] })
        .filter(([ratio]) => ratio < 4.5) }""")
    assert low == []


@needs_browser
def test_links_lead_from_the_list_to_what_changed(visit):
    page = visit("/ui")
    assert page.locator("h2").all_inner_texts() == ["CONTRACTS", "SUBJECTS"]
    page.get_by_label("Name contains").fill("orders")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="orders-value").click()
    page.get_by_role("link", name="compared with version 1").click()
    assert page.locator("h1").inner_text() == "orders-value: versions 1 and 2 compared"
    assert page.locator(".verdict").inner_text() == "COMPATIBLE"  # the subject's level is NONE
    page.get_by_label("level").select_option("BACKWARD")
    page.get_by_role("button", name="Compare").click()
    assert page.locator(".verdict").inner_text() == "INCOMPATIBLE"
    assert page.locator(".proof").count() > 0
    changed = page.locator(".sides tr.changed").all_inner_texts()
    assert any('+     "id"' in one or '"note"' in one for one in changed)


@pytest.mark.nightly
@needs_browser
def test_the_swap_of_a_contract_is_shown_with_the_message_that_proves_it(visit):
    page = visit("/ui")
    page.get_by_role("link", name="dts/canal", exact=True).click()
    page.get_by_role("link", name="compared with dts/canal@1").click()
    assert page.locator(".verdict").inner_text() == "INCOMPATIBLE"
    proof = page.locator(".proof", has_text="Both accept this message and read it differently.").first
    assert "UPDATE" in proof.inner_text()
    said = page.locator(
        "section", has=page.get_by_role("heading", name="Differences between the contracts")
    ).inner_text()
    assert "the row in /data, completed from /old" in said


@needs_browser
def test_it_can_be_used_by_keyboard_and_screen_reader(visit):
    page = visit(PAGES["versions"])
    assert page.get_by_role("navigation", name="Breadcrumbs").get_by_role("link").all_inner_texts() == [
        "Registry",
        "orders-value",
    ]
    assert page.get_by_role("table", name="version 1 and version 2 side by side").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("main h1").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Registry"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(
    "path",
    [
        "/ui/compare?old=dts/canal@1&new=nothing", "/ui/compare?subject=orders-value&old=1&new=9", "/ui/contract?ref=x",
        "/ui/compare?subject=orders-value&old=1&new=99999999999999999999999", "/ui/subject?name=orders-value&version=7",
        "/ui/compare?subject=&old=%00&new=1",
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_page_too(address, path):
    answer = patient.get(address + path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>Not found</h1>" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
