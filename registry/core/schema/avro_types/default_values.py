"""Default values: whether one is a value of its field's type, in Avro's JSON form of defaults."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

_BITS: Final = {"int": 31, "long": 63}
_FLOAT_WORDS: Final = ("NaN", "Infinity", "-Infinity", "INF", "-INF")
_LONGEST_SHOWN: Final = 60

_Wrong = tuple[tuple[str, ...], str]
"""Names on the way to what is wrong, and what is expected there."""


def refuse_wrong_default(type_: AvroType, default: Any, pointer: str) -> None:
    """Raise SchemaFault if a default is no value of its type."""
    wrong = _Fitting().wrong(type_, default)
    if wrong is not None:
        place, expected = wrong
        shown = repr(default)
        shown = shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 1] + "…"
        raise SchemaFault(
            f"the default {shown} is not a value of its type: expected {expected}",
            pointer + join_pointer(*place),
            hint="Write a default of the field's type, or remove it.",
        )


class _Fitting:
    """One default against its type. Each value is put to each type once, or unions in unions would multiply."""

    def __init__(self) -> None:
        self._known: dict[tuple[AvroType, int], _Wrong | None] = {}

    def wrong(self, type_: AvroType, value: Any) -> _Wrong | None:
        """Return where and what a value should be instead, or None if it fits.

        The depth of a default is that of its text, so that types inside themselves end here.
        """
        key = (type_, id(value))
        if key not in self._known:
            self._known[key] = self._find_wrong(type_, value)
        return self._known[key]

    def _find_wrong(self, type_: AvroType, value: Any) -> _Wrong | None:
        match type_.kind:
            case "record" if isinstance(value, dict):
                return self._wrong_field(type_, value)
            case "array" if isinstance(value, list):
                return self._wrong_item(type_, [(str(at), one) for at, one in enumerate(value)])
            case "map" if isinstance(value, dict):
                return self._wrong_item(type_, list(value.items()))
            case "union":  # any branch since Avro 1.12; the first one before
                wrongs = [self.wrong(branch, value) for branch in type_.branches]
                return None if None in wrongs else wrongs[0]
        return None if _fits(type_, value) else ((), f"a value of {type_}")

    def _wrong_field(self, type_: AvroType, value: dict[str, Any]) -> _Wrong | None:
        for field in type_.fields:
            if field.name in value:
                wrong = self.wrong(field.type, value[field.name])
                if wrong is not None:
                    return (field.name, *wrong[0]), wrong[1]
            elif not field.has_default:
                return (), f"a value for field `{field.name}`, which has no default of its own"
        return None

    def _wrong_item(self, type_: AvroType, members: list[tuple[str, Any]]) -> _Wrong | None:
        for name, one in members:
            wrong = self.wrong(type_.items, one) if type_.items else None
            if wrong is not None:
                return (name, *wrong[0]), wrong[1]
        return None


def _fits(type_: AvroType, value: Any) -> bool:
    match type_.kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            whole = isinstance(value, int) and not isinstance(value, bool)
            return whole and -(1 << _BITS[type_.kind]) <= value < 1 << _BITS[type_.kind]
        case "float" | "double":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number or value in _FLOAT_WORDS
        case "string":
            return isinstance(value, str)
        case "enum":
            return value in type_.symbols
        case "bytes" | "fixed":  # one character for a byte
            text = isinstance(value, str) and all(character <= "\xff" for character in value)
            return text and (type_.kind == "bytes" or len(value) == type_.size)
    return False
