"""Parsing a batch: every value is decoded in C by the layout of its shape, and sorted by layout.

Which shape a value has is guessed from a slice of its bytes and verified on what was decoded. A value that its
layout refuses is parsed once by the strict parser, and the layout learns to take its like: unknown members and
columns become extra fields, members of another kind are widened.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from operator import attrgetter, eq
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from cdc_contracts.registry.kernel import lanes
from cdc_contracts.registry.kernel.layouts import Column, Layout, Plan, Shape, can_be_field, lane_of_schema
from cdc_contracts.registry.messages import Unreadable, has_duplicates, kind_of, parse_message
from cdc_contracts.registry.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.reading import read_types
from cdc_contracts.registry.terms import Terms

_REFUSED: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_MOST_SHAPES: Final = 2048
_MOST_EXTRAS: Final = 64
_MOST_COLUMNS: Final = 4096
_MOST_LESSONS: Final = 512
_PATIENCE: Final = 8

MakeColumns = Callable[[dict[str, str] | None, tuple[Any, ...]], list[Column]]
MakeColumn = Callable[[Shape, str, Any], Column]


@dataclass
class Sorted:
    """The records of a batch by layout, by their number in the batch; `solo` are for the reference."""

    groups: dict[Layout, tuple[Shape, list[int], list[Any]]] = field(default_factory=dict)
    solo: list[int] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)


class Parser:
    """Sorts values by layout, and learns the layouts as it goes. Bounded: what it cannot hold goes to the reference."""

    def __init__(self, plan: Plan, terms: Terms, make_columns: MakeColumns, make_column: MakeColumn) -> None:
        self._plan = plan
        self._terms = terms
        self._make_columns = make_columns
        self._make_column = make_column
        self._by_table = plan.types_at is None or bool(terms.tables)
        self._shapes: OrderedDict[Any, Shape] = OrderedDict()
        self._extras: list[str] = []
        self._widened: frozenset[str] = frozenset()
        self._lessons = 0
        self._serial = 0
        self._guess = _Guess(plan, by_table=self._by_table)
        self._scout = _make_scout(plan)
        marks = [*([plan.types_at] if plan.types_at else []), *(plan.names_at if self._by_table else ())]
        self._picks = [_picker(plan.properties, pointer) for pointer in marks]

    def sort(self, values: Sequence[bytes | None]) -> Sorted:
        """Return the values by layout. Every record is in exactly one place."""
        result = Sorted()
        groups, guess = result.groups, self._guess.open()
        limit, strict = self._terms.max_bytes, self._terms.strict_json
        latest: Layout | None = None
        add_number = add_record = list[Any]().append
        for number, value in enumerate(values):
            if value is None:
                result.tombstones.append(number)
                continue
            shape = guess(value)
            if shape is None or len(value) > limit or (strict and has_duplicates(value)):
                self._settle(number, value, result)
                continue
            layout = shape.strict
            try:
                record = layout.decode(value)  # type: ignore[union-attr]
            except _REFUSED:
                self._settle(number, value, result)
                continue
            if layout is not latest:
                group = groups.setdefault(layout, (shape, [], []))  # type: ignore[arg-type]
                add_number, add_record, latest = group[1].append, group[2].append, layout
            add_number(number)
            add_record(record)
        self._verify(values, result)
        return result

    def _verify(self, values: Sequence[bytes | None], result: Sorted) -> None:
        """Move out the records whose shape was guessed wrong."""
        if not self._picks:
            return
        for layout, (shape, numbers, records) in list(result.groups.items()):
            if self._all_told(shape, records):
                continue
            claims = [
                [bytes(value) if type(value) is Raw else value for value in map(pick, records)] for pick in self._picks
            ]
            told = list(zip(*claims, strict=True))
            right = [one == shape.key for one in told]
            wrong = [number for number, good in zip(numbers, right, strict=True) if not good]
            kept = [(number, record) for number, record, good in zip(numbers, records, right, strict=True) if good]
            del result.groups[layout]
            if kept:
                result.groups[layout] = (shape, [number for number, _ in kept], [record for _, record in kept])
            for number in wrong:
                value = values[number]
                self._settle(number, value or b"", result, guessed=False)

    def _all_told(self, shape: Shape, records: list[Any]) -> bool:
        """Say whether every record says what its shape is known by."""
        for pick, told in zip(self._picks, shape.key, strict=True):
            wanted = Raw(told) if type(told) is bytes else told
            if not all(map(eq, map(pick, records), repeat(wanted))):
                return False
        return True

    def _settle(self, number: int, value: bytes, result: Sorted, *, guessed: bool = True) -> None:
        """Find or make the shape of one value and decode it, learning what its layout lacks."""
        shape = self._find(value) if len(value) <= self._terms.max_bytes else None
        if shape is None or (self._terms.strict_json and has_duplicates(value)):
            result.solo.append(number)
            return
        if guessed:
            self._guess.remember(value, shape)
        for attempt in (self._strict_of, self._loose_of, self._taught):
            layout = attempt(shape, value)
            if layout is None:
                continue
            try:
                record = layout.decode(value)
            except _REFUSED:
                continue
            group = result.groups.setdefault(layout, (shape, [], []))
            if layout is shape.loose and shape.strict is not shape.loose:
                shape.refusals += 1
                if shape.refusals > _PATIENCE:
                    shape.strict = shape.loose
            group[1].append(number)
            group[2].append(record)
            return
        result.solo.append(number)

    def _find(self, value: bytes) -> Shape | None:
        try:
            scouted = self._scout(value)
        except _REFUSED:
            return None
        types_token, names = scouted
        typed = [UNSET if types_token is None else types_token] if self._plan.types_at else []
        key = (*typed, *(names if self._by_table else ()))
        shape = self._shapes.get(key)
        if shape is None:
            types = None
            if types_token is not None:
                types = _types_of(types_token, self._plan)
                if types is None and types_token != b"null":
                    return None
            columns = self._make_columns(types, names)
            self._serial += 1
            if len(columns) > _MOST_COLUMNS or not all(can_be_field(column.name) for column in columns):
                return None
            shape = Shape(key, self._serial, columns)
            self._remember(self._shapes, key, shape)
        if shape.built_for != self._lessons or shape.strict is None:
            self._build(shape)
        return shape

    def _build(self, shape: Shape) -> None:
        shape.strict = self._plan.build(shape, self._extras, self._widened, loose=False)
        shape.loose = self._plan.build(shape, self._extras, self._widened, loose=True)
        if shape.refusals > _PATIENCE:
            shape.strict = shape.loose
        shape.built_for = self._lessons

    def _strict_of(self, shape: Shape, value: bytes) -> Layout | None:
        return shape.strict

    def _loose_of(self, shape: Shape, value: bytes) -> Layout | None:
        return shape.loose

    def _taught(self, shape: Shape, value: bytes) -> Layout | None:
        """Widen the layouts to what this value holds, and return the loose one; None where nothing is to be learnt."""
        if self._lessons >= _MOST_LESSONS:
            return None
        try:
            message = parse_message(value, max_bytes=self._terms.max_bytes, strict=self._terms.strict_json)
        except Unreadable:
            return None
        learnt = self._learn_members(message, "", self._plan.properties) | self._learn_columns(message, shape)
        if not learnt:
            return None
        self._lessons += 1
        self._build(shape)
        return shape.loose

    def _learn_members(self, message: dict[str, Any], at: str, properties: Any) -> bool:
        learnt = False
        for name, value in message.items():
            pointer = at + join_pointer(name)
            schema = properties.get(name)
            if schema is None:
                if pointer not in self._extras and len(self._extras) < _MOST_EXTRAS and can_be_field(name):
                    self._extras.append(pointer)
                    learnt = True
            elif "properties" in schema and isinstance(value, dict):
                learnt |= self._learn_members(value, pointer, schema["properties"])
            elif pointer not in self._widened and not self._member_fits(pointer, schema, value):
                self._widened |= {pointer}
                learnt = True
        return learnt

    def _member_fits(self, pointer: str, schema: Any, value: Any) -> bool:
        if value is None:
            return True
        if pointer in self._plan.images:
            return True  # an image of another kind is for the reference
        if "properties" in schema:
            return isinstance(value, dict)
        return lanes.lane_takes(lane_of_schema(schema), value)

    def _learn_columns(self, message: dict[str, Any], shape: Shape) -> bool:
        learnt = False
        for pointer in self._plan.images:
            found = follow(message, split_pointer(pointer))
            for row in _rows(found):
                for name, value in row.items():
                    learnt |= self._learn_column(shape, name, value)
        return learnt

    def _learn_column(self, shape: Shape, name: str, value: Any) -> bool:
        index = shape.by_name.get(name)
        if index is None:
            if len(shape.columns) >= _MOST_COLUMNS or not can_be_field(name):
                return False
            shape.by_name[name] = len(shape.columns)
            shape.columns.append(self._make_column(shape, name, value))
            return True
        column = shape.columns[index]
        if not column.sure and value is not None:
            shape.columns[index] = self._make_column(shape, name, value)
            return True
        if lanes.lane_takes(column.lane, value) and (column.lane != lanes.RAW or kind_of(value) in ("number", "null")):
            return False
        shape.columns[index] = replace(column, lane=lanes.WIDE)
        return column.lane != lanes.WIDE

    def _remember(self, memory: OrderedDict[Any, Shape], key: Any, shape: Shape) -> None:
        memory[key] = shape
        if len(memory) > _MOST_SHAPES:
            memory.popitem(last=False)


def _rows(found: Any) -> Iterable[dict[str, Any]]:
    if found is ABSENT or found is None:
        return ()
    rows = [found] if isinstance(found, dict) else found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _types_of(token: bytes, plan: Plan) -> dict[str, str] | None:
    """Return the types a token says, by column; None where it is no map of texts."""
    try:
        message = parse_message(b'{"types":' + token + b"}")
    except Unreadable:
        return None
    return read_types(message["types"], *plan.type_members)


class _Guess:
    """Guesses the shape of a value from a slice of its bytes, which is mostly that of the value before."""

    def __init__(self, plan: Plan, *, by_table: bool) -> None:
        types = [(plan.types_at, plan.types_close)] if plan.types_at is not None else []
        names = [(at, b",") for at in plan.names_at] if by_table else []
        self._marks = [(f'"{split_pointer(at)[-1]}"'.encode(), close) for at, close in (*types, *names)]
        self._known: OrderedDict[Any, Shape] = OrderedDict()

    def remember(self, value: bytes, shape: Shape) -> None:
        """Take values that look like this one for the shape from now on."""
        self._known[self._look(value)] = shape
        if len(self._known) > _MOST_SHAPES:
            self._known.popitem(last=False)

    def open(self) -> Callable[[bytes], Shape | None]:
        """Return a function from a value to the shape it may have, None where nothing is known of its like."""
        known, look = self._known, self._look
        if len(self._marks) > 1:
            return lambda value: known.get(look(value))
        ((mark, _),) = self._marks
        latest: Shape | None = None
        slice_ = b"\x00"

        def guess(value: bytes) -> Shape | None:
            nonlocal latest, slice_
            start = value.find(mark)
            if not value.startswith(slice_, start):
                slice_ = look(value)
                latest = known.get(slice_)
            return latest

        return guess

    def _look(self, value: bytes) -> Any:
        parts = []
        for mark, close in self._marks:
            start = value.find(mark)
            parts.append(value[start : value.find(close, start) + 1] if start >= 0 else b"")
        return parts[0] if len(parts) == 1 else tuple(parts)


def _make_scout(plan: Plan) -> Callable[[bytes], tuple[bytes | None, tuple[Any, ...]]]:
    """Return a function that reads only what a shape hangs on: the token of the types, and the names."""
    wanted = [*([plan.types_at] if plan.types_at else []), *plan.names_at]
    tree: dict[str, Any] = {}
    for pointer in wanted:
        place = tree
        *above, last = split_pointer(pointer)
        for name in above:
            place = place.setdefault(name, {})
        place[last] = None
    decode = msgspec.json.Decoder(_scout_struct(tree)).decode
    types_parts = split_pointer(plan.types_at) if plan.types_at else None
    names_parts = [split_pointer(pointer) for pointer in plan.names_at]

    def scout(value: bytes) -> tuple[Any, tuple[Any, ...]]:
        found = _as_tree(decode(value), tree)
        token = follow(found, types_parts) if types_parts else ABSENT
        names = tuple(_open_name(follow(found, parts)) for parts in names_parts)
        return (None if token is ABSENT else token), names

    return scout


def _scout_struct(tree: dict[str, Any]) -> Any:
    fields: list[tuple[str, Any, Any]] = []
    for below in tree.values():
        kind = Raw if below is None else (_scout_struct(below) | msgspec.UnsetType | None)
        fields.append((f"f{len(fields)}", kind | msgspec.UnsetType if below is None else kind, UNSET))
    names = {f"f{index}": name for index, name in enumerate(tree)}
    return msgspec.defstruct("Scout", fields, rename=names.__getitem__, gc=False)


def _as_tree(record: Any, tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for value, (name, below) in zip(msgspec.structs.astuple(record), tree.items(), strict=True):
        if value is UNSET:
            continue
        if below is None:
            found[name] = bytes(value)
        elif value is not None:
            found[name] = _as_tree(value, below)
    return found


def _open_name(token: Any) -> Any:
    if token is ABSENT:
        return UNSET
    try:
        value = lanes.open_token(token)
    except lanes.Unfit:
        return UNSET
    return value if value is None or isinstance(value, str) else UNSET


def _picker(properties: Any, pointer: str) -> Callable[[Any], Any]:
    """Return a function from a decoded record to one top-level member of it."""
    first = split_pointer(pointer)[0]
    index = list(properties).index(first)
    name = f"f{index}"
    rest = split_pointer(pointer)[1:]
    if not rest:
        return attrgetter(name)
    inner = _picker(properties[first]["properties"], join_pointer(*rest))

    def pick(record: Any) -> Any:
        below = getattr(record, name)
        return below if below is UNSET or below is None else inner(below)

    return pick
