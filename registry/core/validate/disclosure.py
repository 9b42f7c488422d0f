"""Disclosure: the values of a message outside rows that may be shown unredacted, as a version knows them.

A value is shown if it is valid at its place: a member by its schema, a code by the known codes, a valid time, a type
or a key by its name. An invalid value may be anything, so it is not shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache, partial
from typing import Any, Final

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.envelope_schemas import Check, compile_schema, is_integer
from cdc_contracts.registry.core.contract.known_codes import is_known
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.relations import relation_of_index
from cdc_contracts.registry.core.message.envelope_times import read_time
from cdc_contracts.registry.core.message.primary_keys import read_names
from cdc_contracts.registry.core.validate.jdbc_type_codes import is_type_code
from cdc_contracts.registry.core.values import Number

Path = tuple[str, ...]

_OF_ONE_VALUE: Final = ("type", "enum", "const", "pattern", "minimum")
_LISTED: Final = "epoch-millis-list-last"
_DEEPEST: Final = 8
_PLACE_OF_SIZE: Final = re.compile(r"[0-9]+/[0-9]+", re.ASCII)
_WHOLE: Final = re.compile(r"-?[0-9]+", re.ASCII)
_RELEASE: Final = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}(?:[.-][A-Z][A-Za-z]{1,9}[0-9]{0,3})?", re.ASCII)


@dataclass(frozen=True)
class Disclosure:
    """The parts of a message that may be shown: values at places, in lists there, and below others, as stated for each.

    `keys` is the path of key column names, which have to be columns. `images` are the paths of rows, `statement`
    that of a DDL statement. Words of the `catalogue` are never secret outside rows.
    """

    values: Mapping[Path, Check]
    items: Mapping[Path, Check]
    below: Mapping[Path, Callable[[Path, Any], bool]]
    images: frozenset[Path]
    keys: tuple[Path, Place] | None = None
    statement: Path | None = None
    catalogue: Catalogue | None = None

    def knows(self, path: Path) -> bool:
        """Return whether there is a member outside of rows at a place."""
        return path in self.values or any(path[: len(one)] == one for one in self.below)

    def takes(self, path: Path, value: Any, is_column: Callable[[str], bool], *, listed: bool) -> bool:
        """Return whether the value of a member may be shown: a text, number or boolean, or one in a list (`listed`)."""
        if not self.knows(path) or path in self.below:
            return False
        if self.catalogue is not None and isinstance(value, str) and is_known(value, self.catalogue):
            return True
        if self.keys is not None and path == self.keys[0]:
            names = _key_names(value, self.keys[1]) if listed == (self.keys[1].reading == "list") else None
            return names is not None and all(map(is_column, names))
        if path in self.values:
            check = (self.items if listed else self.values).get(path)
            return check is not None and check(value)
        return any(takes(path[len(one) :], value) for one, takes in self.below.items() if path[: len(one)] == one)

    def names_at(self, path: Path) -> bool:
        """Return whether the members of an object may be named; those of a column's value may not."""
        return self.knows(path) or not any(path[:depth] in self.images for depth in range(len(path)))


NOTHING: Final = Disclosure({}, {}, {}, frozenset())


@lru_cache(64)
def disclosure_of(version: Version) -> Disclosure:
    """Return what may be shown of the messages of a version."""
    meaning = version.meaning
    envelope, columns, ddl = meaning.envelope, meaning.columns, meaning.ddl
    rows = {split_pointer(at): meaning.images.non_column_members(at) for at in meaning.images.pointers()}
    images = frozenset(rows)
    below: dict[Path, Callable[[Path, Any], bool]] = {}
    if columns.schema_block is not None:
        below[split_pointer(columns.schema_block.at)] = lambda _, value: True
    if columns.codes is not None:
        any_code = columns.codes.table == "any"
        below[split_pointer(columns.codes.at)] = lambda _, value: (
            is_integer(value) and (any_code or is_type_code(value.token))
        )
    if columns.types != "none":
        typed = _takes_type(version, columns.types)
        if columns.types.at is not None:
            below[split_pointer(columns.types.at)] = typed
        if columns.types.in_image is not None:
            below |= {(*path, columns.types.in_image): typed for path in images}
    keys, statement = envelope.primary_key_values, ddl.text if ddl else None
    secret = {split_pointer(place.at) for place in (keys, statement) if place is not None and place.at is not None}
    known, result = _known(version), dict(_member_checks(meaning))
    values = {path: _all_of(_any_of(schemas), result.get(path)) for path, schemas in known.items()}
    items = {path: _any_of([one["items"] for one in schemas if "items" in one]) for path, schemas in known.items()}
    if envelope.process_time is not None and envelope.process_time.form == _LISTED:
        items[split_pointer(envelope.process_time.at or "")] = partial(_is_time, envelope.process_time)
    key = envelope.primary_key
    return Disclosure(
        {path: check for path, check in values.items() if path not in secret and not _is_in_row(path, rows)},
        items,
        below,
        images,
        None if key is None or key.in_value is None else (split_pointer(key.in_value), key),
        split_pointer(statement.at) if statement is not None and statement.at is not None else None,
        version.catalogue,
    )


