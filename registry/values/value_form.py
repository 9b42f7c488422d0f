# ruff: noqa: S105 - a token is a JSON number here
"""Value form: the reference, the fast path and the encoder, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.values.arrow_columns import ColumnResult, complete, leave_open, to_mask
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Flag, FormColumn, Number, Value
from cdc_contracts.registry.values.fractions import has_trailing_zeros, note_trailing_zeros
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from datetime import timezone
    from zoneinfo import ZoneInfo

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ValueForm:
    """How one source type is written on the wire.

    `kind` is its canonical kind, `wire` the JSON kinds it takes besides null (`text`, `number`, `boolean`).
    `decoder` says how the fast path hands values to `column` and `check`:

    ===============  ===================================================================================
    `text`           `pa.string()` of decoded JSON strings
    `raw`            `pa.string()` of JSON number tokens; decoded strings too where `wire` holds `text`
    `int`            `pa.int64()`, or `pa.string()` of digits where one value does not fit
    `text-or-int`    `pa.string()` of decoded strings and of the digits of integers; the form reads both alike
    `bool`           `pa.bool_()`
    ===============  ===================================================================================

    `schema` is a JSON Schema fragment for one value or null: what it refuses is BROKEN, but it knows no calendar.
    """

    name: str
    kind: str
    wire: frozenset[str]
    decoder: str
    schema: Mapping[str, Any]
    says: str
    judge: Callable[[str, Context], Value]
    """The reference on the text of a string, the token of a number, or `true` and `false`."""
    encode: Callable[[str, Context], str | Number | bool]
    validate: Callable[[pa.Array, Context], ColumnResult] = leave_open
    records: tuple[str, ...] = ()
    """The records of an Avro image that hold its values; none for values of JSON."""

    @property
    def needs_zone(self) -> bool:
        """Whether its values are instants only where their zone is given."""
        return self.name == "sql-datetime-instant"

    def kind_in(self, zone: ZoneInfo | timezone | None) -> str:
        """Return the canonical kind of values in a zone: without one, local times stay wall-clock times."""
        return "datetime" if self.needs_zone and zone is None else self.kind

    def read(self, value: str | Number | bool, context: Context) -> Value:  # noqa: FBT001 - a JSON value
        """Read one value of a JSON kind in `wire`.

        Raises BrokenValue: the value does not have this form, or is a number too long to keep.
        """
        if isinstance(value, bool):
            return self.judge("true" if value else "false", context)
        token = value.token if isinstance(value, Number) else str(value)
        if token == "-0" and isinstance(value, Number) and self.decoder in ("int", "text-or-int"):
            token = "0"  # as the fast path sees the integer -0
        return self._read_token(token, context)

    def column(self, values: pa.Array, context: Context) -> FormColumn:
        """Read a column as its decoder delivers it; agrees with `read` on every value."""
        result = self._validate(values, context)
        flags, judged = complete(values, result, lambda token: self._judge(token, context))
        return FormColumn(judged.fill(result.text(), flags), flags)

    def check(self, values: pa.Array, context: Context) -> NDArray[np.uint8] | None:
        """Give the flags of `column` without the work of writing texts."""
        result = self._validate(values, context)
        return complete(values, result, lambda token: self._judge(token, context))[0]

    def write(self, text: str, context: Context) -> str | Number | bool:
        """Write a JSON value that reads back to this canonical text.

        Raises BrokenValue: the form cannot carry the text.
        """
        if text == context.invalid_literal and "text" in self.wire:
            return text
        try:
            value = self.encode(text, context)
        except (ValueError, ArithmeticError, LookupError) as error:
            raise BrokenValue from error
        if self.read(value, context).text != text:
            raise BrokenValue
        return value

    def schema_in(self, context: Context) -> Mapping[str, Any]:
        """Give `schema`, widened by the literal that the mapping takes for an invalid time."""
        literal = context.invalid_literal
        if literal is None or "pattern" not in self.schema:
            return self.schema
        escaped = "".join(
            letter if letter.isalnum() or letter in " -:" else f"\\u{ord(letter):04x}" for letter in literal
        )
        return {**self.schema, "pattern": f"{self.schema['pattern']}|^{escaped}$"}

    def _validate(self, values: pa.Array, context: Context) -> ColumnResult:
        if len(values) == 0:
            return ColumnResult(lambda: pa.array([], pa.string()))
        result = self.validate(values, context)
        if context.zeros_left_out:
            result = replace(result, flags=note_trailing_zeros(values, result.flags))
        if context.invalid_literal is None or "text" not in self.wire:
            return result
        literal = to_mask(pc.equal(values, context.invalid_literal))
        return replace(result, open=literal if result.open is None else result.open | literal)

    def _read_token(self, token: str, context: Context) -> Value:
        if token == context.invalid_literal and "text" in self.wire:
            return Value(token, Flag.INVALID)
        value = self.judge(token, context)
        if context.zeros_left_out and value.flag == Flag.OK and has_trailing_zeros(token):
            return replace(value, flag=Flag.NOTED)
        return value

    def _judge(self, token: str, context: Context) -> tuple[str | None, int]:
        try:
            value = self._read_token(token, context)
        except BrokenValue as broken:
            return None, broken.flag
        return value.text, value.flag
