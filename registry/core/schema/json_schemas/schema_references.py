"""Schema references: the targets of `$ref`, in the schema itself or one submitted with it. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema_rs

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.common.subschemas import REFERENCES, subschemas
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import METASCHEMAS, draft_of
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

_LONGEST_SHOWN: Final = 80
_ROOT: Final = "schema:"
"""Stands for the address of a schema that gives itself none."""
_REF_ALONE: Final = frozenset({jsonschema_rs.Draft4, jsonschema_rs.Draft6, jsonschema_rs.Draft7})
"""Drafts that ignore keywords beside `$ref`."""


@dataclass(frozen=True, slots=True, eq=False)
class Subschema:
    """A schema inside a document: its pointer from the root there, and which address its references start from."""

    schema: dict[str, Any]
    base: str
    pointer: str


class SchemaAddresses:
    """What can be referred to: by address, by address and anchor, and by pointers into both."""

    def __init__(self, document: Any, references: Mapping[str, Any]) -> None:
        self._resources: dict[str, Subschema] = {}
        self._anchors: dict[tuple[str, str], Subschema] = {}
        self._resolved: dict[tuple[str, str], Subschema | None] = {}
        self.draft = draft_of(document)
        self._document = document
        self.root = _ROOT
        for name, referred in references.items():
            self._add(referred, name)
        self._add(document, _ROOT)

    def _add(self, document: Any, base: str) -> None:
        self._resources[base] = Subschema(document if isinstance(document, dict) else {}, base, "")
        for one in all_inside(document, self.draft, base):
            address = self.base_of(one.schema, one.base)
            self._resources.setdefault(address, one)
            for anchor in _anchors(one.schema):
                self._anchors.setdefault((address, anchor), one)

    def base_of(self, schema: dict[str, Any], base: str) -> str:
        """Return the address that references inside a schema start from."""
        return base_of(schema, base, self.draft)

    def inside(self, place: Subschema) -> Iterator[Subschema]:
        """Yield the schemas directly inside one."""
        return inside(place, self.draft)

    def reached(self) -> Iterator[Subschema]:
        """Yield the document and every schema that lies inside it or that a reference in it leads to, each once.

        Raises SchemaFault if a reference leads to nothing.
        """
        waiting = [Subschema(self._document, self.root, "")]
        seen: set[int] = set()
        while waiting:
            one = waiting.pop()
            if id(one.schema) in seen:
                continue
            seen.add(id(one.schema))
            yield one
            waiting.extend(self.inside(one))
            for key in REFERENCES:
                target = self.resolve(one.schema.get(key), one)
                if target is not None:
                    waiting.append(target)

    def resolve(self, reference: Any, place: Subschema) -> Subschema | None:
        """Return what a reference leads to, or None if that is a metaschema.

        Raises SchemaFault if it leads to nothing in the schema and those submitted with it.
        """
        if not isinstance(reference, str):
            return None
        key = (self.base_of(place.schema, place.base), reference)
        if key not in self._resolved:
            self._resolved[key] = self._find(*key, place)
        return self._resolved[key]

    def _find(self, base: str, reference: str, place: Subschema) -> Subschema | None:
        try:
            address, fragment = urldefrag(urljoin(base, reference)) if reference[:1] != "#" else (base, reference[1:])
        except ValueError:
            raise SchemaFault(f"`$ref` is not a reference: {_shown(reference)}", place.pointer) from None
        if address.rstrip("#") in METASCHEMAS:
            return None
        by_name = reference.partition("#")[0]
        document = self._resources.get(address, self._resources.get(by_name))
        if document is None:
            raise SchemaFault(
                f"`$ref` points outside the schema: {_shown(reference)}",
                place.pointer,
                hint="Nothing is fetched from the network or from files. Put it into `$defs`, or add it as a "
                "reference.",
            )
        found = self._find_inside(document, address, unquote(fragment))
        if found is None:
            raise SchemaFault(
                f"`$ref` does not resolve: {_shown(reference)}", place.pointer, hint="Define it, or fix the reference."
            )
        return found

    def _find_inside(self, resource: Subschema, address: str, fragment: str) -> Subschema | None:
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((address, fragment))
        found: Any = resource.schema
        base = resource.base
        for part in split_pointer(fragment):
            if isinstance(found, dict):
                base, found = self.base_of(found, base), found.get(part)
            elif isinstance(found, list) and part.isascii() and part.isdecimal():
                found = dict(enumerate(found)).get(int(part[:_LONGEST_SHOWN]))
            else:
                return None
        if isinstance(found, bool):
            found = {}  # which asks nothing, as `true` and `false` do
        pointer = resource.pointer + fragment
        return Subschema(found, base, pointer) if isinstance(found, dict) else None


def base_of(schema: dict[str, Any], base: str, draft: int) -> str:
    """Return the address that references inside a schema start from: its own, save where `$ref` hides that."""
    own = schema.get("id" if draft == jsonschema_rs.Draft4 else "$id")
    if not isinstance(own, str) or own.startswith("#") or ("$ref" in schema and draft in _REF_ALONE):
        return base
    try:
        return urldefrag(urljoin(base, own))[0]
    except ValueError:
        return base


def inside(place: Subschema, draft: int) -> Iterator[Subschema]:
    """Yield the schemas directly inside one."""
    base = base_of(place.schema, place.base, draft)
    for _, pointer, schema in subschemas(place.schema):
        yield Subschema(schema, base, place.pointer + pointer)


def all_inside(document: Any, draft: int, base: str = _ROOT) -> Iterator[Subschema]:
    """Yield a document and all schemas that lie inside it."""
    waiting = [Subschema(document, base, "")] if isinstance(document, dict) else []
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(inside(one, draft))


def _anchors(schema: dict[str, Any]) -> Iterator[str]:
    for key in ("$anchor", "$dynamicAnchor"):
        if isinstance(schema.get(key), str):
            yield schema[key]
    for key in ("$id", "id"):  # how drafts before 2019-09 write an anchor
        own = schema.get(key)
        if isinstance(own, str) and own.startswith("#"):
            yield own[1:]


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
