"""Page frame of every page: head, breadcrumbs, one style sheet, and a strict content security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

from starlette.responses import HTMLResponse

from cdc_contracts.registry.core.report.html_markup import Markup, cell, element, heading, join, row, table

HOME: Final = "/ui"
TITLE: Final = "Registry"

Trail = Sequence[tuple[str, str]]
"""The breadcrumbs of a page: titles and addresses."""


def page(title: str, *content: Markup | None, trail: Trail = (), status: int = 200) -> HTMLResponse:
    """Return a page."""
    ways = [element("li", element("a", name, href=href)) for name, href in ((TITLE, HOME), *trail)]
    way = element("nav", element("ol", *ways), class_="trail", aria_label="Breadcrumbs")
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · cdc-contracts"),
        element("style", Markup(_style())),
    ]
    body: list[Markup | None] = [
        way if title != TITLE else None,
        element("main", element("h1", title), *content),
        element("footer", element("p", "cdc-contracts")),
    ]
    whole = element("html", element("head", join(head, "\n")), element("body", join(body, "\n")), lang="en")
    return HTMLResponse(f"<!doctype html>\n{whole}\n", status, _headers())


def link(path: str, **asked: str | int) -> str:
    """Return the address of a page. What it shows is named in the query, which can hold any name."""
    return f"{HOME}{path}?{urlencode(asked)}" if asked else f"{HOME}{path}"


def section(title: str, *content: Markup | None) -> Markup | None:
    """Return content under a heading, None without content."""
    if not any(content):
        return None
    name = "".join(char if char.isalnum() else "-" for char in title.lower())
    return element("section", element("h2", title, id=name), *content, aria_labelledby=name)


def listing(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup | None:
    """Return a table that becomes a list of cards in a narrow window; None without rows."""
    made = [
        row(
            element("th", cells[0], scope="row", role="rowheader"),
            *(cell(text, label=name) for name, text in zip(head[1:], cells[1:], strict=True)),
        )
        for cells in rows
    ]
    return table(made, head=[heading(name) for name in head], kind="cards listing") if made else None


@cache
def _style() -> str:
    report = files("cdc_contracts.registry.core.report").joinpath("report.css").read_text(encoding="utf-8")
    return report + files("cdc_contracts.registry.server.ui").joinpath("web.css").read_text(encoding="utf-8")


@cache
def _headers() -> dict[str, str]:
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
    return {
        "Content-Security-Policy": allowed + "base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
