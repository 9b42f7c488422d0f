"""Values of BSON in MongoDB Extended JSON, by objects in v1 strict, v2 canonical or v2 relaxed notation.

Each object is first brought to relaxed notation. The canonical text is taken from that alone, so that the notations of
one value have one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from cdc_contracts.registry.core.common.exact_number import JSON_NUMBER, Number
from cdc_contracts.registry.core.common.json_structures import (
    ArrayText,
    ObjectText,
    as_structure,
    read_structure,
    write_json,
)
from cdc_contracts.registry.core.values.byte_strings import decode_base64, encode_base64
from cdc_contracts.registry.core.values.datetimes import (
    format_moment,
    parse_moment,
    read_iso_instant,
    read_iso_offset,
)
from cdc_contracts.registry.core.values.decimals import read_decimal
from cdc_contracts.registry.core.values.floats import LITERALS
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context, Value
from cdc_contracts.registry.core.values.integers import INT64_CHARACTERS, INTEGER, read_count, read_integer
from cdc_contracts.registry.core.values.timestamps import FIRST_MILLI, LAST_MILLI, read_millis_instant

_LEAST, _MOST = -(2**63), 2**63 - 1
_MILLIS: Final = 3
_ONE_MEMBER: Final = re.compile(r'\{"([^"\\\x00-\x1f]*)":(?:"([^"\\\x00-\x1f]*)"|(-?(?:0|[1-9][0-9]*)))\}')
_OBJECT_ID: Final = re.compile("[0-9A-Fa-f]{24}")
_SUBTYPE: Final = re.compile("[0-9A-Fa-f]{1,2}")
_UUID: Final = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_UUID_SUBTYPE: Final = "04"
_PLAIN: Final = Context()

Members = Mapping[str, Any]


def read_extended_json(token: str, _context: Context) -> Value:
    """Read an array or object by the values that it stands for; the text of any other value is itself."""
    if not isinstance(token, ArrayText | ObjectText):
        return Value(token)
    try:
        found = _read_one_member(token) or read_structure(token)
    except ValueError as error:
        raise BrokenValue from error
    return Value(_text_of(_relax(found)))


def _read_one_member(token: str) -> dict[str, Any] | None:
    """Return an object of one member that holds a plain text or an integer, as most are; None for any other."""
    found = _ONE_MEMBER.fullmatch(token)
    if found is None:
        return None
    name, text, digits = found.groups()
    return {name: Number(digits) if text is None else text}


def write_extended_json(text: str, context: Context) -> str | list[Any] | dict[str, Any]:
    """Write an array or object by its JSON text, digits as a number of v2 notation, and any other text unchanged."""
    value = _structure_of(text)
    if value is None:
        return text
    try:
        same = read_extended_json(as_structure(value), context).text == text
    except BrokenValue:
        same = False
    return value if same else text


def _structure_of(text: str) -> list[Any] | dict[str, Any] | None:
    """Return what may read as a text, other than the text; None if there is nothing."""
    if JSON_NUMBER.fullmatch(text):
        is_long = len(text) <= INT64_CHARACTERS and INTEGER.fullmatch(text) and _LEAST <= int(text) <= _MOST
        return {"$numberLong" if is_long else "$numberDecimal": text}
    if not text.startswith(("[", "{")):
        return None
    try:
        return read_structure(text)
    except ValueError:
        return None


def _relax(value: Any) -> Any:
    """Return a parsed value with all that stands for values of BSON in relaxed notation.

    Raises BrokenValue: the members of an object are those of such a value, but not what is in them.
    """
    if isinstance(value, list):
        return [*map(_relax, value)]
    if not isinstance(value, dict):
        return value
    relax = _NOTATIONS.get(frozenset(value)) if len(value) <= _MOST_MEMBERS else None
    return {name: _relax(one) for name, one in value.items()} if relax is None else relax(value)


def _text_of(relaxed: Any) -> str:
    """Return the canonical text of a value in relaxed notation."""
    match relaxed:
        case Number():
            return read_decimal(relaxed.token, _PLAIN).text
        case {"$numberDecimal": text, **others} if not others:
            return text if text in LITERALS else read_decimal(text, _PLAIN).text
        case {"$date": str() as text, **others} if not others:
            return read_iso_instant(text, _PLAIN).text
        case {"$date": {"$numberLong": token}, **others} if not others and FIRST_MILLI <= int(token) <= LAST_MILLI:
            return read_millis_instant(token, _PLAIN).text
        case {"$binary": {"base64": text}, **others} if not others:
            return text  # type: ignore[no-any-return]
        case {"$oid": text, **others} | {"$symbol": text, **others} | {"$numberDouble": text, **others} if not others:
            return text  # type: ignore[no-any-return]
    return write_json(relaxed)


def _relax_integer(members: Members, *, name: str) -> Number:
    return Number(_integer_of(members[name]))


def _integer_of(value: Any) -> str:
    """Return the digits of an integer that is written as text."""
    text = _text(value)
    if read_integer(text, _PLAIN).text != text:
        raise BrokenValue
    return text


def _relax_double(members: Members) -> Any:
    text = _text(members["$numberDouble"])
    if text in LITERALS:
        return {"$numberDouble": text}
    _match(JSON_NUMBER, text)
    return Number(text)


def _relax_decimal(members: Members) -> Any:
    text = _text(members["$numberDecimal"])
    return {"$numberDecimal": text if text in LITERALS else _match(JSON_NUMBER, text)}


def _relax_object_id(members: Members) -> Any:
    return {"$oid": _match(_OBJECT_ID, members["$oid"]).lower()}


def _relax_date(members: Members) -> Any:
    """Write an instant as text from 1970 to 9999, as relaxed notation does, and as milliseconds beyond."""
    millis = _millis_of(members["$date"])
    if not 0 <= millis <= LAST_MILLI:
        return {"$date": {"$numberLong": str(millis)}}
    seconds, rest = divmod(millis, 1000)
    return {"$date": format_moment(seconds, f".{rest:03d}Z" if rest else "Z")}


def _millis_of(value: Any) -> int:
    match value:
        case Number():
            return read_count(value.token, _LEAST, _MOST)
        case {"$numberLong": digits, **others} if not others:
            return read_count(_integer_of(digits), _LEAST, _MOST)
    seconds, fraction = parse_moment(read_iso_offset(_text(value), _PLAIN).text)
    if len(fraction) > _MILLIS:
        raise BrokenValue
    return seconds * 1000 + int(fraction.ljust(_MILLIS, "0"))


def _relax_binary(members: Members) -> Any:
    inner = _members(members["$binary"], "base64", "subType")
    return _binary(inner["base64"], inner["subType"])


def _relax_typed_binary(members: Members) -> Any:
    return _binary(members["$binary"], members["$type"])


def _relax_uuid(members: Members) -> Any:
    digits = _match(_UUID, members["$uuid"]).replace("-", "")
    return _binary(encode_base64(bytes.fromhex(digits)), _UUID_SUBTYPE)


def _binary(base64: Any, subtype: Any) -> Any:
    decode_base64(_text(base64))
    return {"$binary": {"base64": base64, "subType": _match(_SUBTYPE, subtype).zfill(2).upper()}}


def _relax_regex(members: Members) -> Any:
    """Write a regular expression; a `$regex` that holds anything but text is an operator of queries and stays."""
    pattern, options = members["$regex"], members["$options"]
    if not isinstance(pattern, str):
        return {name: _relax(one) for name, one in members.items()}
    return {"$regularExpression": {"pattern": pattern, "options": _text(options)}}


def _relax_regular_expression(members: Members) -> Any:
    inner = _members(members["$regularExpression"], "pattern", "options")
    return {"$regularExpression": {name: _text(inner[name]) for name in ("pattern", "options")}}


def _relax_timestamp(members: Members) -> Any:
    """Write two unsigned numbers of 32 bits; older versions of drivers write the signed ones of the same bits."""
    inner = _members(members["$timestamp"], "t", "i")
    if not all(isinstance(one, Number) for one in inner.values()):
        raise BrokenValue
    counts = {name: read_count(inner[name].token, -(2**31), 2**32 - 1) for name in ("t", "i")}
    return {"$timestamp": {name: Number(str(count % 2**32)) for name, count in counts.items()}}


def _relax_pointer(members: Members) -> Any:
    """Write a pointer into a collection; the driver writes its two members alone in all notations but the canonical."""
    inner = _members(members["$dbPointer"], "$ref", "$id")
    return {"$ref": _text(inner["$ref"]), "$id": _relax_object_id(_members(inner["$id"], "$oid"))}


def _relax_code(members: Members) -> Any:
    code, scope = _text(members["$code"]), members.get("$scope", {})
    if not isinstance(scope, dict):
        raise BrokenValue
    return {"$code": code, "$scope": _relax(scope)} if "$scope" in members else {"$code": code}


def _keep_text(members: Members, *, name: str) -> Any:
    return {name: _text(members[name])}


def _keep_constant(members: Members, *, name: str, constant: str) -> Any:
    """Keep an object whose only member has one value."""
    if write_json(members[name]) != constant:
        raise BrokenValue
    return members


def _members(value: Any, *names: str) -> Members:
    """Return an object that has just these members. Raises BrokenValue: it has others, or is none."""
    if not isinstance(value, dict) or value.keys() != set(names):
        raise BrokenValue
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BrokenValue
    return value


def _match(pattern: re.Pattern[str], value: Any) -> str:
    if not pattern.fullmatch(_text(value)):
        raise BrokenValue
    return value  # type: ignore[no-any-return]


_NOTATIONS: Final[Mapping[frozenset[str], Callable[[Members], Any]]] = {
    frozenset(names): relax
    for names, relax in (
        (("$numberInt",), partial(_relax_integer, name="$numberInt")),
        (("$numberLong",), partial(_relax_integer, name="$numberLong")),
        (("$numberDouble",), _relax_double),
        (("$numberDecimal",), _relax_decimal),
        (("$oid",), _relax_object_id),
        (("$date",), _relax_date),
        (("$binary",), _relax_binary),
        (("$binary", "$type"), _relax_typed_binary),
        (("$uuid",), _relax_uuid),
        (("$regex", "$options"), _relax_regex),
        (("$regularExpression",), _relax_regular_expression),
        (("$timestamp",), _relax_timestamp),
        (("$dbPointer",), _relax_pointer),
        (("$code",), _relax_code),
        (("$code", "$scope"), _relax_code),
        (("$symbol",), partial(_keep_text, name="$symbol")),
        (("$undefined",), partial(_keep_constant, name="$undefined", constant="true")),
        (("$minKey",), partial(_keep_constant, name="$minKey", constant="1")),
        (("$maxKey",), partial(_keep_constant, name="$maxKey", constant="1")),
    )
}
"""What brings an object to relaxed notation, by the names of all its members."""
_MOST_MEMBERS: Final = max(map(len, _NOTATIONS))
