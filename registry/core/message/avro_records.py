"""Avro records: JSON messages as records of their contract's Avro schema, and back, without loss.

Distinctions that JSON has and Avro lacks are explicit in these schemas: a number of an image is a record `NumberText`
that keeps its token, an array or object of an image a record `JsonText`, and an absent member is the symbol of the
enum `Absent`, to distinguish it from null. If columns are siblings of named members, a map with the attribute
`other-members` holds the columns. A field represents the member that its attribute `member` names, otherwise the one of
which `avro_names` makes its name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final, NoReturn

import fastavro

from cdc_contracts.registry.core.common.avro_names import avro_name, member_name
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.json_structures import read_structure, write_json
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.values import Number

NUMBER_TEXT: Final = "NumberText"
JSON_TEXT: Final = "JsonText"
ABSENT_ENUM: Final = "Absent"
OTHER_MEMBERS: Final = "other-members"
MEMBER: Final = "member"
"""The attribute of a field that has the member's own name, where Avro does not take it."""

_LONGEST: Final = {"int": 2**31, "long": 2**63}
_FLOATS: Final = ("float", "double")
_PLAIN: Final = ("null", "boolean", "string", "int", "long", *_FLOATS)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
_Path = tuple[str, ...]
_Branch = tuple[str, "_Node"]


def name_field(member: str) -> dict[str, str]:
    """Return the name of the field of a member, with the member where Avro does not take its name."""
    name = avro_name(member)
    return {"name": name} if name == member else {"name": name, MEMBER: member}


def member_of(field: Mapping[str, Any]) -> Any:
    """Return the member that a field represents: a text, unless its attribute says something else."""
    return field[MEMBER] if MEMBER in field else member_name(field["name"])


class AvroError(Exception):
    """A schema, message or record that cannot be carried over exactly: `path` says where, `problem` what."""

    def __init__(self, problem: str, path: Sequence[str] = ()) -> None:
        super().__init__(f"{join_pointer(*path) or '(top)'}: {problem}")
        self.problem = problem
        self.path = join_pointer(*path)


class Codec:
    """Turns the messages of one Avro schema into records and back."""

    def __init__(self, schema: Any) -> None:
        """Raise AvroError if the schema is no valid Avro schema, or holds a type no JSON message is written in."""
        try:
            self._parsed = fastavro.parse_schema(_without_logical_types(schema))
        except Exception as error:  # fastavro raises a dozen kinds for schemas
            raise AvroError(f"not a valid Avro schema: {error}") from error
        try:
            self._root = _compile(self._parsed, {}, ())
        except (KeyError, TypeError, AttributeError) as error:  # what fastavro does not look at
            raise AvroError(f"not a valid Avro schema: {error!r}") from error

    def write(self, message: Mapping[str, Any]) -> bytes:
        """Return a parsed message as one Avro record, without header or frame.

        Raises AvroError if the schema cannot hold the message exactly.
        """
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self._parsed, self._root.to_datum(message, ()))
        return out.getvalue()

    def read(self, record: bytes) -> dict[str, Any]:
        """Return the message that a record holds, as `parse_message` would have returned it.

        Raises AvroError if the bytes are not exactly one record of the schema.
        """
        source = io.BytesIO(record)
        message = self.read_from(source)
        if source.read(1):
            raise AvroError(f"{len(record) - source.tell() + 1} bytes are left after the record")
        return message

    def read_from(self, source: IO[bytes]) -> dict[str, Any]:
        """Return the message of the record at the current position of a file. Raises AvroError if there is none."""
        try:
            datum = fastavro.schemaless_reader(source, self._parsed, None, return_named_type=True)
        except Exception as error:  # fastavro raises a dozen kinds for bytes
            raise AvroError(f"the bytes are not a record of the schema: {type(error).__name__}") from error
        try:
            message: dict[str, Any] = self._root.to_value(datum)
        except ValueError as error:  # others write records as well
            raise AvroError("the record contains a number that JSON cannot represent") from error
        return message


def same_message(left: Any, right: Any) -> bool:
    """Return whether two parsed messages are the same to the digit: `1.0` is not `1.00`, and null is not absent."""
    if isinstance(left, str):
        return isinstance(right, str) and left == right
    if isinstance(left, Number) or isinstance(right, Number):
        return isinstance(left, Number) and isinstance(right, Number) and left.token == right.token
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_message(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_message, left, right))
    return type(left) is type(right) and bool(left == right)


@dataclass(frozen=True, slots=True)
class _Node:
    """One place of a schema, compiled: from a JSON value to an Avro datum, and from a datum to a JSON value."""

    kind: str
    to_datum: Callable[[Any, _Path], Any]
    to_value: Callable[[Any], Any]