def _is_in_row(path: Path, rows: Mapping[Path, frozenset[str]]) -> bool:
    """Return whether a place is an image, or a column of one, given the members of each that are no columns."""
    above = [depth for depth in range(1, len(path)) if path[:depth] in rows]
    return path in rows or any(path[depth] not in rows[path[:depth]] for depth in above)


def known_members(version: Version) -> frozenset[Path]:
    """Return where the schema of a message has a member; lists are not part of the path, and columns are no members."""
    return frozenset(_known(version))


@lru_cache(64)
def _known(version: Version) -> Mapping[Path, tuple[Mapping[str, Any], ...]]:
    """Return the schemas of each member."""
    found: dict[Path, tuple[Mapping[str, Any], ...]] = {}
    for path, schema in _members(version.schema, version.schema, ()):
        found[path] = (*found.get(path, ()), schema)
    return found


def _members(
    whole: Mapping[str, Any], schema: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    schema = _resolved(whole, schema)
    if isinstance(schema.get("items"), dict):
        schema = _resolved(whole, schema["items"])
    for name, result in schema.get("properties", {}).items():
        here, below = (*path, name), _resolved(whole, result)
        inner = below.get("items")
        yield here, {**below, "items": _resolved(whole, inner)} if isinstance(inner, dict) else below
        if len(path) < _DEEPEST:
            yield from _members(whole, below, here)


def _resolved(whole: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    return found


def _any_of(schemas: Sequence[Mapping[str, Any]]) -> Check:
    checks = [compile_schema({name: one[name] for name in _OF_ONE_VALUE if name in one}) for one in schemas]
    return lambda value: any(check is not None and check(value) for check in checks)


def _all_of(check: Check, other: Check | None) -> Check:
    return check if other is None else lambda value: check(value) and other(value)


def _member_checks(meaning: Meaning) -> Iterator[tuple[Path, Check]]:
    """Yield the checks of member values that the contract adds to their schema."""
    envelope = meaning.envelope
    for pointer, pattern in meaning.patterns.items():
        yield split_pointer(pointer), partial(_matches, compile_pattern(pattern))
    for pointer, codes in meaning.enums.items():
        yield split_pointer(pointer), partial(_is_one_of, frozenset(codes))
    for place in envelope.times:
        if place.form != _LISTED:
            yield split_pointer(place.at or ""), partial(_is_time, place)
    index = relation_of_index(meaning)
    if index is not None:
        yield split_pointer(index.places[0]), partial(_matches, _PLACE_OF_SIZE.fullmatch)
    position = envelope.position
    if position is not None and position.at is not None and position.order == "integer":
        yield split_pointer(position.at), partial(_is_position, position)
    if envelope.release is not None:
        yield split_pointer(envelope.release.at or ""), partial(_matches, _RELEASE.fullmatch)
    kind = envelope.source_kind
    if kind is not None and kind.kinds is not None:
        yield split_pointer(kind.at or ""), partial(_is_one_of, frozenset(kind.kinds))
    yield split_pointer(envelope.op.at), partial(_is_one_of, frozenset((*meaning.ops, *meaning.tolerated_ops)))


def _matches(finds: Callable[[str], Any], value: Any) -> bool:
    return isinstance(value, str) and bool(finds(value))


def _is_one_of(codes: frozenset[str], value: Any) -> bool:
    return isinstance(value, str) and value in codes


def _is_position(place: Place, value: Any) -> bool:
    if isinstance(value, str):
        return value == place.null_text or _WHOLE.fullmatch(value) is not None
    return is_integer(value)


def _is_time(place: Place, value: Any) -> bool:
    """Return whether a member holds a time, possibly in a list, or the value that means none."""
    if isinstance(value, str) and value == place.null_text:
        return True
    if is_integer(value) and place.absent_value is not None and value == place.absent_value:
        return True
    return read_time([value] if place.form == _LISTED else value, place, UTC).micros is not None


def _takes_type(version: Version, types: ColumnTypes) -> Callable[[Path, Any], bool]:
    """Return a function that decides whether a value at a path below the column types may be shown."""
    mappings = [version.catalogue.mapping(name) for name in version.mapping_names()]

    def is_type(value: Any) -> bool:
        result = value.token if isinstance(value, Number) else value
        return isinstance(result, str) and any(mapping.form_of(result) is not None for mapping in mappings)

    def takes(path: Path, value: Any) -> bool:
        if types.type is not None and path[-1:] == (types.name,):
            return isinstance(value, str)  # the name of a column
        if types.type is not None and path[-1:] != (types.type,):
            return isinstance(value, bool | Number)  # lengths and the like
        return is_type(value)

    return takes


def _key_names(value: Any, place: Place) -> list[str] | None:
    """Return the names of key columns in a text; None if it has none."""
    if not isinstance(value, str):
        return None
    if place.reading == "json-text-groups":
        try:
            groups = json.loads(value)
        except (ValueError, RecursionError):
            return None
        lists = list(groups.values()) if isinstance(groups, dict) else [groups]
        names = [name for one in lists for name in (one if isinstance(one, list) else [one]) if name is not None]
        return names if all(isinstance(name, str) for name in names) else None
    return read_names(value, place) if place.reading == "joined-u0001" else [value]
