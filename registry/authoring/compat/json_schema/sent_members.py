"""Sent members: whether a producer sends a message, by the names of its members, as the policy cdc reads a schema.

What is left open when a schema is closed is decided here for one message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.closing import is_map
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import (
    apply_in_place,
    follow,
    named_by,
    step_into,
)
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import ELEMENT, MEMBER
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.common.subschemas import every_place
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS

_ALTERNATIVES: Final = ("anyOf", "oneOf")
_TESTED: Final = ("if", "not")
_MOST_CHOICES: Final = 200
"""Choices of alternatives that are tried for one value; beyond them it is not known that it is sent."""

_Applied = list[Mapping[str, Any]]


def holds_only_named(document: BundledSchema, message: Any, reopened: Collection[str] = ()) -> bool:
    """Return whether a message has only members that the schema names, where it describes an object and is no map.

    Of alternatives each describes an object on its own: one that the object fits has to name all, together with what
    is around it. `reopened` are the pointers of schemas that are open as no object has only the members that they name.
    """
    return _Sending(document, message, reopened).is_sent([document.value], message, "")


class _Sending:
    """The schemas that one message fits, and what they name of it."""

    def __init__(self, document: BundledSchema, message: Any, reopened: Collection[str]) -> None:
        self._document = document.value
        self._fitting = _find_fitting(document, message)
        self._reopened = reopened
        self._pointers: dict[int, list[str]] = defaultdict(list)
        for pointer, schema in every_place(self._document) if reopened or self._fitting is not None else ():
            self._pointers[id(schema)].append(pointer)

    def is_sent(self, schemas: list[Any], value: Any, at: str) -> bool:
        """Return whether a value at a place of the message has only members that some choice of alternatives names."""
        if not isinstance(value, dict | list):
            return True
        return any(self._is_named(one, value, at) for one in islice(self._choose(schemas, at), _MOST_CHOICES))

    def _is_named(self, applied: _Applied, value: Any, at: str) -> bool:
        if isinstance(value, list):
            steps = [((ELEMENT, str(number)), held) for number, held in enumerate(value)]
        else:
            names = {name for one in applied for name in named_by(one)}
            is_open = is_map(applied, names) or any(self._is_reopened(one) for one in applied)
            if not is_open and not value.keys() <= names:
                return False
            steps = [((MEMBER, name), held) for name, held in value.items()]
        return all(
            self.is_sent([part for one in applied for part in step_into(one, step)], held, at + join_pointer(step[1]))
            for step, held in steps
            if isinstance(held, dict | list)
        )

    def _is_reopened(self, schema: Mapping[str, Any]) -> bool:
        return bool(self._reopened) and any(pointer in self._reopened for pointer in self._pointers[id(schema)])

    def _choose(self, schemas: list[Any], at: str) -> Iterator[_Applied]:
        """Yield what applies together to a value, for each choice of the alternatives that it fits."""
        left: list[tuple[list[Any], _Applied]] = [(list(schemas), [])]
        while left:
            waiting, applied = left.pop()
            seen = set(map(id, applied))
            while waiting:
                one = waiting.pop()
                if not isinstance(one, dict) or id(one) in seen:
                    continue
                seen.add(id(one))
                applied.append(one)
                waiting += self._beside(one)
                options = [self._options(one, word, at) for word in _ALTERNATIVES if word in one]
                chosen, *others = islice(product(*options), _MOST_CHOICES)
                left += [([*waiting, *other], list(applied)) for other in others]
                waiting += chosen
            tested = [one[word] for one in applied for word in _TESTED if word in one]
            yield [*applied, *(one for part in tested for one in apply_in_place(self._document, part))]

    def _beside(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield what applies together with a schema, whatever is chosen."""
        yield from schema.get("allOf", ())
        yield from (schema[word] for word in ("then", "else") if word in schema)
        yield from (*schema.get("dependentSchemas", {}).values(), *schema.get("dependencies", {}).values())
        if isinstance(schema.get("$ref"), str):
            yield follow(self._document, schema["$ref"])

    def _options(self, schema: Mapping[str, Any], word: str, at: str) -> list[Any]:
        """Return the alternatives that a value fits; all where none is known to."""
        parts: list[Any] = schema[word]
        places = [f"{pointer}/{word}/" for pointer in self._pointers[id(schema)]]
        fitting = self._fitting or ()
        found = [
            one for number, one in enumerate(parts) if any((f"{place}{number}", at) in fitting for place in places)
        ]
        return found or parts or [None]


def _find_fitting(document: BundledSchema, message: Any) -> set[tuple[str, str]] | None:
    """Return which schemas fit what of a message, each by its pointer; None if it is not known, or makes no choice."""
    if not isinstance(document.value, dict) or not document.mentions(*_ALTERNATIVES):
        return None
    plain = {word: held for word, held in document.value.items() if word != "$id"}
    try:
        validator = VALIDATORS[document.draft](plain, offline=True, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None
    found = validator.evaluate(message).list()["details"]
    return {(one["schemaLocation"], one["instanceLocation"]) for one in found if one["valid"]}
