"""The documentation is built without a warning, its links lead somewhere, and it lists all there is."""

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer
from block_needs import UNSAID
from browsers import launched, needs_browser, windows

from cdc_contracts.cli.app import app, main
from cdc_contracts.registry.authoring.explain.rulebook import rules
from cdc_contracts.registry.core.common import exit_codes
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README_BYTES = 6 * 1024


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / ".src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """The HTML of each page by its path."""
    return {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_link_within_the_site_leads_to_a_page_and_a_place_on_it(site, pages):
    places = {path: set(re.findall(r' id="([^"]+)"', text)) for path, text in pages.items()}
    files = {path for path in site.rglob("*") if path.is_file()}
    folders = {path.parent for path in files}
    broken = []
    for path, text in pages.items():
        for target in set(re.findall(r'(?:href|src)="([^"]+)"', text)):
            parts = urlsplit(unescape(target))
            if parts.scheme or parts.netloc or target.startswith("#__"):
                continue
            other = Path(normpath(path.parent / unquote(parts.path))) if parts.path else path
            if other in folders:
                other /= "index.html"
            if other not in files or not (parts.fragment == "" or parts.fragment in places.get(other, ())):
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_every_link_of_a_page_leads_to_something_in_the_repository():
    """A reader of the repository sees no built site."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    broken = []
    for name in listed.stdout.split():
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        targets = re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", text)
        broken += [(name, one) for one in targets if ":" not in one and not (ROOT / name).parent.joinpath(one).exists()]
    assert broken == []


def test_links_to_other_sites_have_the_form_of_one(pages):
    targets = {unescape(target) for text in pages.values() for target in re.findall(r'href="(\w+:[^"]+)"', text)}
    assert targets
    wrong = [one for one in targets if urlsplit(one).scheme != "https" or "." not in urlsplit(one).netloc]
    assert wrong == []


