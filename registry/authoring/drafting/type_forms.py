"""Value forms of a draft: how the values of each source type are written, by all values that were seen of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.authoring.drafting.message_members import Members, SampleMessage
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.contract.value_mappings import UNTYPED, drop_parameters
from cdc_contracts.registry.core.message.schema_block_types import read_block_types
from cdc_contracts.registry.core.message.sent_types import read_types, read_types_within
from cdc_contracts.registry.core.values import FORMS, Context, Flag
from cdc_contracts.registry.core.values.source_types import ARRAY

_FAMILIES: Final = MappingProxyType({
    r".*INT(EGER)?\d*|LONG|BIGSERIAL|SERIAL|BYTE|SHORT": ("integer-number", "integer-text", "integer-or-text"),
    r"DEC(IMAL)?|NUMERIC|NUMBER|FIXED": ("decimal-number", "decimal-text", "json-number-or-text"),
    r"FLOAT\d*|REAL|DOUBLE.*|BINARY.(FLOAT|DOUBLE)": ("float64-number", "float64-text", "json-number-or-text"),
    r"BOOL(EAN)?": ("bool-json", "bool-0-1"),
    r"BIT( VARYING)?": ("bit-number",),
    r"YEAR": ("year-number", "year-text"),
    r"DATE": ("sql-date", "iso-date-z", "days-since-epoch", "epoch-millis-instant", "sql-datetime",
               "iso-datetime-minutes"),
    r"TIME( .*)?": ("sql-time", "iso-time-minutes", "iso-time-z", "millis-of-day", "micros-of-day", "nanos-of-day"),
    r"DATETIME\d*": ("sql-datetime", "iso-datetime-minutes", "iso-instant", "millis-wallclock",
                     "micros-wallclock", "nanos-wallclock", "epoch-seconds.fraction"),
    r"TIMESTAMP.*": ("epoch-seconds.fraction", "epoch-seconds-integer", "epoch-millis-instant", "epoch-micros-instant",
                     "epoch-nanos-instant", "iso-instant",
                     "sql-datetime-instant", "iso-datetime-minutes", "sql-datetime-zone"),
    r"JSONB?": ("json-text",),
})  # fmt: skip
"""Forms by the names of types, the most telling first; texts of other types are `text`."""
_BY_KIND: Final = (
    ({"string"}, "text"), ({"number"}, "json-number"), ({"boolean"}, "bool-json"),
    ({"number", "string"}, "json-number-or-text"), ({"object", "array"}, "json-value"),
)  # fmt: skip
_SIGNS: Final = re.compile(r"\b(UNSIGNED|SIGNED|ZEROFILL)\b")
EXTENDED: Final = MappingProxyType({
    **UNTYPED, "number": "extended-json", "array": "extended-json", "object": "extended-json",
})  # fmt: skip
"""The form of values without a type by their JSON kind, where objects stand for values of other types."""
AS_SENT: Final = "as-sent"
"""The form of values of which nothing is known."""
_FALLBACK: Final = "json-number-or-text"
"""The form of numbers that are written in more than one way; what a stricter form takes is not in doubt for it."""
_ZERO: Final = "0000-00-00 00:00:00"
_STRICT: Final = Context()
_INVALID: Final = (
    (Context(keep_invalid=True), "keep-text"), (Context(invalid_literals=(_ZERO,)), {"literal": _ZERO}),
)  # fmt: skip
_OPAQUE: Final = re.compile(r".*(BINARY|BLOB|BYTEA|RAW|BYTES)|BIT( VARYING)?|(MULTI)?(POINT|LINE.*|POLYGON)|GEOMETRY.*")


@dataclass
class TypeForm:
    """The form of one source type: how many values show it, in how many messages it is named, and the first place."""

    form: str
    values: int
    first: str
    question: str = ""
    """What is not certain of the type; types with the same question are asked about together."""
    invalid: Any = None
    """What a mapping says of texts that are no valid time, where some were seen."""


class UntypedForms(NamedTuple):
    """The form of values without a type by their JSON kind, what shows it, and what is not certain of it."""

    by_kind: Mapping[str, str]
    evidence: str = ""
    question: str = ""


@dataclass
class SeenValues:
    """The values of one source type, or of one JSON kind where messages name no types."""

    first: str
    values: list[Any] = field(default_factory=list)


_PRIMITIVES: Final = MappingProxyType({
    "int8": "integer-number", "int16": "integer-number", "int32": "integer-number", "int64": "integer-number",
    "float": "float32-number-or-literal", "double": "float64-number-or-literal", "boolean": "bool-json",
    "string": "text", "bytes": "base64", "struct": "json-value", "map": "json-value", "array": "json-value",
})  # fmt: skip
"""The form of each primitive type of a schema block; what a semantic name means, no block says."""


def find_forms(members: Members, places: RowPlaces) -> dict[str, TypeForm]:
    """Return the form of each source type by its name as a mapping lists it; nothing where messages name no types."""
    seen: dict[str, SeenValues] = {}
    for message in members.messages:
        types = types_of(message, places) or {}
        for name in types.values():
            seen.setdefault(normalise(name, places), SeenValues(message.place))
        for name, value in _columns(message, places):
            if name in types and value is not None:
                seen[normalise(types[name], places)].values.append(value)
    is_block = places.types is not None and places.types.is_block
    for name in _PRIMITIVES if is_block else ():
        seen.setdefault(name, SeenValues(members.messages[0].place))
    form_of = _form_in_block if is_block else _form_of
    return {name: form_of(name, one) for name, one in sorted(seen.items()) if not name.endswith(ARRAY)}


def find_untyped(members: Members, places: RowPlaces) -> UntypedForms:
    """Return the form of values without a type by their JSON kind, structures only where rows have some.

    That is Extended JSON where an object is a notation of it, and none is broken.
    """
    first = broken = ""
    for message in members.messages:
        for value in (value for _, value in _columns(message, places) if isinstance(value, list | dict)):
            if not _reads("extended-json", value, _STRICT):
                broken = broken or message.place
            elif not first and _is_extended(value):
                first = message.place
    if first and not broken:
        return UntypedForms(EXTENDED, f"an object is Extended JSON, first in {first}")
    by_kind = {**UNTYPED, **dict.fromkeys(sorted(places.structures), "json-value")}
    question = f"an object is Extended JSON in {first}, and broken in {broken}: is each kept as JSON?" if first else ""
    return UntypedForms(by_kind, question=question)


def _is_extended(value: Any) -> bool:
    """Return whether an array or object is read otherwise as Extended JSON than as JSON."""
    extended, plain = (FORMS[form].read(value, _STRICT).text for form in ("extended-json", "json-value"))
    return extended != plain


def normalise(source_type: str, places: RowPlaces) -> str:
    """Return a type name as the mapping of a draft lists it: without parameters, in upper case if no block says it."""
    if places.types is not None and places.types.is_block:
        return drop_parameters(source_type)
    return " ".join(drop_parameters(source_type).upper().split())


def types_of(message: SampleMessage, places: RowPlaces) -> dict[str, str] | None:
    """Return the types that a message names, by column."""
    if places.types_in_image is not None:
        member, key = places.types_in_image
        for parts in places.images:
            image = message.at(parts)
            for row in image if isinstance(image, list) else [image]:
                if isinstance(row, dict) and (types := read_types_within(row.get(member), key)):
                    return types
        return None
    if places.types is None:
        return None
    value = message.at(places.types.parts)
    if places.types.is_block:
        types = read_block_types(value, places.types.field)
        if types is None or places.flattened is None:
            return types
        return {name: one for name, one in types.items() if name in places.columns}  # it describes all members
    return None if value is ABSENT else read_types(value, places.types.name, places.types.type)


def _columns(message: SampleMessage, places: RowPlaces) -> Iterator[tuple[str, Any]]:
    for parts in places.images:
        for row in places.rows(message.at(parts)):
            yield from row.items()


def _form_in_block(name: str, seen: SeenValues) -> TypeForm:
    """Return the form of a type in a schema block; what is not known of it is kept as sent."""
    form = _PRIMITIVES.get(name, AS_SENT)
    if not _takes(form, seen.values):
        return TypeForm(AS_SENT, len(seen.values), seen.first, f"some values are not of the form {form}: of which?")
    question = "which form do values have? Until this says it, they are written as sent." if form == AS_SENT else ""
    return TypeForm(form, len(seen.values), seen.first, question)


def _form_of(name: str, seen: SeenValues) -> TypeForm:
    kinds = {kind_of(value) for value in seen.values}
    if not kinds:
        return TypeForm("text", 0, seen.first, "only NULL was seen: how are values written?")
    plain = " ".join(_SIGNS.sub("", name).split())
    family = next((forms for pattern, forms in _FAMILIES.items() if re.fullmatch(pattern, plain)), ())
    fits = [form for form in family if _takes(form, seen.values)]
    if fits:
        others = [form for form in fits[1:] if FORMS[form].kind != FORMS[fits[0]].kind and form != _FALLBACK]
        question = f"values could be {' or '.join(others)} too: which one?" if others else ""
        return TypeForm(fits[0], len(seen.values), seen.first, question)
    for context, invalid in _INVALID:
        fits = [form for form in family if _takes(form, seen.values, context)]
        if fits:
            question = "some values are no valid time and are kept as text: is that so?"
            return TypeForm(fits[0], len(seen.values), seen.first, question, invalid)
    if kinds == {"string"} and _OPAQUE.fullmatch(name):
        question = "kept as text: is it base64, hex-upper, or else? Then name that form."
        return TypeForm("opaque-text", len(seen.values), seen.first, question)
    form = next((form for those, form in _BY_KIND if kinds <= those and _takes(form, seen.values)), None)
    if form is None:
        question = "values of several kinds are kept as sent: is one of the forms right?"
        return TypeForm(AS_SENT, len(seen.values), seen.first, question)
    question = f"values have none of the forms known for it ({', '.join(family)}): is {form} right?"
    return TypeForm(form, len(seen.values), seen.first, question if family else "")


def _takes(form: str, values: Iterable[Any], context: Context = _STRICT) -> bool:
    return all(_reads(form, value, context) for value in values)


def _reads(form: str, value: Any, context: Context) -> bool:
    if isinstance(value, dict | list) and form not in ("json-value", "extended-json"):
        return form == AS_SENT
    return FORMS[form].reads(value, context, (Flag.OK, Flag.NOT_WHOLE, Flag.INVALID))
