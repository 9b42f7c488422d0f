"""Members: whether an object of one shape accepts every object of another, decided name by name.

The names of members fall into a few kinds: each that a schema lists, and for the rest the ways in which the patterns
of both can match a name together. For one name of each kind both schemas say what its value has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.json_schema.object_differences import (
    EVALUATING,
    members_of,
    others_word_of,
    required_of,
)
from cdc_contracts.registry.authoring.compat.json_schema.pattern_languages import is_within, names_beside
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import as_key
from cdc_contracts.registry.authoring.compat.json_schema.schema_shapes import (
    ANY,
    KEYWORDS,
    NEVER,
    SchemaShape,
    ShapeReader,
)
from cdc_contracts.registry.core.common.subschemas import REFERENCES

Contains = Callable[[SchemaShape, SchemaShape], bool]
"""Says whether it is certain that a reader's shape takes all that a writer's does."""

_NAMED: Final = frozenset({
    "properties", "required", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames",
})  # fmt: skip
_MOST_NAMES: Final = 200


@dataclass(frozen=True)
class _Object:
    """What one shape says of the members of an object."""

    shape: SchemaShape
    reader: ShapeReader

    @property
    def patterns(self) -> Mapping[str, Any]:
        """The schemas of members whose names match a pattern."""
        found: Mapping[str, Any] = self.shape.schema.get("patternProperties", {})
        return found

    @property
    def names(self) -> Any:
        """The schema of all names."""
        return self.shape.schema.get("propertyNames", True)

    def name_patterns(self) -> set[str]:
        """Return the patterns that distinguish names."""
        asked = self.names.get("pattern") if isinstance(self.names, dict) else None
        return {*self.patterns, *([asked] if isinstance(asked, str) else [])}

    def shapes_of(self, name: str) -> Iterator[SchemaShape]:
        """Yield the shapes that the value of a member has to fit, all of them."""
        schema, at = self.shape.schema, self.shape.at
        found = [("properties", name)] if name in members_of(self.shape) else []
        found += [("patternProperties", pattern) for pattern in self.patterns if finds(pattern, name)]
        for word, key in found:
            yield self.reader.read(schema[word][key], (*at, word, key))
        if not found:
            word = others_word_of(self.shape)
            yield self.reader.read(schema.get(word, True), (*at, word))

    def refuses_name(self, name: str) -> bool:
        """Return whether no member may be called so, as far as a pattern of names says."""
        if isinstance(self.names, bool):
            return not self.names
        asked = self.names.get("pattern")
        return isinstance(asked, str) and not finds(asked, name)


def takes_objects(
    mine: tuple[SchemaShape, ShapeReader], theirs: tuple[SchemaShape, ShapeReader], contains: Contains
) -> bool:
    """Return whether it is certain that a reader's object takes each of a writer's."""
    writer, reader = _Object(*mine), _Object(*theirs)
    sent, taken = writer.shape.schema, reader.shape.schema
    listed = {*members_of(writer.shape), *members_of(reader.shape)}
    if len(listed) > _MOST_NAMES or not set(required_of(reader.shape)) <= set(required_of(writer.shape)):
        return False
    for word in taken.keys() & (KEYWORDS["object"] - _NAMED):
        if word not in sent or not _means_same(sent[word], taken[word]):
            return False
    if "unevaluatedProperties" in taken and taken.keys() & (EVALUATING - {"additionalProperties"}):
        return False
    others = names_beside(writer.name_patterns() | reader.name_patterns(), listed)
    if others is None or not _takes_names(writer.names, reader.names):
        return False
    return all(_takes_member(writer, reader, name, contains) for name in (*sorted(listed), *others))


def _takes_names(sent: Any, taken: Any) -> bool:
    """Return whether names are what a pattern says, or the writer's schema of them is the reader's.

    Names that a pattern refuses are looked at one by one.
    """
    plain = isinstance(taken, bool) or taken.keys() <= {"pattern", "type", "title", "description", "examples"}
    if plain and (isinstance(taken, bool) or taken.get("type", "string") == "string"):
        return True
    return _means_same(sent, taken)


def _means_same(sent: Any, taken: Any) -> bool:
    """Return whether two schemas are written alike; what a reference leads to may differ, however it is written."""
    text = as_key(sent)
    return text == as_key(taken) and not any(f'"{word}"' in text for word in REFERENCES)


def _takes_member(writer: _Object, reader: _Object, name: str, contains: Contains) -> bool:
    mine = list(writer.shapes_of(name))
    if writer.refuses_name(name) or any(one.kind == NEVER for one in mine):
        return True
    if reader.refuses_name(name):
        return False
    return all(theirs.kind == ANY or any(contains(one, theirs) for one in mine) for theirs in reader.shapes_of(name))


def takes_texts(sent: Mapping[str, Any], taken: Mapping[str, Any]) -> bool:
    """Return whether all texts of one schema certainly fit another, by their lengths and what their patterns match."""
    if taken.get("minLength", 0) > sent.get("minLength", 0):
        return False
    if "maxLength" in taken and sent.get("maxLength", taken["maxLength"] + 1) > taken["maxLength"]:
        return False
    if "pattern" not in taken or taken["pattern"] == sent.get("pattern"):
        return True
    return bool(is_within(sent.get("pattern", ""), taken["pattern"]))
