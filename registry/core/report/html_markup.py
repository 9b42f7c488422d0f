"""HTML markup: HTML and SVG elements from plain text, which is escaped so that no name can become an element."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from cdc_contracts.registry.core.common.safe_text import visible, visible_lines

Attribute = str | int | float | bool | None

_EMPTY: Final = frozenset({"meta", "br", "input", "col"})
_VOID: Final = frozenset({*_EMPTY, "rect", "line", "path"})


class Markup(str):
    """Text that consists of elements; any other text is escaped before it becomes part of one."""

    __slots__ = ()


def element(name: str, /, *content: str | None, **attributes: Attribute) -> Markup:
    """Return an element. `class_` means class, `aria_label` aria-label; what is None is left out."""
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_attribute(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID and not content:
        return Markup(f"<{name}{given}>" if name in _EMPTY else f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{join(content)}</{name}>")


def join(parts: Iterable[str | None], between: str = "") -> Markup:
    """Return elements and texts one after the other."""
    return Markup(_markup(between).join(_markup(part) for part in parts if part is not None))


def name_of(text: str) -> Markup:
    """Return a name from outside: with its own direction and font, and without invisible characters."""
    return element("code", element("bdi", visible(text)))


def with_code(text: str) -> Markup:
    """Return one of our sentences, with the text between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick in a quoted name
        return join([text])
    return join(element("code", part) if number % 2 else part for number, part in enumerate(parts))


def block(text: str, **attributes: Attribute) -> Markup:
    """Return text that keeps its lines."""
    return element("pre", element("code", join(map(Markup, map(escape, visible_lines(text))), "\n")), **attributes)


def fold(title: str, *content: str | None) -> Markup:
    """Return content that the reader can expand."""
    return element("details", element("summary", title), *content, class_="fold")


def more(number: int, noun: str) -> Markup | None:
    """Return the line that says what the page leaves out, None if it is complete."""
    return element("p", f"and {number:,} more {noun}, in the JSON report", class_="more") if number > 0 else None


def cell(content: str | None, kind: str | None = None, *, label: str | None = None) -> Markup:
    """Return a cell of a table; where cells stand under one another it shows its label."""
    return element("td", content, class_=kind, data_label=label, role="cell")


def row(*cells: Markup, kind: str | None = None) -> Markup:
    """Return a row of a table. The roles keep it a table for screen readers, whatever its layout."""
    return element("tr", *cells, role="row", class_=kind)


def table(rows: Iterable[Markup], *, head: Iterable[Markup] = (), caption: str | None = None, kind: str) -> Markup:
    """Return a table of rows under a head or a caption."""
    cells = list(head)
    return element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", row(*cells)) if cells else None,
        element("tbody", join(rows, "\n")),
        class_=kind,
        role="table",
    )


def heading(text: str, kind: str | None = None) -> Markup:
    """Return the heading of a column."""
    return element("th", text, scope="col", class_=kind)


def _markup(part: str) -> Markup:
    return part if isinstance(part, Markup) else Markup(escape(part if part == "\n" else visible(part, most=None)))


def _attribute(value: Attribute) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return escape(visible(str(value), most=None) if isinstance(value, str) else str(value))
