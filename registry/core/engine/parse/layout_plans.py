"""Layout plans: built from what the envelopes of all versions of a subject have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.discriminators import asked_texts, pointers_of, valued_tests
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.relations import is_number, relations_of
from cdc_contracts.registry.core.engine.layouts.struct_layouts import AskedColumn, ImagePlan, LayoutPlan, TypePlan
from cdc_contracts.registry.core.engine.parse.listed_codes import list_members
from cdc_contracts.registry.core.engine.parse.schema_members import (
    bounded_collections,
    image_properties,
    members_of,
    unite_properties,
    value_constraints,
)
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.validate.drift_rule import reads_of
from cdc_contracts.registry.core.validate.rule_inputs import join_reads

_CLOSE: Final = {"name-to-type": b"}", "list-of-objects": b"]", "name-to-object": b"}}", "connect-schema": b"]"}

_ONLY_VALIDATED: Final = {"without_parameters", "with_parameters"}
"""What a contract says of types that does not decide how they are parsed."""


def make_plan(meanings: Sequence[Meaning], schemas: Sequence[Mapping[str, Any]]) -> LayoutPlan | None:
    """Return the plan for parsing messages of a subject, or None if they have to be validated one by one.

    Its versions place rows or keys too differently, or a name where no schema lists a member; or members that are no
    columns are not the same in each, or stand in rows of a list or beside types.
    """
    first = meanings[-1]
    alike = {
        (
            meaning.images.model_dump_json(include={"container", "absent"}),
            meaning.columns.model_dump_json(include={"types"}, exclude={"types": _ONLY_VALIDATED}),
        )
        for meaning in meanings
    }
    if len(alike) > 1 or len({meaning.envelope.key_place for meaning in meanings} - {None}) > 1:
        return None
    images = tuple(dict.fromkeys(at for meaning in meanings for at in meaning.images.pointers()))
    beside = {at: first.images.non_column_members(at) if at else frozenset() for at in images}
    takes_others = first.images.hold_one_row and (first.columns.types == "none" or first.columns.types.in_image is None)
    if any(at and one.images.non_column_members(at) != beside[at] for one in meanings for at in images):
        return None
    if any(beside.values()) and not takes_others:
        return None
    properties: dict[str, Any] = {}
    for schema in schemas:
        properties = unite_properties(properties, schema.get("properties", {}))
    if not all(_is_described(at, properties) for meaning in meanings for at in _names_at(meaning)):
        return None  # a name inside a column of a message that is its row
    reads = join_reads(map(reads_of, meanings))
    exact = {*reads.values, *(at for meaning in meanings for at in _exact(meaning))}
    codes: dict[str, list[Any]] = {}
    constraints: dict[str, dict[tuple[str, Any], None]] = {}
    for schema in schemas:
        for pointer, keyword, value in value_constraints(schema, ""):
            if keyword in ("enum", "const"):
                codes.setdefault(pointer, []).append(value)
            else:
                constraints.setdefault(pointer, {})[keyword, value] = None
    for pointer, pattern in reads.patterns:
        constraints.setdefault(pointer, {})["pattern", pattern] = None
    exact |= {at for schema in schemas for at in bounded_collections(schema, "") if at not in images}
    discrete = exact | codes.keys() | {at for meaning in meanings for at in _discrete(meaning)}
    names = frozenset(at for meaning in meanings for at in _names_at(meaning))
    named = {place.at for meaning in meanings for place in _names_read(meaning) if place is not None and place.at}
    partial = _partial(first)
    return LayoutPlan(
        properties=properties,
        images={
            at: ImagePlan(
                at in partial,
                frozenset(below for meaning in meanings for below in _places_below(meaning, at)),
                frozenset(code for meaning in meanings for code in _codes_of_whole(meaning, at)),
                frozenset(name for schema in schemas for name in image_properties(schema, at))
                - non_column_members(first, at),
                {name: members_of(properties, at).get(name, {}) for name in sorted(beside[at])},
            )
            for at in images
        },
        op_at=first.envelope.op.at,
        one_row=first.images.hold_one_row,
        absent=first.images.absent,
        types=_plan_types(first, images),
        names_at=_names_at(first),
        plain_names=names - discrete if len({_names_read(meaning) for meaning in meanings}) == 1 else frozenset(),
        by_kind=first.values.kind_at is not None,
        discrete=names | discrete,
        listed=list_members(meanings, codes, exact | named),
        constraints={pointer: tuple(found) for pointer, found in constraints.items()},
        filled=tuple(dict.fromkeys((*reads.filled, *_statements(meanings)))),
        whole_seconds_at=reads.seconds,
        times=tuple(dict.fromkeys(place for meaning in meanings for place in meaning.envelope.times)),
        relations=tuple({
            (relation.name, relation.places): relation
            for relation in (*reads.relations, *(one for meaning in meanings for one in relations_of(meaning)))
        }.values()),
        asked_columns={at: one for image in images for at, one in _asked_columns(meanings, image, properties)},
    )  # fmt: skip


def _is_described(pointer: str, properties: Mapping[str, Any]) -> bool:
    """Return whether the schemas of messages list a member."""
    *above, name = split_pointer(pointer)
    return name in members_of(properties, join_pointer(*above))


def _end_of_types(types: ColumnTypes) -> bytes:
    """What mostly stands where the types end; of a schema block, where the row that they are of ends."""
    if types.field is not None:
        return f'"field":"{types.field}"'.encode()
    return _CLOSE[types.reading]


def _asked_columns(
    meanings: Sequence[Meaning], image: str, properties: Mapping[str, Any]
) -> Iterator[tuple[str, AskedColumn]]:
    """Yield the members of an image in which tests look and that no schema names, by their places."""
    tests = [
        test
        for meaning in meanings
        for test in (*meaning.discriminators, *(one for flag in meaning.envelope.op.flags for one in flag.when))
    ]
    texts, row, listed = asked_texts(tests), split_pointer(image), members_of(properties, image)
    places = [parts for at in pointers_of(tests) if (parts := split_pointer(at))[: len(row)] == row and parts != row]
    for name in {parts[len(row)] for parts in places} - listed.keys():
        column = (*row, name)
        inside = any(parts[: len(column)] == column and parts != column for parts in places)
        yield join_pointer(*column), AskedColumn(texts.get(join_pointer(*column), frozenset()), inside)


def _plan_types(meaning: Meaning, images: Sequence[str]) -> TypePlan:
    """Return where the types of columns may be, in images those after a change first."""
    types = meaning.columns.types
    if types == "none":
        return TypePlan((), None, b"}")
    if types.at is not None:
        return TypePlan((types.at,), types, _end_of_types(types), meaning.images.members_beside_columns)
    after = [side.at for op in ROW_OPS if (sides := meaning.images.of(op)) and (side := sides.after)]
    places = (f"{at}{join_pointer(types.in_image or '')}" for at in dict.fromkeys([*after, *images]))
    return TypePlan(tuple(places), types, _end_of_types(types))


def _partial(meaning: Meaning) -> frozenset[str]:
    """Images that may hold the changed columns only."""
    partial = set()
    for op in ("insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after"):
        sides = meaning.images.of(op)
        for side in (sides.before, sides.after) if sides else ():
            if side is not None and side.completed_from is not None:
                partial.add(side.at)
    return frozenset(partial)


def _places_below(meaning: Meaning, pointer: str) -> Iterator[str]:
    """Yield the images that complete a partial image."""
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        for side in (sides.before, sides.after) if sides else ():
            if side is not None and side.at == pointer and side.completed_from is not None:
                yield side.completed_from


def _codes_of_whole(meaning: Meaning, pointer: str) -> Iterator[str]:
    """The op codes for which an image holds a whole row."""
    flags = meaning.envelope.op.flags
    for code, op in meaning.ops.items():
        for reached in (op, *(flag.means for flag in flags if flag.of is None or op in flag.of)):
            sides = meaning.images.of(reached)
            for side in (sides.before, sides.after) if sides else ():
                if side and ((side.at == pointer and side.completed_from is None) or side.either == pointer):
                    yield code


def _statements(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Pointers to DDL statements: only whether there is one counts, not its text."""
    for meaning in meanings:
        if meaning.ddl and meaning.ddl.text and meaning.ddl.text.at:
            yield meaning.ddl.text.at


