"""Avro proofs: a message of the writer's schema that the reader's refuses or reads differently, and its reading.

A message is shown only where the mismatch itself, cut out of both schemas, is seen to be the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.avro import schema_resolution as rules
from cdc_contracts.registry.authoring.compat.avro.avro_readings import APACHE, FASTAVRO, AvroReading, shown
from cdc_contracts.registry.authoring.compat.avro.avro_writing import MAX_DEPTH, TooDeep, to_json
from cdc_contracts.registry.authoring.compat.avro.schema_mismatches import Mismatch, TypePath, steps
from cdc_contracts.registry.core.schema.avro_types.smallest_messages import all_types, smallest_sizes
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType

_PLAIN: Final[dict[str, Any]] = {
    "null": None,
    "boolean": False,
    "int": 0,
    "long": 0,
    "float": 0.0,
    "double": 0.0,
    "bytes": b"",
    "string": "",
}
MAX_PROOFS: Final = 100
MAX_VALUES: Final = 50_000
"""How many messages are made for one comparison, and how many values in all of them."""
MAX_NAMED: Final = 2_000
"""Named types of a schema that messages are made for: fastavro is slow with more."""
TOO_MANY: Final = "No proof is made for it: there are so many findings that those of the first ones have to do."
TOO_LARGE: Final = "No proof is made for it: the schema is too large for messages of it to be made and checked."
TOO_DEEP: Final = "No proof is made for it: the message would be too deep for any reader."
NOTHING_WRITTEN: Final = "No message shows it: the writer's schema contains an empty union, so nothing can be written."
NOT_SEEN: Final = "No proof is shown: the library that checks proofs reads both the same way."
_Value = tuple[AvroType, AvroType, Any]
"""The writer's and the reader's type cut out of their schemas, and a datum that shows the mismatch."""
_REFUSED: Final = frozenset(
    {rules.NAME, rules.FIXED_SIZE, rules.ENUM_SYMBOLS, rules.FIELD_WITHOUT_DEFAULT, rules.TYPE, rules.UNION_BRANCH}
)
"""Rules under which the specification requires readers to refuse: where fastavro does not, Apache's library decides."""
_NUMBERS: Final = (86_400_000, 12_345)
_SAMPLES: Final[Mapping[str, tuple[Any, ...]]] = {
    "int": _NUMBERS,
    "long": _NUMBERS,
    "string": ("5f2c3a1e-0d6b-4c58-9a37-1b2c3d4e5f60",),
    "bytes": (b"\x30\x39",),
}
_MORE_THAN_A_FLOAT: Final = 2**24 + 1
_MORE_THAN_A_DOUBLE: Final = 2**53 + 1


class NoMessage(Exception):
    """A schema has no messages: an empty union has no value."""


class WriterMessages:
    """Makes messages of one writer's schema."""

    def __init__(self, root: AvroType) -> None:
        self._root = root
        self._sizes = smallest_sizes(root)
        self.cost = self._sizes[root]
        """Roughly how many values each message holds."""

    def smallest(self, type_: AvroType, depth: int = 0) -> Any:
        """Return the smallest datum of a type. Raises TooDeep and NoMessage."""
        if depth > MAX_DEPTH:
            raise TooDeep
        match type_.kind:
            case "union" if not type_.branches:
                raise NoMessage
            case "union":
                branch = min(type_.branches, key=lambda one: self._sizes[one])
                return branch.label, self.smallest(branch, depth + 1)
            case "record":
                return {field.name: self.smallest(field.type, depth + 1) for field in type_.fields}
            case "array":
                return []
            case "map":
                return {}
            case "enum":
                return type_.symbols[0]
            case "fixed":
                return bytes(type_.size)
        return _PLAIN[type_.kind]

    def message(self, trail: TypePath | None, datum: Any) -> Any:
        """Return a whole message that holds a datum at the end of a path. Raises TooDeep and NoMessage."""
        for count, step in enumerate(steps(trail)):
            if count > MAX_DEPTH:
                raise TooDeep
            datum = self._around(step, datum)
        return datum

    def _around(self, step: TypePath, datum: Any) -> Any:
        match step.inside.kind:
            case "union":
                return step.inside.branches[step.at].label, datum
            case "array":
                return [datum]
            case "map":
                return {"key": datum}
        inner = step.inside.fields[step.at]
        return {field.name: datum if field is inner else self.smallest(field.type) for field in step.inside.fields}


@dataclass(frozen=True, slots=True)
class Shown:
    """A checked message. `refused` is why the reader refuses it; else the two readings differ."""

    message: Any
    checked_by: str
    refused: str | None = None
    written: Any = None
    read: Any = None


