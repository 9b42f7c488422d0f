"""Types in a schema block: the columns of a row as a Kafka Connect schema describes them, and where the block is.

A type is the semantic name of a field, without one what a parameter of the field says if the contract names one, else
the primitive type. In brackets are the parameters by which
values are read: precision and scale of a decimal (`*` for a precision that the block does not say), the length of a bit
field, the members of an enumeration if one of them has a comma. A list is its element's type and `[]`.

`org.apache.kafka.connect.json.JsonConverter` (Kafka 3.9) writes the block, and `org.apache.kafka.connect.data.Decimal`
says where the scale is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.connect_schemas import list_fields
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.values import Number, token_of
from cdc_contracts.registry.core.values.listed_members import ESCAPED_COMMA
from cdc_contracts.registry.core.values.source_types import ARRAY

PRECISION: Final = "connect.decimal.precision"
SCALE: Final = "scale"
LENGTH: Final = "length"
ALLOWED: Final = "allowed"
_COMMA: Final = re.compile(r"(?<!\\),")
"""A comma between the members of an enumeration; one inside a member has a backslash before it."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}")


def read_block_types(block: Any, field: str | None, parameter: str | None = None) -> dict[str, str] | None:
    """Return types by column from a block: of the struct in its field `field`, or of the block itself.

    With a `parameter` columns are the fields that have it. None if there is no such struct, or a column has no type.
    """
    struct = block if field is None else _field_of(block, field)
    members = struct.get("fields") if isinstance(struct, dict) else None
    if not isinstance(members, list):
        return None
    found: dict[str, str] = {}
    for member in members if parameter is None else [one for one in members if says_type(one, parameter)]:
        type_ = type_in_block(member, parameter)
        name = member.get("field") if type_ is not None else None
        if type_ is None or not isinstance(name, str):
            return None
        found[name] = type_
    return found


def read_block_defaults(block: Any, field: str | None) -> dict[str, str]:
    """Return the defaults of columns that may be NULL, as they are sent; a converter may write them in place of NULL.

    Defaults that are arrays or objects are left out.
    """
    found: dict[str, str] = {}
    for member in list_fields(block if field is None else _field_of(block, field)):
        if not isinstance(member, dict) or member.get("optional") is not True:
            continue
        name, default = member.get("field"), member.get("default")
        if isinstance(name, str) and isinstance(default, str | Number | bool):
            found[name] = token_of(default)
    return found


def fields_of(block: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the members that a block describes; one that it does not name is not among them."""
    named = [one.get("field") for one in list_fields(block) if isinstance(one, dict)]
    return tuple(name for name in named if isinstance(name, str))


def says_type(schema: Any, parameter: str) -> bool:
    """Return whether the schema of a field has a parameter that names its type."""
    parameters = schema.get("parameters") if isinstance(schema, dict) else None
    return isinstance(parameters, dict) and isinstance(parameters.get(parameter), str)


def block_of(meaning: Meaning) -> ColumnTypes | None:
    """Return where the block is that describes the members beside it, if messages have one."""
    types = meaning.columns.types
    return types if types != "none" and types.names_encodings and types.parameter is None else None


def holder_of(meaning: Meaning) -> str:
    """Return the place of the object whose members a block describes: the one that holds the images, or the image."""
    types, (image, *_) = block_of(meaning), meaning.images.pointers()
    return image if types is not None and types.field is None else join_pointer(*split_pointer(image)[:-1])


def is_described(meaning: Meaning, name: str) -> bool:
    """Return whether a block has to describe a member that is no column; columns have a rule of their own.

    Members that a null value stands for are beside the block of a Kafka key.
    """
    types = block_of(meaning)
    if types is None or types.field is not None:
        return types is not None
    return name in meaning.images.members_beside_columns and name not in meaning.envelope.op.null_value


def type_in_block(schema: Any, parameter: str | None = None) -> str | None:
    """Return the type of a schema; None where it has none. Types are nested no deeper than a message can be."""
    if not isinstance(schema, dict):
        return None
    name, primitive, parameters = schema.get("name"), schema.get("type"), schema.get("parameters")
    if not isinstance(primitive, str):
        return None
    parameters = parameters if isinstance(parameters, dict) else {}
    if isinstance(name, str):
        return name + _brackets(parameters)
    if parameter is not None:
        return f"{parameters[parameter]}{_brackets(parameters)}"
    if primitive != "array":
        return primitive
    items = type_in_block(schema.get("items"))
    return primitive if items is None else items + ARRAY


def _field_of(block: Any, name: str) -> Any:
    return next((one for one in list_fields(block) if isinstance(one, dict) and one.get("field") == name), None)


def _brackets(parameters: Mapping[str, Any]) -> str:
    precision, scale, length = (_number(parameters.get(name)) for name in (PRECISION, SCALE, LENGTH))
    if scale is not None:
        return f"({precision or '*'},{scale})"
    listed = parameters.get(ALLOWED)
    if isinstance(listed, str) and ESCAPED_COMMA in listed:
        return f"({','.join(map(quote_member, _COMMA.split(listed)))})"
    return "" if length is None else f"({length})"


def quote_member(escaped: str) -> str:
    """Return a member of an enumeration in the quotes of a type's text."""
    member = escaped.replace(ESCAPED_COMMA, ",").replace("\\", "\\\\").replace("'", "''")
    return f"'{member}'"


def _number(text: Any) -> str | None:
    """Return a whole number that a parameter says, as JSON text or number; None if it says none."""
    written = text.token if isinstance(text, Number) else text
    return written if isinstance(written, str) and _WHOLE.fullmatch(written) else None
