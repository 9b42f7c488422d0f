"""Pydantic models: the text of a Python module with the frozen models of a canonical table's rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword, issoftkeyword
from types import MappingProxyType
from typing import Final

import pyarrow as pa
from pydantic import BaseModel

from cdc_contracts.registry.core.common.identifiers import distinct_names, docstring_text, plain_name
from cdc_contracts.registry.core.tables.canonical.column_types import INSTANT, WALL_CLOCK
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.tables.schemas.decoded_table import DecodedColumn, decoded_table

_HEAD: Final = '''"""Rows of {table} as decode writes them."""

import datetime as dt
import decimal
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NaiveDatetime
'''
_CONFIG: Final = 'model_config = ConfigDict(frozen=True, extra="forbid", strict=True)'
_PLAIN: Final[Mapping[pa.DataType, str]] = MappingProxyType({
    pa.string(): "str", pa.int64(): "int", pa.int32(): "int", pa.float64(): "float", pa.bool_(): "bool",
    pa.binary(): "bytes", pa.date32(): "dt.date", INSTANT: "AwareDatetime", WALL_CLOCK: "NaiveDatetime",
})  # fmt: skip
_TAKEN: Final = frozenset({*dir(BaseModel), *dir(object), "dt", "decimal", "int", "str", "float", "bool", "bytes"})
"""What a field may not be called: names of pydantic's models, and of types that the fields after it use."""


def pydantic_module(layout: TableLayout) -> str:
    """Return a module with two models: `Row`, a row as decode writes it, and `Image`, the columns on one side of it.

    A row is read with `Row.model_validate(...)` by the names of the table; a name that Python does not take is that of
    a field of another name.
    """
    columns = decoded_table(layout).columns
    parts = [_HEAD.format(table=docstring_text(layout.name.text))]
    image = next((one.members for one in columns if one.members), ())
    if image:
        parts.append(_model("Image", "The columns on one side of a change.", _fields(image)))
    parts.append(_model("Row", "One change of a row.", _fields(columns)))
    return "\n\n".join(parts)


def _model(name: str, doc: str, lines: Iterable[str]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f'class {name}(BaseModel):\n    """{doc}"""\n\n    {_CONFIG}\n\n{body}'


def _fields(columns: Sequence[DecodedColumn]) -> Iterator[str]:
    names = distinct_names((one.name for one in columns), _field_name, _TAKEN)
    for one in columns:
        type_ = ("Image" if one.members else _type(one.type)) + (" | None" if one.nullable else "")
        alias = "" if names[one.name] == one.name else f"alias={one.name!r}"
        source = one.source.source_type if one.source else None
        about = f"description={source!r}" if source else ""
        result = ", ".join(part for part in (alias, about) if part)
        yield f"{names[one.name]}: {f'Annotated[{type_}, Field({result})]' if result else type_}"


def _field_name(name: str) -> str:
    """Return a name that a field may have: none that begins with an underscore or with what pydantic keeps."""
    plain = plain_name(name).strip("_") or "column"
    if plain[0].isdigit() or plain.startswith("model_"):
        plain = f"column_{plain}"
    return f"{plain}_" if iskeyword(plain) or issoftkeyword(plain) else plain


def _type(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        digits = f"max_digits={type_.precision}, decimal_places={type_.scale}"
        return f"Annotated[decimal.Decimal, Field({digits})]"
    if pa.types.is_list(type_):
        return f"list[{_type(type_.value_type)}]"
    if pa.types.is_map(type_):
        return f"dict[{_type(type_.key_type)}, {_type(type_.item_type)} | None]"
    return _PLAIN[type_]