def test_a_guide_says_in_words_what_a_block_presupposes(pages, site):
    for page in DOCS.glob("how-to/*.md"):
        needs = re.findall(r"^<!-- needs: ([^>]+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
        said = len(re.findall(r'<p><em class="needs">(?:Needs |需要)', pages[site / f"how-to/{page.stem}.html"]))
        assert said == sum(one not in UNSAID for one in needs), page.name


def test_pages_fetch_nothing_from_elsewhere(pages):
    fetched = {
        one
        for text in pages.values()
        for one in re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?:[^"]+)"', text)
    }
    assert {one for one in fetched if 'rel="canonical"' not in one} == set()


def test_the_search_finds_pages_of_every_part(site):
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    places = {one["location"].partition("#")[0] for one in found}
    assert {"first-steps.html", "how-to/decode.html", "reference/rules.html", "reference/commands/audit.html",
            "catalogue/dts-canal.html", "adr/0001-one-kernel-precedents.html"} <= places  # fmt: skip


@pytest.mark.parametrize("word", ["漂移", "隔离区", "台账", "时区"])
def test_the_search_knows_the_words_of_pages_in_chinese(site, word):
    """Chinese has no spaces: the words of a text are divided when the site is built."""
    assert places_of(site, word) & {"index.zh.html", "first-steps.zh.html"}


@pytest.mark.parametrize(
    ("word", "guide"),
    [("漂移", "detect"), ("隔离区", "replay"), ("台账", "decode"), ("时区", "table-contracts"), ("位点", "lakehouse"),
     ("检查点", "follow"), ("重放", "unknown-topic"), ("偏移量", "index")],
)  # fmt: skip
def test_the_search_knows_the_words_of_guides_in_chinese(site, word, guide):
    assert f"how-to/{guide}.zh.html" in places_of(site, word)


def places_of(site, word):
    """The pages in whose text the search knows a word."""
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    return {one["location"].partition("#")[0] for one in found if word in re.split(r"[\u200b<>\s]", one["text"])}


@pytest.mark.nightly
@needs_browser
@pytest.mark.parametrize(
    ("query", "place"), [("redact quarantine", "how-to/decode.html"), ("漂移", "zh.html"), ("隔离区", "zh.html"),
                         ("台账", "zh.html"), ("时区", "zh.html")],
)  # fmt: skip
def test_a_reader_who_searches_is_led_to_the_page_and_nothing_is_fetched_from_elsewhere(site, query, place):
    serve = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server, launched() as browser, windows(browser) as show:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = show(f"{address}index.html")
        page.fill("input[name=query]", query)
        links = page.locator("a.md-search-result__link")
        for _ in range(240):
            page.press("input[name=query]", "End")  # a key that is pressed before the page listens is lost
            if links.count():
                break
            page.wait_for_timeout(250)
        found = page.eval_on_selector_all("a.md-search-result__link", "links => links.map(link => link.href)")
        server.shutdown()
    assert [one for one in found if one.partition("?")[0].partition("#")[0].endswith(place)]
    assert [one for one in page.asked if not one.startswith((address, "data:", "blob:"))] == []


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *what):
        pass


def test_every_command_and_option_is_in_the_reference(pages, site):
    missing = []
    for words, command in commands_of(typer.main.get_command(app)):
        text = unescape(pages[site / f"reference/commands/{words[0]}.html"])
        missing += [words for name in [" ".join(words)] if name not in text]
        missing += [(words, one) for parameter in command.params if not getattr(parameter, "hidden", False)
                    for one in parameter.opts if one.startswith("-") and one not in text and one != "--help"]  # fmt: skip
    assert missing == []


def commands_of(command, above=()) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, one in getattr(command, "commands", {}).items():
        yield (*above, name), one
        yield from commands_of(one, (*above, name))


def test_every_rule_has_a_place_in_the_reference(pages, site):
    text = pages[site / "reference/rules.html"]
    assert [rule.id for rule in rules() if f' id="{rule.id.lower()}"' not in text] == []


def test_every_key_of_the_report_is_in_the_reference(pages, site, capsys):
    assert main(["show", "report", "--schema", "json"]) == 0
    keys = set(keys_of(json.loads(capsys.readouterr().out)))
    text = re.sub("<wbr */?>", "", unescape(pages[site / "reference/report.html"]))
    assert "ledger" in keys
    assert {key for key in keys if not re.search(rf"\b{key}</code>", text)} == set()


def keys_of(schema) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for one in schema.values():
            yield from keys_of(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from keys_of(one)


def test_every_version_has_a_place_in_the_catalogue(pages, site):
    catalogue = shipped_catalogue()
    for subject in catalogue.subjects():
        text = pages[site / f"catalogue/{subject.replace('/', '-')}.html"]
        for version in catalogue.versions(subject):
            assert version.reference in text


def test_every_schema_is_served_under_the_path_of_its_id(site):
    for version in shipped_catalogue().all_versions():
        system, _, dialect = version.subject.partition("/")
        served = (site / f"schemas/{system}/{dialect}/v{version.number}.json").read_text(encoding="utf-8")
        assert served == version.folder.joinpath("message.schema.json").read_text(encoding="utf-8")
        assert json.loads(served)["$id"] == f"urn:cdc-contracts:{system}:{dialect}:v{version.number}"
    index = json.loads((site / "schemas/catalog.json").read_text(encoding="utf-8"))
    assert {name for one in index["schemas"] for name in one} == {"name", "description", "fileMatch", "url"}
    assert all(json.loads((site / one["url"]).read_text(encoding="utf-8"))["$schema"] for one in index["schemas"])


def test_every_decision_states_its_status(pages, site):
    text = pages[site / "adr/index.html"]
    assert [path.name for path in DOCS.glob("adr/*.md") if f'{path.stem}.html"' not in text] == []


def test_every_variable_of_the_environment_that_is_read_is_listed():
    listed = set(re.findall(r"`([A-Z_]+)`", (DOCS / "reference/environment.md").read_text(encoding="utf-8")))
    asked = re.compile(r"""environ(?:\.get\(|\[)"([A-Z_]+)"|"((?:CDC_CONTRACTS|CDCC|GITHUB|CI)_[A-Z_]+)\"""")
    sources = (
        path for top in ("api", "cli", "registry", "spark_checks", "testing") for path in (ROOT / top).rglob("*.py")
    )
    read = {name for path in sources for names in asked.findall(path.read_text(encoding="utf-8")) for name in names}
    assert read >= {"CDC_CONTRACTS_REGISTRY_URL", "CDC_CONTRACTS_STORE", "JAVA_HOME", "GITHUB_BASE_REF"}
    assert read - listed - {""} == set()


def test_every_exit_code_is_listed():
    table = (DOCS / "reference/exit-codes.md").read_text(encoding="utf-8")
    listed = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in row.split(", ")}
    raised = {one.exit_code for one in (CdcContractsError, *below(CdcContractsError))}
    told = {
        *exit_codes.EXIT_CODES.values(),
        exit_codes.USAGE,
        exit_codes.COULD_NOT_RUN,
        exit_codes.INTERRUPTED,
        exit_codes.TERMINATED,
    }
    assert listed == raised | told | {141}


def below(error) -> Iterator[type[CdcContractsError]]:
    for one in error.__subclasses__():
        yield one
        yield from below(one)


def test_the_readme_is_short_and_holds_the_command_that_runs_the_tests():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= README_BYTES
    command = "python3 -m venv .venv && .venv/bin/pip install -q -c requirements.lock -e '.[dev]' && .venv/bin/python -m pytest"
    assert command in text.splitlines()


def test_what_the_readme_links_to_is_there():
    targets = re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_what_builds_the_site_is_installed_for_development():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert any(one.startswith("mkdocs-material") for one in project["optional-dependencies"]["dev"])
    assert re.search(r"^mkdocs-material==", locked, re.MULTILINE)
