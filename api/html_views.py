"""HTML views: how notebooks show changes and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def show_images(caption: str, images: Mapping[str, Mapping[str, Any] | None]) -> str:
    """Return a table with a line for each column: its value in each image, in bold where they differ."""
    there = {title: image for title, image in images.items() if image is not None}
    names = dict.fromkeys(name for image in there.values() for name in image)
    return _table(caption, ["column", *there], ([_code(name), *_cells(there.values(), name)] for name in names))


def show_lines(caption: str, titles: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table of texts."""
    return _table(caption, titles, ([_code(str(cell)) for cell in line] for line in lines))


def _cells(images: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    shown = ["" if name not in image else "NULL" if image[name] is None else repr(image[name]) for image in images]
    differ = len(set(shown)) > 1
    return [f"<b>{_code(text)}</b>" if differ and text else _code(text) for text in shown]


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>" if text else ""


def _table(caption: str, titles: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