def _without_logical_types(schema: Any) -> Any:
    """Return a schema whose numbers are read as numbers: a logical type says what they mean, not how they are kept."""
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: below if key == "default" else _without_logical_types(below)
        for key, below in schema.items()
        if key != "logicalType"
    }


def _compile(schema: Any, named: dict[str, _Node], path: _Path) -> _Node:
    """Return the node of a parsed schema. Raises AvroError if it holds a type that JSON has no value for."""
    if isinstance(schema, list):
        return _union([(_name_of(branch), _compile(branch, named, path)) for branch in schema])
    kind = schema["type"] if isinstance(schema, dict) else schema
    if not isinstance(schema, dict) and schema in named:
        return named[schema]
    if kind in _PLAIN:
        return _plain(kind)
    match kind:
        case "enum":
            named[schema["name"]] = node = _enum(schema)
            return node
        case "array":
            return _array(_compile(schema["items"], named, (*path, "0")))
        case "map":
            return _map(_compile(schema["values"], named, (*path, "*")))
        case "record" | "error":
            return _record(schema, named, path)
    raise AvroError(f"JSON messages cannot be written as Avro {kind}", path)


def _plain(kind: str) -> _Node:
    match kind:
        case "null":
            return _Node(kind, lambda value, at: _expect(value is None, value, "null", at), _same)
        case "boolean":
            return _Node(kind, lambda value, at: _expect(isinstance(value, bool), value, "boolean", at), _same)
        case "string":
            return _Node(kind, lambda value, at: _expect(isinstance(value, str), value, "string", at), _same)
        case "int" | "long":
            return _Node(kind, _whole_number(_LONGEST[kind]), lambda datum: Number(str(datum)))
    return _Node(kind, _floating_number, lambda datum: Number(_float_token(datum)))


def _union(branches: list[_Branch]) -> _Node:
    by_name = dict(branches)

    def to_datum(value: Any, path: _Path) -> Any:
        for name, node in branches:
            if _takes(node, value):
                datum = node.to_datum(value, path)
                return datum if name == "null" else (name, datum)
        raise AvroError(f"no branch of the union holds {_shown(value)}", path)

    def to_value(datum: Any) -> Any:
        if datum is None:
            return None
        if isinstance(datum, tuple):
            return by_name[datum[0]].to_value(datum[1])
        return next(node for _, node in branches if type(datum) in _PYTHON.get(node.kind, ())).to_value(datum)

    return _Node("union", to_datum, to_value)


def _record(schema: Mapping[str, Any], named: dict[str, _Node], path: _Path) -> _Node:
    name = schema["name"]
    fields: dict[str, _Node] = {}
    called: dict[str, str] = {}  # the name of the field of each member
    stands_for = _STAND_INS.get((_last(name), *[field["name"] for field in schema["fields"]]))
    if stands_for is not None:
        node = named[name] = stands_for()
        return node

    others: dict[str, _Node] = {}  # the one field that holds the members without a field of their own

    def to_datum(value: Any, at: _Path) -> Any:
        _expect(isinstance(value, dict), value, "object", at)
        rest = {member: one for member, one in value.items() if member not in fields}
        if rest and not others:
            raise AvroError("the record has no such field", (*at, next(iter(rest))))
        result = {
            called[member]: field.to_datum(value.get(member, ABSENT), (*at, member)) for member, field in fields.items()
        }
        return result | {holder: field.to_datum(rest, at) for holder, field in others.items()}

    def to_value(datum: Any) -> Any:
        found = ((member, field.to_value(datum[called[member]])) for member, field in fields.items())
        result = {member: value for member, value in found if value is not ABSENT}
        for holder, field in others.items():
            rest = field.to_value(datum[holder])
            if not rest.keys().isdisjoint(result):
                raise AvroError(f"`{holder}` contains a member that has its own field", path)
            result |= rest
        return result

    node = named[name] = _Node("record", to_datum, to_value)
    for field in schema["fields"]:
        _check_field_name(field["name"], {*called.values(), *others}, path)
        compiled = _compile(field["type"], named, (*path, field["name"]))
        if field.get(OTHER_MEMBERS) is True:
            if others or compiled.kind != "map":
                raise AvroError(f"only one field, a map, may contain {OTHER_MEMBERS}", path)
            others[field["name"]] = compiled
        else:
            member = _own_member(field, fields, path)
            fields[member], called[member] = compiled, field["name"]
    return node


def _check_field_name(name: str, known: Container[str], path: _Path) -> None:
    if not _NAME.match(name) or name in known:
        raise AvroError(f"`{name}` is not a valid field name, or occurs twice", path)