class AvroProver:
    """Makes the proofs of one direction, from the first mismatch on until there are enough."""

    def __init__(self, reader: AvroType, writer: AvroType) -> None:
        self._reader = reader
        self._writer = writer
        self._made = 0

    @cached_property
    def _messages(self) -> WriterMessages:
        return WriterMessages(self._writer)

    @cached_property
    def _most(self) -> int:
        if sum(1 for type_ in all_types(self._writer) if type_.name) > MAX_NAMED:
            return 0
        return min(MAX_PROOFS, MAX_VALUES // self._messages.cost)

    @cached_property
    def _whole(self) -> AvroReading:
        return AvroReading(self._writer, self._reader)

    def prove(self, mismatch: Mismatch) -> Shown | str:
        """Return a checked message that shows a mismatch, or the sentence that says why there is none."""
        if self._made >= self._most:
            return TOO_MANY if self._made else TOO_LARGE
        self._made += 1
        try:
            return next(self._shown(mismatch), NOT_SEEN)
        except TooDeep:
            return TOO_DEEP
        except NoMessage:
            return NOTHING_WRITTEN

    def _shown(self, mismatch: Mismatch) -> Iterator[Shown]:
        for writer, reader, datum in self._cut_out(mismatch):
            whole = self._messages.message(mismatch.trail, self._in_place(mismatch, datum))
            message = to_json(self._writer, whole)
            reading = AvroReading(writer, reader)
            refused = reading.refusal(datum)
            checked_by = FASTAVRO
            if refused is None and mismatch.rule in _REFUSED:
                refused, checked_by = reading.refusal_of_apache(datum), APACHE
            if refused is not None:
                if checked_by == APACHE or self._whole.refusal(whole) is not None:
                    yield Shown(message, checked_by, refused=refused)
                continue
            try:
                written, read = reading.as_written(datum), reading.as_read(datum)
            except (ValueError, OverflowError, ArithmeticError):
                continue  # no such time or number: another datum may show it
            if (type(written), written) != (type(read), read):
                yield Shown(message, FASTAVRO, written=shown(written), read=shown(read))

    def _in_place(self, mismatch: Mismatch, datum: Any) -> Any:
        """Return what stands at the end of the path: the datum, or the whole record where the mismatch is of one."""
        of_record = mismatch.field is not None or mismatch.rule == rules.NAME
        return self._messages.smallest(mismatch.writer.type) if of_record else datum

    def _cut_out(self, mismatch: Mismatch) -> Iterator[_Value]:
        """Yield pairs of types in which nothing is wrong but the mismatch, each with a datum that may show it."""
        writer, reader = mismatch.writer.type, mismatch.reader.type
        named_alike = replace(reader, name=writer.name) if writer.name else reader
        match mismatch.rule:
            case rules.NAME:
                alike = replace(reader, fields=(), symbols=writer.symbols, size=writer.size)
                bare = replace(writer, fields=())
                yield bare, alike, {} if writer.kind == "record" else self._messages.smallest(writer)
            case rules.FIELD_WITHOUT_DEFAULT | rules.FIELD_READ_AS_DEFAULT:
                fields = () if mismatch.field is None else (mismatch.field,)
                yield replace(writer, fields=()), replace(named_alike, fields=fields), {}
            case rules.ENUM_SYMBOLS | rules.SYMBOL_READ_AS_DEFAULT:
                yield writer, named_alike, mismatch.symbol
            case rules.FIXED_SIZE:
                yield writer, named_alike, bytes(writer.size)
            case rules.TYPE | rules.UNION_BRANCH:
                yield writer, reader, self._messages.smallest(writer)
            case rules.DIGITS_LOST:
                beyond = _MORE_THAN_A_FLOAT if reader.kind == "float" else _MORE_THAN_A_DOUBLE
                yield writer, reader, beyond
            case rules.BYTES_AND_TEXT:
                yield writer, reader, b"\xff" if writer.kind == "bytes" else "é"
            case _:
                yield from ((writer, named_alike, datum) for datum in _samples(writer))


def _samples(writer: AvroType) -> Iterator[Any]:
    """Yield data of a type with a logical type, such that readers who mean something else see another value."""
    precision = writer.logical.precision if writer.logical else None
    if precision is not None:
        for unscaled in (12_345, 10**precision - 1):
            if unscaled < 10**precision:
                yield unscaled.to_bytes(writer.size or unscaled.bit_length() // 8 + 1, "big", signed=True)
    elif writer.kind == "fixed":
        yield bytes(writer.size)
    else:
        yield from _SAMPLES.get(writer.kind, ())
