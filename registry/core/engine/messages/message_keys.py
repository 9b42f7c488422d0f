"""Message keys: everything discrete in one message that a verdict may depend on, as one hashable value.

The counterpart of `grouping_keys` for a message that comes alone, made from the same plan. Of an image it has the names
of the columns of each row; of an image of changed columns only that the image below has them all, as any of them may
change. The values of columns are collected, to be read by their forms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.contract.relations import Relation
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import outline_value
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.message.envelope_times import unit_observed
from cdc_contracts.registry.core.values import Number

Row = dict[str, Any]
Images = dict[str, list[Row]]
"""The rows of images by pointer, without members that are no columns."""
_ReadPart = Callable[[Any, Images], Hashable]


class Unsure(Exception):
    """A message that only the reference validator may decide."""


class _ChangedColumns(NamedTuple):
    """An image of the changed columns: the op codes for which it holds whole rows, and the images that complete it."""

    whole_for: frozenset[str]
    below: tuple[str, ...]


class MessageKeys:
    """Makes the keys of messages of a subject.

    `hidden` are the members of each image that are no columns, `required` the relations whose breach is a finding.
    """

    def __init__(self, plan: LayoutPlan, hidden: Mapping[str, Collection[str]], required: Collection[Relation]) -> None:
        self._plan, self._hidden, self._required = plan, hidden, {(one.name, one.places) for one in required}
        self._times: dict[str, tuple[Place, ...]] = {}
        for place in plan.times:
            if place.at is not None:
                self._times[place.at] = (*self._times.get(place.at, ()), place)
        self._reached: set[str] = set()
        self._parts = self._compile("", plan.properties)
        inside = {at + join_pointer(name) for at, names in hidden.items() for name in names}
        read = {*plan.discrete, *plan.filled, *self._times}
        self._apart = [split_pointer(pointer) for pointer in sorted(read - self._reached - inside)]
        """What a verdict depends on although no schema names it as a member."""
        self._relations = [(one, tuple(map(split_pointer, one.places))) for one in plan.relations]
        self._whole_seconds = [split_pointer(pointer) for pointer in plan.whole_seconds_at]
        self._is_row = "" in plan.images
        self._op_at = split_pointer(plan.op_at)
        self._changes = {
            at: _ChangedColumns(image.whole_for, tuple(image.completed_from))
            for at, image in plan.images.items()
            if image.partial and image.completed_from
        }

    def read(self, message: dict[str, Any]) -> tuple[Hashable, list[Row]]:
        """Return the key of a message, and all rows of its images without the members that are no columns.

        Raises Unsure where a member breaks a constraint of the schema or counts another unit of time.
        """
        images: Images = {}
        own: Row = {}
        parts: list[Hashable] = []
        for name, value in message.items():
            part = self._parts.get(name)
            if part is not None:
                parts.append((name, part(value, images)))
            elif self._is_row:
                own[name] = value
            else:
                parts.append((name, outline_value(value)))
        if own:
            images[""] = [own]
        if images:
            code = follow(message, self._op_at)
            for pointer, rows in images.items():
                changed = self._changes.get(pointer) if isinstance(code, str) else None
                if changed is not None and code not in changed.whole_for and _are_within(rows, changed.below, images):
                    parts.append((pointer, *map(bool, rows)))
                else:
                    parts.append((pointer, *map(tuple, rows)))
        parts += [self._relate(message, relation, places) for relation, places in self._relations]
        parts += [_is_uneven(follow(message, place)) for place in self._whole_seconds]
        parts += [freeze(follow(message, place)) for place in self._apart]
        return tuple(parts), [row for rows in images.values() for row in rows]

    def _relate(self, message: dict[str, Any], relation: Relation, places: tuple[tuple[str, ...], ...]) -> bool | None:
        found = (follow(message, place) for place in places)
        held = relation.holds(*(None if value is ABSENT else value for value in found))
        if held is False and (relation.name, relation.places) in self._required:
            raise Unsure
        return held

    def _compile(self, at: str, properties: Mapping[str, Any]) -> dict[str, _ReadPart]:
        """Return how each member below a pointer is read."""
        return {name: self._part(at + join_pointer(name), schema) for name, schema in properties.items()}

    def _part(self, pointer: str, schema: Mapping[str, Any]) -> _ReadPart:
        plan = self._plan
        self._reached.add(pointer)
        if pointer in plan.images:
            image = plan.images[pointer]
            beside = self._compile(pointer, image.beside)
            return _image(pointer, self._hidden.get(pointer, ()), beside, image.named)
        constraints, times = plan.constraints.get(pointer, ()), self._times.get(pointer, ())
        if pointer in plan.discrete:
            read: _ReadPart = lambda value, _: value if type(value) is str else freeze(value)  # noqa: E731
        elif "properties" in schema:
            read = _nested(self._compile(pointer, schema["properties"]))
        elif pointer in plan.filled:
            read = lambda value, _: bool(value) if type(value) is str else outline_value(value)  # noqa: E731
        else:
            read = lambda value, _: type(value) if type(value) is str else outline_value(value)  # noqa: E731
        return _checked(read, constraints, times) if constraints or times else read


def freeze(value: Any) -> Hashable:
    """Return a parsed value as one that equals another only where both are written alike; members keep their order."""
    if value is None or type(value) is str:
        return value
    if type(value) is Number:
        return (Number, value.token)
    if isinstance(value, dict):
        types = set(map(type, value.values()))
        if types == {str}:
            return (str, *value.items())
        if types == {Number}:
            return (Number, *value, *[below.token for below in value.values()])
        return (dict, *((name, freeze(below)) for name, below in value.items()))
    return (list, *map(freeze, value)) if isinstance(value, list) else (type(value), value)


def _nested(parts: Mapping[str, _ReadPart]) -> _ReadPart:
    def read(value: Any, images: Images) -> Hashable:
        if not isinstance(value, dict):
            return outline_value(value)  # type: ignore[no-any-return]
        known = ((name, below, parts.get(name)) for name, below in value.items())
        return (
            dict,
            *((name, outline_value(below) if part is None else part(below, images)) for name, below, part in known),
        )

    return read


def _image(pointer: str, hidden: Collection[str], beside: Mapping[str, _ReadPart], named: Collection[str]) -> _ReadPart:
    apart = {*hidden, *named}

    def read_apart(row: Row, images: Images) -> Hashable:
        kept = sorted(apart & row.keys())
        return tuple((name, read_one(name, row[name], images)) for name in kept)

    def read_one(name: str, value: Any, images: Images) -> Hashable:
        part = beside.get(name)
        if part is not None:
            return part(value, images)
        return freeze(value) if name in hidden else outline_value(value)

    def read(value: Any, images: Images) -> Hashable:
        if value is None:
            return None
        rows = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
        if not rows or not all(isinstance(row, dict) for row in rows):
            return (type(value), freeze(value))
        if not apart:
            images[pointer] = rows
            return (type(value), len(rows))
        images[pointer] = [{name: below for name, below in row.items() if name not in hidden} for row in rows]
        return (type(value), *(read_apart(row, images) for row in rows))

    return read


def _are_within(rows: list[Row], below: Collection[str], images: Images) -> bool:
    """Return whether every image below holds, row by row, the columns of some rows."""
    for pointer in below:
        whole = images.get(pointer, ())
        if len(whole) != len(rows):
            return False
        for row, full in zip(rows, whole, strict=True):
            if not row.keys() <= full.keys():
                return False
    return bool(below)


def _checked(read: _ReadPart, constraints: Collection[tuple[str, Any]], times: Collection[Place]) -> _ReadPart:
    """Return a reading that tells which patterns of versions a text matches.

    It refuses numbers that the schema of some version refuses, and times in an unexpected unit.
    """
    patterns = [compile_pattern(wanted) for keyword, wanted in constraints if keyword == "pattern"]
    least: Final = [wanted for keyword, wanted in constraints if keyword == "minimum"]

    def read_checked(value: Any, images: Images) -> Hashable:
        matches: tuple[bool, ...] = ()
        if type(value) is str:
            matches = tuple([fits(value) for fits in patterns])
        elif type(value) is Number and any(value < wanted for wanted in least):
            raise Unsure
        for place in times:
            if unit_observed(value, place) is not None:
                raise Unsure
        found = read(value, images)
        return (matches, found) if matches else found

    return read_checked


def _is_uneven(value: Any) -> bool:
    """Return whether a time does not count whole seconds."""
    return type(value) is Number and is_integer(value) and not value.token.endswith("000")