def _own_member(field: Mapping[str, Any], fields: Mapping[str, _Node], path: _Path) -> str:
    """Return the member that a field represents. Raises AvroError if another field does too."""
    member = member_of(field)
    if not isinstance(member, str) or member in fields:
        raise AvroError(f"`{MEMBER}` of `{field['name']}` is not a valid name, or occurs twice", path)
    return member


def _json_text() -> _Node:
    return _Node(
        JSON_TEXT,
        lambda value, at: {"json": write_json(_expect(isinstance(value, list | dict), value, "array or object", at))},
        lambda datum: read_structure(datum["json"]),
    )


def _number_text() -> _Node:
    return _Node(
        NUMBER_TEXT,
        lambda value, at: {"token": _expect(isinstance(value, Number), value, "number", at).token},
        lambda datum: Number(datum["token"]),
    )


def _enum(schema: Mapping[str, Any]) -> _Node:
    symbols = schema["symbols"]
    if _last(schema["name"]) == ABSENT_ENUM and len(symbols) == 1:
        return _Node(
            ABSENT_ENUM,
            lambda value, at: (_expect(value is ABSENT, value, "no member", at), symbols[0])[1],
            lambda _: ABSENT,
        )
    expected = "one of " + ", ".join(symbols)
    return _Node("enum", lambda value, at: _expect(value in symbols, value, expected, at), _same)


def _array(items: _Node) -> _Node:
    def to_datum(value: Any, path: _Path) -> Any:
        _expect(isinstance(value, list), value, "array", path)
        return [items.to_datum(item, (*path, "0")) for item in value]

    return _Node("array", to_datum, lambda datum: [items.to_value(item) for item in datum])


def _map(values: _Node) -> _Node:
    def to_datum(value: Any, path: _Path) -> Any:
        _expect(isinstance(value, dict), value, "object", path)
        return {name: values.to_datum(item, (*path, name)) for name, item in value.items()}

    return _Node("map", to_datum, lambda datum: {name: values.to_value(item) for name, item in datum.items()})


def _whole_number(longest: int) -> Callable[[Any, _Path], Any]:
    def to_datum(value: Any, path: _Path) -> Any:
        if not (is_integer(value) and _fits(value, longest)):
            _refuse(value, f"an integer below {longest}", path)
        return int(value)

    return to_datum


def _fits(value: Number, longest: int) -> bool:
    return -longest <= value < longest and value.token != "-0"  # noqa: S105  the token of a number


def _floating_number(value: Any, path: _Path) -> Any:
    if not isinstance(value, Number) or _float_token(float(value)) != value.token:
        _refuse(value, "a number that a float keeps to the digit", path)
    return float(value)


def _float_token(value: float) -> str:
    return repr(value)


def _takes(node: _Node, value: Any) -> bool:
    """Return whether a branch of a union is the one for a JSON value."""
    if isinstance(value, Number):
        if node.kind in _LONGEST:
            return is_integer(value) and _fits(value, _LONGEST[node.kind])
        return node.kind == NUMBER_TEXT or (node.kind in _FLOATS and _float_token(float(value)) == value.token)
    if value is ABSENT:
        return node.kind == ABSENT_ENUM
    return node.kind in _BRANCHES[kind_of(value)]


_STAND_INS: Final[Mapping[tuple[str, ...], Callable[[], _Node]]] = {
    (NUMBER_TEXT, "token"): _number_text,
    (JSON_TEXT, "json"): _json_text,
}
"""The nodes of records that stand for a JSON value which Avro does not keep as it is, by their name and fields."""
_BRANCHES: Final[Mapping[str, tuple[str, ...]]] = {
    "null": ("null",),
    "boolean": ("boolean",),
    "string": ("string", "enum"),
    "array": ("array", JSON_TEXT),
    "object": ("record", "map", JSON_TEXT),
}
_PYTHON: Final[Mapping[str, tuple[type, ...]]] = {
    "null": (),
    "boolean": (bool,),
    "string": (str,),
    "int": (int,),
    "long": (int,),
    "float": (float,),
    "double": (float,),
    "enum": (),
    "array": (list,),
    "map": (dict,),
    "record": (),
}


def _expect(holds: bool, value: Any, expected: str, path: _Path) -> Any:  # noqa: FBT001  reads as a sentence
    if not holds:
        _refuse(value, expected, path)
    return value


def _refuse(value: Any, expected: str, path: _Path) -> NoReturn:
    raise AvroError(f"expected {expected}, found {_shown(value)}", path)


def _shown(value: Any) -> str:
    return "no member" if value is ABSENT else f"a value of kind {kind_of(value)}"


def _name_of(branch: Any) -> str:
    if isinstance(branch, str):
        return branch
    return str(branch["name"] if branch["type"] in ("record", "error", "enum", "fixed") else branch["type"])


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _same(value: Any) -> Any:
    return value
