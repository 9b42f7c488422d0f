"""Batch parser: decodes every value in C by the layout of its shape, and sorts the values by layout.

The shape of a value is guessed, from a slice of its bytes or from the values before it, and verified on the decoded
record. A value that its layout rejects is parsed once by the strict parser, and the layout is extended to accept
similar values: unknown members and columns become extra fields, members of another kind are widened.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, repeat
from operator import eq, not_
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET, Raw
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import (
    MAX_DEPTH,
    Unreadable,
    has_duplicates,
    kind_of,
    parse_message,
)
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.layout_parts import Layout, LayoutColumn, RowShape
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan, can_be_field, decoder_of_schema
from cdc_contracts.registry.core.engine.parse.records_by_layout import Sorted
from cdc_contracts.registry.core.engine.parse.shape_guess import MOST_SHAPES, ShapeGuess, make_key_reader
from cdc_contracts.registry.core.engine.parse.shape_names import IsListed, ShapeNames
from cdc_contracts.registry.core.engine.parse.type_tokens import read_defaults, read_types
from cdc_contracts.registry.core.records.message_values import MessageValues

_REFUSED: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode_any: Final = msgspec.json.Decoder().decode
_MOST_EXTRAS: Final = 96
_MOST_COLUMNS: Final = 4096
_MOST_LEARNED_FIELDS: Final = 512
_MOST_REFUSALS: Final = 8
_BLOCK: Final = 256

Numbers = NDArray[np.int64]
MakeColumns = Callable[[dict[str, str] | None, tuple[Any, ...], Mapping[str, str]], list[LayoutColumn]]
MakeColumn = Callable[[RowShape, str, Any], LayoutColumn]


class Parser:
    """Sorts values by layout, learning layouts as it goes. Its memory is bounded; the reference validates the rest."""

    def __init__(
        self, plan: LayoutPlan, reading_options: ReadingOptions, make_columns: MakeColumns, make_column: MakeColumn,
        is_listed: IsListed,
    ) -> None:  # fmt: skip
        self._plan = plan
        self._reading_options, self._schemas = reading_options, reading_options.schemas
        self._make_columns = make_columns
        self._make_column = make_column
        self._names = ShapeNames(plan, reading_options, is_listed)
        self._shapes: OrderedDict[Any, RowShape] = OrderedDict()
        self._layouts: OrderedDict[Any, Layout] = OrderedDict()
        self._families: OrderedDict[Any, int] = OrderedDict()
        self._extras: list[str] = []
        self._widened: frozenset[str] = frozenset()
        self._learned_fields = 0
        self._made = 0
        self._guess = ShapeGuess(plan, self._names.identified_by)
        self._read_key = make_key_reader(plan)
        self._latest: RowShape | None = None
        self._learnt: RowShape | None = None
        self._picks = self._names.picks()

    @property
    def identified_by(self) -> Sequence[str | None]:
        """The pointer of each part of a shape's key; None for a name that the shape does not depend on."""
        return self._names.identified_by

    def sort(self, values: MessageValues) -> Sorted:
        """Return the values by layout. Every record is in exactly one group."""
        result = Sorted(tombstones=values.tombstones())
        readable = values.are_readable(MAX_DEPTH)
        objects = (
            values.are_objects(0 if self._reading_options.strict_json else self._reading_options.max_bytes) & readable
        )
        for start in range(0, len(values), _BLOCK):
            stop = min(start + _BLOCK, len(values))
            if not (objects[start:stop].all() and self._sort_alike(values, start, stop, result)):
                self._sort_mixed(values, objects, readable, start, stop, result)
        self._verify(values, result)
        return result

    def guess_shapes(self, values: MessageValues, numbers: Numbers) -> tuple[dict[RowShape, Numbers], Numbers]:
        """Return the numbers of some values by the shape that they look like, and of those that look like none."""
        return self._guess.sort(values, numbers)

    def _sort_alike(self, values: MessageValues, start: int, stop: int, result: Sorted) -> bool:
        """Decode a block with the single shape of the previous block; False if some value does not have this shape."""
        shape = self._latest
        if shape is None or shape.strict is None:
            return False
        records = _decode_block(shape.strict, values.joined(start, stop), stop - start)
        if records is None:
            self._latest = None
            return False
        result.guess(shape, shape.strict, range(start, stop), records)
        return True

    def _sort_mixed(
        self,
        values: MessageValues,
        objects: NDArray[np.bool_],
        readable: NDArray[np.bool_],
        start: int,
        stop: int,
        result: Sorted,
    ) -> None:
        """Guess the shape of each value of a block, and decode the values of each shape together."""
        guess = self._guess.open()
        guessed: dict[RowShape, tuple[list[int], list[bytes]]] = {}
        limit, strict = self._reading_options.max_bytes, self._reading_options.strict_json
        for number, (value, is_object) in enumerate(
            zip(values.array.slice(start, stop - start).to_pylist(), objects[start:stop].tolist(), strict=True), start
        ):
            if value is None:
                continue
            if not readable[number]:
                result.ungrouped.append(number)
                continue
            shape = guess(value)
            if shape is None or len(value) > limit or (strict and has_duplicates(value)):
                self._resolve(number, value, result)
            elif is_object:
                numbers, alike = guessed.setdefault(shape, ([], []))
                numbers.append(number)
                alike.append(value)
            else:
                self._decode_each(shape, [number], [value], result)
        for shape, (numbers, alike) in guessed.items():
            layout = shape.strict
            records = _decode_block(layout, b"\n".join(alike), len(alike)) if layout is not None else None
            if layout is None or records is None:
                self._decode_each(shape, numbers, alike, result)
            else:
                result.guess(shape, layout, numbers, records)
        (self._latest,) = guessed if len(guessed) == 1 else (None,)

    def _decode_each(self, shape: RowShape, numbers: Sequence[int], values: Sequence[bytes], result: Sorted) -> None:
        for number, value in zip(numbers, values, strict=True):
            layout = shape.strict
            try:
                result.guess(shape, layout, [number], [layout.decode(value)])  # type: ignore[union-attr, arg-type]
            except _REFUSED:
                self._resolve(number, value, result)

    def _verify(self, values: MessageValues, result: Sorted) -> None:
        """Accept the records whose shape was guessed correctly, and resolve the others."""
        for (shape, layout), (numbers, records) in result.guessed.items():
            if self._have_shape(shape, records):
                result.add(shape, layout, numbers, records)
                continue
            claims = [
                [bytes(value) if type(value) is Raw else value for value in map(pick, records)]
                for _, pick in self._picks
            ]
            wanted = tuple(shape.key[at] for at, _ in self._picks)
            right = [found == wanted for found in zip(*claims, strict=True)]
            if any(right):
                result.add(shape, layout, compress(numbers, right), compress(records, right))
            for number in compress(numbers, map(not_, right)):
                self._resolve(number, values[number] or b"", result, guessed=False)

    def _have_shape(self, shape: RowShape, records: list[Any]) -> bool:
        """Return whether every record has the members that identify its shape."""
        for at, pick in self._picks:
            part = shape.key[at]
            wanted = Raw(part) if type(part) is bytes else part
            if not all(map(eq, map(pick, records), repeat(wanted))):
                return False
        return True

    def _resolve(self, number: int, value: bytes, result: Sorted, *, guessed: bool = True) -> None:
        """Find or make the shape of one value and decode it, extending its layout where necessary."""
        shape = self._find(value) if len(value) <= self._reading_options.max_bytes else None
        if shape is None or (self._reading_options.strict_json and has_duplicates(value)):
            result.ungrouped.append(number)
            return
        self._guess.remember(value, shape, again=guessed)
        for attempt in (self._strict_of, self._loose_of, self._learned):
            layout = attempt(shape, value)
            if layout is None:
                continue
            try:
                record = layout.decode(value)
            except _REFUSED:
                continue
            result.add(shape, layout, [number], [record])
            if layout is shape.loose and shape.strict is not shape.loose:
                shape.refusals += 1
                if shape.refusals > _MOST_REFUSALS:
                    shape.strict = shape.loose
            return
        result.ungrouped.append(number)

    def _find(self, value: bytes) -> RowShape | None:
        try:
            found = self._read_key(value)
        except _REFUSED:
            return None
        tokens = found[0]
        names, listed = self._names.identify(found[1])
        key = self._names.key(tokens, names)
        shape = self._shapes.get(key)
        if shape is None:
            result = [
                read_types(token, self._plan, self._schemas)
                for token in reversed(tokens)
                if token not in (UNSET, b"null")
            ]
            said = [one for one in result if one is not None]
            if 0 < len(said) < len(result):
                return None  # which of them counts depends on the op
            types = {name: type_ for one in said for name, type_ in one.items()} if said else None
            defaults = (
                read_defaults(tokens[0], self._plan, self._schemas) if types is not None and len(tokens) == 1 else {}
            )
            columns = self._make_columns(types, names, defaults)
            if len(columns) > _MOST_COLUMNS or not all(can_be_field(column.name) for column in columns):
                return None
            shape = self._like_learnt(key, value) if not columns else None
            shape = RowShape(key, columns, types is not None, listed) if shape is None else shape
            self._shapes[key] = shape
            _bound(self._shapes)
        if shape.built_for != self._learned_fields or shape.strict is None:
            self._build(shape)
        return shape

    def _like_learnt(self, key: tuple[Any, ...], value: bytes) -> RowShape | None:
        """Return a shape with the columns learnt last if the rows of a value have exactly these, in this order."""
        like = self._learnt
        if like is None or like.built_for != self._learned_fields or (self._plan.by_kind and like.key[-1] != key[-1]):
            return None
        try:
            like.strict.decode(value)  # type: ignore[union-attr]
            message = _decode_any(value)
        except _REFUSED:
            return None
        result = dict.fromkeys(name for name, _ in self._values_in(message))
        return like.copy(key) if [*result] == [column.name for column in like.columns] else None

    def _build(self, shape: RowShape) -> None:
        family = self._family(shape)
        shape.strict, shape.loose = (self._layout(shape, family, loose=loose) for loose in (False, True))
        if shape.refusals > _MOST_REFUSALS:
            shape.strict = shape.loose
        shape.built_for = self._learned_fields

    def _family(self, shape: RowShape) -> int:
        """Return the number of the family of shapes with these types and columns, whose tables are all listed or none.

        Where null means something else from another kind of source, shapes of one kind are a family of their own.
        """
        kind = shape.key[-1] if self._plan.by_kind and self._plan.absent is not None else None
        key = (shape.key[: len(self._plan.types.at)], tuple(shape.columns), kind, shape.listed)
        family = self._families.get(key)
        if family is None:
            self._made += 1  # never reused: cached verdicts are keyed by it
            family = self._families[key] = self._made
            _bound(self._families)
        return family

    def _layout(self, shape: RowShape, family: int, *, loose: bool) -> Layout:
        """Return a layout of a shape. Tables with the same columns share it, since compiling is slow."""
        key = (family, len(self._extras), self._widened, loose)
        layout = self._layouts.get(key)
        if layout is None:
            built = self._plan.build(shape, self._extras, self._widened, loose=loose, family=family)
            layout = self._layouts[key] = built
            _bound(self._layouts)
        return layout

    def _strict_of(self, shape: RowShape, value: bytes) -> Layout | None:
        return shape.strict

    def _loose_of(self, shape: RowShape, value: bytes) -> Layout | None:
        return shape.loose

    def _learned(self, shape: RowShape, value: bytes) -> Layout | None:
        """Extend the layouts to fit this value, and return the loose one; None if there is nothing to learn."""
        if max(self._learned_fields, shape.learned_fields) >= _MOST_LEARNED_FIELDS:
            return None
        try:
            message = parse_message(
                value, max_bytes=self._reading_options.max_bytes, strict=self._reading_options.strict_json
            )
        except Unreadable:
            return None
        members, columns = self._learn_members(message, "", self._plan.properties), self._learn_columns(message, shape)
        if not (members or columns):
            return None
        self._learned_fields += members  # all shapes have the members
        shape.learned_fields += columns
        self._build(shape)
        if columns and not self._plan.types.at and not any(column.typed for column in shape.columns):
            self._learnt = shape
        return shape.loose

    def _learn_members(self, message: dict[str, Any], at: str, properties: Any) -> bool:
        learnt = False
        for name, value in message.items():
            pointer = at + join_pointer(name)
            schema = properties.get(name)
            if schema is None and at in self._plan.images:
                continue  # a column of a message that is itself the row
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
        if pointer in self._plan.images or "properties" in schema:
            return True  # an image or a nested object of another kind: the reference validates it
        return decoder_kinds.decoder_takes(decoder_of_schema(schema), value)

    def _learn_columns(self, message: dict[str, Any], shape: RowShape) -> bool:
        learnt = False
        for name, value in self._values_in(message):
            learnt |= self._learn_column(shape, name, value)
        return learnt

    def _values_in(self, message: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the values of all rows of a message by column, image by image."""
        for pointer in self._plan.images:
            image = self._plan.images[pointer]
            other_members = {self._plan.types.within, *image.beside} if pointer else self._plan.properties.keys()
            for row in _rows(follow(message, split_pointer(pointer))):
                yield from ((name, value) for name, value in row.items() if name not in other_members)

    def _learn_column(self, shape: RowShape, name: str, value: Any) -> bool:
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
        if decoder_kinds.decoder_takes(column.decoder, value) and (
            column.decoder != decoder_kinds.RAW or kind_of(value) in ("number", "null")
        ):
            return False
        shape.columns[index] = replace(column, decoder=decoder_kinds.WIDE)
        return column.decoder != decoder_kinds.WIDE


def _decode_block(layout: Layout, text: bytes, total: int) -> list[Any] | None:
    """Decode tidy values separated by line feeds; None if some value is not one message of the layout.

    Each value begins with `{` and ends with `}`. A message that is still open at the end of its value would run into
    a line feed within a text, or into `{` instead of a comma, and be rejected. So each value holds at least one
    message; if there are as many messages as values, each value holds exactly one.
    """
    try:
        records: list[Any] = layout.decode_lines(text)
    except _REFUSED:
        return None
    return records if len(records) == total else None


def _bound(memory: OrderedDict[Any, Any]) -> None:
    if len(memory) > MOST_SHAPES:
        memory.popitem(last=False)


def _rows(found: Any) -> Iterable[dict[str, Any]]:
    if found is ABSENT or found is None:
        return ()
    rows = [found] if isinstance(found, dict) else found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]
