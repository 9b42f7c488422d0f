"""Differences of a capture: where a change was decoded to other values than those that the database held."""

from __future__ import annotations

from collections.abc import Iterator

from producers.captures import Capture
from producers.database_texts import canonical_text
from producers.decoded_captures import Decoded
from producers.expected_changes import Image
from producers.known_differences import ABSENT, NULL, Difference


def find_differences(capture: Capture, decoded: Decoded) -> Iterator[Difference]:
    """Yield what a decoded change has otherwise than the database, column by column."""
    expected, state = decoded.expected, decoded.expected.state
    place = lambda column: f"{state.table}.{column}"  # noqa: E731
    if decoded.op is None:
        for rule, path in decoded.refused:
            *side, column = path.removeprefix("/payload").strip("/").split("/")
            image = expected.before if side == ["before"] or expected.after is None else expected.after
            yield Difference(
                place(column), state.types.get(column, ABSENT), _shown((image or {}).get(column)), f"({rule})"
            )
        return
    for want, got in ((expected.before, decoded.before), (expected.after, decoded.after)):
        for column in sorted((want or {}).keys() | (got or {}).keys()):
            held, value = _find(want, column), _find(got, column)
            if held not in (ABSENT, NULL):
                text = canonical_text(capture.database, state.types[column], held)
                if text == value:
                    continue
            elif held == value:
                continue
            yield Difference(place(column), state.types.get(column, ABSENT), held, value)


def _find(image: Image | None, column: str) -> str:
    return _shown(image[column]) if image is not None and column in image else ABSENT


def _shown(text: str | None) -> str:
    return NULL if text is None else text
