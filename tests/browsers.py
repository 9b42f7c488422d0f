"""A real browser for tests of pages."""

import contextlib
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
PHONE, TABLET, DESK = ({"width": width, "height": 800} for width in (375, 760, 1280))

needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: `apt-get install chromium` (`.ci/run` does), then run again"
)


@contextlib.contextmanager
def launched():
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


@contextlib.contextmanager
def windows(browser):
    """A function that opens an address in a window of its own and returns the page, with what it asked for."""
    contexts = []

    def show(address, *, size=DESK, **options):
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        page.goto(address)
        return page

    yield show
    for context in contexts:
        context.close()
