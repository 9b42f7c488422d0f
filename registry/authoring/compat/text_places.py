"""Text places: where a JSON Pointer leads in the text of a JSON or YAML document: line and column, from 1."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import yaml

from cdc_contracts.registry.authoring.compat.compatibility_verdict import TextPlace
from cdc_contracts.registry.core.common.pointers import split_pointer

Position = tuple[int, int]
Parts = tuple[str, ...]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


def find_positions(text: str, pointers: Collection[str]) -> dict[str, Position]:
    """Return the position of each pointer: of a member its name, of an element its value.

    Where a text does not have it, the position of the deepest place on the way that it has; where there is none, or
    the text is neither JSON nor YAML, the pointer is left out. A text is read once for all pointers.
    """
    wanted = {pointer: split_pointer(pointer) for pointer in pointers}
    ways = {parts[:length] for parts in wanted.values() for length in range(len(parts) + 1)}
    if text.lstrip()[:1] in {"{", "["}:
        offsets = dict(_scan_json(text, ways))
        known = _positions(text, offsets)
    else:
        known = dict(_scan_yaml(text, ways))
    found = {}
    for pointer, parts in wanted.items():
        nearest = next((parts[:length] for length in range(len(parts), -1, -1) if parts[:length] in known), None)
        if nearest is not None:
            found[pointer] = known[nearest]
    return found


def find_lines(file: str | None, text: str, places: Sequence[TextPlace | None]) -> list[TextPlace | None]:
    """Return places with their lines and columns in the text of a file; those in other files stay as they are."""
    wanted = {place.pointer for place in places if place is not None and place.file == file}
    known = find_positions(text, wanted) if wanted else {}
    found: list[TextPlace | None] = []
    for place in places:
        if place is None or place.file != file or place.pointer not in known:
            found.append(place)
        else:
            line, column = known[place.pointer]
            found.append(replace(place, line=line, column=column))
    return found


def _positions(text: str, offsets: dict[Parts, int]) -> dict[Parts, Position]:
    """Return line and column of each offset, counting lines once from the first to the last."""
    found = {}
    line, start = 1, 0
    for parts, offset in sorted(offsets.items(), key=lambda one: one[1]):
        line += text.count("\n", start, offset)
        start = offset
        found[parts] = line, offset - text.rfind("\n", 0, offset)
    return found


def _scan_json(text: str, ways: set[Parts]) -> Iterator[tuple[Parts, int]]:
    """Yield where each wanted place stands; what is not on a wanted way is only counted through."""
    open_ones: list[_Open] = [_Open((), is_object=False)]
    left = len(ways)
    for token in _TOKEN.finditer(text):
        sign, inside = text[token.start()], open_ones[-1]
        if sign in "}]":
            open_ones.pop()
        elif sign == ",":
            inside.number += 1
            inside.name = None
        elif sign != ":":
            is_name = inside.is_object and inside.name is None
            if is_name:
                inside.name = _ESCAPE.sub(_unescape, token.group()[1:-1])
            here = inside.way() if len(open_ones) > 1 else ()
            wanted = here in ways
            if wanted and here is not None and is_name == inside.is_object:
                yield here, token.start()
                left -= 1
                if not left:
                    return
            if sign in "{[" and not is_name:
                open_ones.append(_Open(here if wanted else None, is_object=sign == "{"))


@dataclass(slots=True)
class _Open:
    """An object or array that is being read; `parts` is None if no wanted way leads into it."""

    parts: Parts | None
    is_object: bool
    number: int = 0
    name: str | None = None

    def way(self) -> Parts | None:
        """Return the parts of the member or element that is read now."""
        if self.parts is None:
            return None
        return (*self.parts, self.name or "") if self.is_object else (*self.parts, str(self.number))


def _unescape(found: re.Match[str]) -> str:
    return str(json.loads(f'"{found.group()}"'))


def _scan_yaml(text: str, ways: set[Parts]) -> Iterator[tuple[Parts, Position]]:
    try:
        root = _compose(text)
    except yaml.YAMLError:
        return
    waiting: list[tuple[Any, Parts]] = [(root, ())]
    yield (), (1, 1) if root is None else (root.start_mark.line + 1, root.start_mark.column + 1)
    while waiting:
        node, parts = waiting.pop()
        below: list[tuple[str, Any, Any]] = []
        if isinstance(node, yaml.MappingNode):
            below = [(str(key.value), key, value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            below = [(str(number), value, value) for number, value in enumerate(node.value)]
        for name, marked, value in below:
            here = (*parts, name)
            if here in ways:
                yield here, (marked.start_mark.line + 1, marked.start_mark.column + 1)
                waiting.append((value, here))


@lru_cache(16)  # the same few files of a comparison, finding by finding
def _compose(text: str) -> Any:
    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
