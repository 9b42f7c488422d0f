"""Type matching: whether a reader's type matches a writer's at all; schema resolution asks it first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.core.schema.avro_types.type_graph import NAMED, PRIMITIVES, AvroField, AvroType

_PROMOTED: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
_TAKERS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset({kind, *_PROMOTED.get(kind, ())}) for kind in (*PRIMITIVES, *NAMED, "array", "map")
}
_FEW: Final = 16
"""So few branches are faster to scan than to look up."""
_INEXACT: Final = {("int", "float"), ("long", "float"), ("long", "double")}


def same_kind(reader: AvroType, writer: AvroType) -> bool:
    """Return whether a reader takes a writer's kind of type: the same, or one that it is promoted to."""
    return reader.kind == writer.kind or reader.kind in _PROMOTED.get(writer.kind, ())


def same_name(reader: AvroType, writer: AvroType) -> bool:
    """Return whether two named types have one name: without namespaces, or the writer's full one among the aliases."""
    return reader.last_name == writer.last_name or writer.name in reader.aliases


def loses_digits(reader: AvroType, writer: AvroType) -> bool:
    """Return whether a promotion is to a type that does not hold every value of the writer's."""
    return (writer.kind, reader.kind) in _INEXACT


def mixes_bytes_and_text(reader: AvroType, writer: AvroType) -> bool:
    """Return whether bytes are read as text, or the reverse."""
    return {writer.kind, reader.kind} == {"bytes", "string"}


def matches(reader: AvroType, writer: AvroType) -> bool:
    """Return whether a branch of a reader's union is one for a writer's type, before the fields of records are seen."""
    if "union" in (reader.kind, writer.kind):
        return True
    if not same_kind(reader, writer):
        return False
    if reader.kind in NAMED:
        return same_name(reader, writer) and reader.size == writer.size
    if reader.items is not None and writer.items is not None:
        return matches(reader.items, writer.items)
    return True


class Branches:
    """Finds the branch of a reader's union that takes a writer's type, also where there are thousands."""

    def __init__(self) -> None:
        self._known: dict[AvroType, dict[str, list[int]]] = {}

    def taker(self, reader: AvroType, writer: AvroType) -> int | None:
        """Return the place of the branch that takes a writer's type, or None.

        One of exactly the same kind and name is preferred, as in Apache's Java; then the first match, as specified.
        """
        places = range(len(reader.branches)) if len(reader.branches) <= _FEW else self._places(reader, writer)
        first = None
        for at in places:
            branch = reader.branches[at]
            if branch.kind in _TAKERS[writer.kind] and matches(branch, writer):
                if branch.label == writer.label:
                    return at
                first = at if first is None else first
        return first

    def _places(self, reader: AvroType, writer: AvroType) -> list[int]:
        if reader not in self._known:
            self._known[reader] = _by_name(reader)
        named = self._known[reader]
        keys = (writer.last_name, writer.name) if writer.name else ("",)
        return sorted({at for key in keys for at in named.get(key, ())})


def _by_name(union: AvroType) -> dict[str, list[int]]:
    """Return the places of branches by every name that a writer's type may match; unnamed ones are under no name."""
    found: dict[str, list[int]] = {}
    for at, branch in enumerate(union.branches):
        for name in {branch.last_name, *branch.aliases}:
            found.setdefault(name, []).append(at)
    return found


def written_field(field: AvroField, writer: Mapping[str, AvroField]) -> AvroField | None:
    """Return the field of the writer's record that a reader's field takes its value from."""
    found = (writer[name] for name in (field.name, *field.aliases) if name in writer)
    return next(found, None)
