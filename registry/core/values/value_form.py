# ruff: noqa: S105 - a token is a JSON number here
"""Value form: how one source type is written, what reads it and what writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.json_structures import as_structure
from cdc_contracts.registry.core.common.rule_modules import VALUE_FORMS
from cdc_contracts.registry.core.values.form_values import READ, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.core.values.fractions import has_trailing_zeros
from cdc_contracts.registry.core.values.integers import INTEGER, write_text
from cdc_contracts.registry.core.values.source_types import parameters_of
from cdc_contracts.registry.core.values.structures import read_structure
from cdc_contracts.registry.core.values.text_values import read_as_sent, read_text, token_of

if TYPE_CHECKING:
    from datetime import timezone
    from zoneinfo import ZoneInfo


JsonValue = str | Number | bool | list[Any] | dict[str, Any]
"""A JSON value besides null, as the strict parser makes it; a structure may stand as its text."""
JSON_KINDS: Final = {
    "text": "string", "number": "number", "boolean": "boolean", "array": "array", "object": "object",
}  # fmt: skip
"""The kind of JSON values by what forms call it."""
WIRES: Final = {kind: wire for wire, kind in JSON_KINDS.items()}
"""What forms call a kind of JSON values."""


@dataclass(frozen=True, slots=True)
class NativeCheck:
    """The form in C (`forms.h`) that decides usual values of a value form, and the whole numbers that they lie between.

    `writes` says whether C writes the same canonical texts too, `record` which record of an Avro image holds the value,
    `numbers` whether it also decides the numbers that the value form reads by another.
    """

    form: str
    least: int = -(2**63)
    most: int = 2**63 - 1
    writes: bool = True
    record: str = ""
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of a form: values as JSON texts, with what they read as, and values that it refuses.

    `edges` are canonical texts on which consumers fail; one form of each canonical kind has them. `column_type` is the
    type of their column, for forms that read by its parameters.
    """

    good: tuple[tuple[str, str], ...]
    bad: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    column_type: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ValueForm:
    """How one source type is written on the wire.

    `kind` is its canonical kind, `wire` the JSON kinds it takes besides null (`text`, `number`, `boolean`, `array`,
    `object`).
    `decoder` says what the parser of batches makes of the values of a column that holds nothing else: `text`, `int`,
    `bool`, `raw` (tokens of JSON numbers; values of other kinds too where `wire` holds them) or `text-or-int`.

    `schema` is a JSON Schema fragment for one value or null: what it refuses is BROKEN, but it knows no calendar.
    """

    name: str
    kind: str
    wire: frozenset[str]
    schema: Mapping[str, Any]
    reader: Callable[[str, Context], Value]
    """Reads the text of a string, the token of a number, `true` and `false`, or the JSON text of a structure.

    That of an array is an `ArrayText`, that of an object an `ObjectText`; as a text, they would be others.
    """
    examples: Examples
    writer: Callable[[str, Context], JsonValue] = write_text
    """Writes a canonical text; by default that text."""
    decoder: str = "text"
    native: tuple[NativeCheck, ...] = ()
    """What decides its values in C, one for each of `records`; without it they are all read by `reader`."""
    records: tuple[str, ...] = ()
    """The records of an Avro image that hold its values; none for values of JSON."""
    type_parameters: frozenset[str] = frozenset()
    """The parameters of a column's type that its values are read by: `scale`, `length`, `members`."""
    numbers: ValueForm | None = None
    """The form that reads its numbers, where these are no texts without quotes."""
    texts: frozenset[str] | None = None
    """The only texts that it takes beside numbers; None if it takes others too."""
    kept: tuple[int, int] | None = None
    """The least and the greatest number that is kept as sent where the mapping keeps times that do not exist."""
    kept_text: str = ""
    """The pattern of texts of other layouts that are kept as sent there too; empty if there are none."""
    needs_zone: bool = False
    """Whether its values are instants only where their zone is given."""

    @property
    def says(self) -> str:
        """How a value looks, in words: the docstring of the form's file."""
        file = import_module(f"{VALUE_FORMS}.{re.sub('[.-]', '_', self.name)}")
        return " ".join((file.__doc__ or "").split())

    @property
    def example(self) -> str:
        """A usual value as JSON text."""
        return self.examples.good[0][0]

    @property
    def context_of_examples(self) -> Context:
        """The context in which the examples are read."""
        return Context(**parameters_of((self.examples.column_type,), self.type_parameters))

    @property
    def takes_any_text(self) -> bool:
        """Whether every text is a value of the form, and its own canonical text."""
        return self.reader is read_text and "text" in self.wire

    @property
    def takes_all(self) -> bool:
        """Whether every value of the kinds that it takes is one of the form, and nothing is noted of any."""
        return self.reader in (read_text, read_as_sent, read_structure)

    def kind_in(self, zone: ZoneInfo | timezone | None) -> str:
        """Return the canonical kind of values in a zone: without one, local times stay wall-clock times."""
        return "datetime" if self.needs_zone and zone is None else self.kind

    def takes(self, value: Any) -> bool:
        """Return whether a value is of a kind that the form has."""
        return WIRES.get(kind_of(value)) in self.wire

    def reads(self, value: Any, context: Context, flags: Collection[Flag] = READ) -> bool:
        """Return whether a value of any kind is one of the form, and has one of some flags."""
        try:
            return self.takes(value) and self.read(value, context).flag in flags
        except BrokenValue:
            return False

    def read(self, value: JsonValue, context: Context) -> Value:
        """Read one value of a JSON kind in `wire`.

        Raises BrokenValue: the value does not have this form, or is a number too long to keep.
        """
        if self.numbers is not None and isinstance(value, Number):
            return self.numbers.read(value, context)
        token = self.token_read(value)
        if self.texts is not None and not isinstance(value, Number) and token not in self.texts:
            raise BrokenValue
        return self._read_token(token, context)

    def token_read(self, value: JsonValue) -> str:
        """Return the token of a value as it is read: the integer -0 is 0, as the parser sees it."""
        form = self.numbers if self.numbers is not None and isinstance(value, Number) else self
        token = token_of(as_structure(value) if isinstance(value, list | dict) else value)
        is_zero = token == "-0" and isinstance(value, Number) and form.decoder in ("int", "text-or-int")
        return "0" if is_zero else token

    def write(self, text: str, context: Context) -> JsonValue:
        """Write a JSON value that reads back to this canonical text.

        Raises BrokenValue: the form cannot carry the text.
        """
        try:
            if text in context.invalid_literals:
                return text if "text" in self.wire else Number(text)
            value = self.writer(text, context)
        except (ValueError, ArithmeticError, LookupError) as error:
            raise BrokenValue from error
        if self.read(value, context).text != text:
            raise BrokenValue
        return value

    def schema_in(self, context: Context) -> Mapping[str, Any]:
        """Give `schema`, widened by what the mapping takes for an invalid value, or keeps as one."""
        widened = dict(self.schema)
        if self.kept_text and context.keep_invalid:
            widened["pattern"] += f"|^(?:{self.kept_text})$"
        if "pattern" in widened:
            widened["pattern"] += "".join(f"|^{_escape(literal)}$" for literal in context.invalid_literals)
        if "minimum" in widened:
            widened["minimum"] = min((widened["minimum"], *self.numbers_kept(context)))
        return widened

    def numbers_kept(self, context: Context) -> tuple[int, ...]:
        """Give the least and the greatest numbers that are kept though the form does not read them."""
        literals = tuple(int(literal) for literal in context.invalid_literals if INTEGER.fullmatch(literal))
        return (*literals, *self.kept) if self.kept is not None and context.keep_invalid else literals

    def _read_token(self, token: str, context: Context) -> Value:
        if token in context.invalid_literals and not self.records:
            return Value(str(token), Flag.INVALID)
        if self.kept_text and context.keep_invalid and re.fullmatch(self.kept_text, token):
            return Value(token, Flag.INVALID)
        value = self.reader(token, context)
        if context.zeros_left_out and value.flag == Flag.OK and has_trailing_zeros(token):
            return replace(value, flag=Flag.NOTED)
        if value.flag == Flag.OK and any(token == substitute for substitute, _ in context.substitutes):
            return replace(value, flag=Flag.SUBSTITUTE)
        return value


def _escape(literal: str) -> str:
    return "".join(letter if letter.isalnum() or letter in " -:" else f"\\u{ord(letter):04x}" for letter in literal)