def _names_at(meaning: Meaning) -> tuple[str, ...]:
    """Pointers to the table's names, and to the kind of source where that decides how values are read."""
    names = tuple(place.at for place in _names_read(meaning) if place is not None and place.at is not None)
    return names if meaning.values.kind_at is None else (*names, meaning.values.kind_at)


def _names_read(meaning: Meaning) -> tuple[Place | None, ...]:
    """How a message's database, schema and table are read."""
    envelope = meaning.envelope
    return envelope.database, envelope.schema_name, envelope.table, envelope.database_table


def _discrete(meaning: Meaning) -> Iterator[str]:
    """Members, besides the names of the table, on whose value a verdict may depend if the contract lists it."""
    envelope = meaning.envelope
    yield envelope.op.at
    yield from (flag.at for flag in envelope.op.flags if flag.at is not None and not is_number(flag.equals))
    yield from pointers_of(valued_tests(test for flag in envelope.op.flags for test in flag.when))
    yield from meaning.enums
    source = envelope.source_kind
    if source is not None and source.at is not None and (source.kinds or source.excluded_kinds):
        yield source.at
    if meaning.values.kind_at is not None:
        yield meaning.values.kind_at
    yield from pointers_of(valued_tests(meaning.discriminators))  # a prefix is a relation, and flagged


def _exact(meaning: Meaning) -> Iterator[str]:
    """Members on whose value a verdict may depend whatever it is: keys, codes of types, and types."""
    envelope, columns = meaning.envelope, meaning.columns
    if envelope.primary_key and envelope.primary_key.in_value:
        yield envelope.primary_key.in_value
    if columns.codes:
        yield columns.codes.at
    if columns.types != "none" and columns.types.at:
        yield columns.types.at
