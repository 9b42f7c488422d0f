"""Bound Avro schemas: the Avro form of the messages of one table, a record of its columns in place of a map.

Each column takes the kinds of values that the form of its type has. Columns that the table contract does not list stay
in a map next to them, so that nothing is lost; `avro_records.Codec` reads and writes such records too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.identifiers import distinct_names, plain_name
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.message.avro_records import (
    ABSENT_ENUM,
    JSON_TEXT,
    MEMBER,
    NUMBER_TEXT,
    OTHER_MEMBERS,
    member_of,
)
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import (
    absent_enum,
    avro_message_schema,
    name_of,
    named_types,
)
from cdc_contracts.registry.core.schema.message_schemas.table_columns import TableMapping, table_mappings
from cdc_contracts.registry.core.values import FORMS

_BRANCHES: Final = {
    "boolean": "boolean", "text": "string", "number": NUMBER_TEXT, "array": JSON_TEXT, "object": JSON_TEXT,
}  # fmt: skip
"""The branch of Avro by the wire of a form."""
_ROW: Final = "Row"
_OTHERS: Final = "others"


def bound_avro_schema(version: Version, table: TableContract, reading_options: ReadingOptions) -> dict[str, Any]:
    """Return the Avro schema of a table's messages in a version.

    Raises UsageError if the version cannot carry a type, or its messages are records with a schema of their own.
    """
    if version.subject == CANONICAL or version.meaning.transport == "avro":
        raise UsageError(
            f"the records of {version} have one schema for all tables",
            hint="Leave out --tables and --table, or give --format avro-canonical.",
        )
    whole = avro_message_schema(version)
    known = {ABSENT_ENUM: absent_enum(), **dict(named_types(whole))}
    binder = _Binder(version, table, table_mappings(version, table, reading_options), known)
    bound = binder.expand(whole)
    for pointer in version.meaning.images.pointers():
        bound = binder.bind(bound, split_pointer(pointer), non_column_members(version.meaning, pointer))
    bound["namespace"] += f".{plain_name(table.table).lower()}"
    result: dict[str, Any] = _named_once(bound | {"doc": f"{table.table} in: {whole['doc']}"}, set())
    return result


class _Binder:
    """Puts the columns of a table into a schema that has no references."""

    def __init__(
        self, version: Version, table: TableContract, mappings: Sequence[TableMapping], known: Mapping[str, Any]
    ) -> None:
        self._version = version
        self._table = table
        self._mappings = mappings
        self._known = known

    def expand(self, avro: Any, within: frozenset[str] = frozenset()) -> Any:
        """Return a type with every reference replaced by what it leads to, but for those of a type to itself."""
        if isinstance(avro, str):
            leads = avro in self._known and avro not in within
            return self.expand(self._known[avro], within) if leads else avro
        if isinstance(avro, list):
            return [self.expand(one, within) for one in avro]
        below = within | {name_of(avro)}
        return _each_type(avro, lambda one: self.expand(one, below))

    def bind(self, avro: Any, path: Sequence[str], excluded: frozenset[str]) -> Any:
        """Return a type with the columns in the image at a path of members."""
        if isinstance(avro, list):
            return [self.bind(one, path, excluded) for one in avro]
        if not isinstance(avro, dict):
            return avro
        match avro["type"]:
            case "record" if path:
                fields = [
                    {**one, "type": self.bind(one["type"], path[1:], excluded)} if member_of(one) == path[0] else one
                    for one in avro["fields"]
                ]
                return {**avro, "fields": fields}
            case "record" if name_of(avro) not in (NUMBER_TEXT, JSON_TEXT):
                return {**avro, "fields": self._with_columns(avro["fields"], excluded)}
            case "array" if not path:
                return {**avro, "items": self.bind(avro["items"], path, excluded)}
            case "map" if not path:
                others = {"name": _OTHERS, "doc": "Columns that are not listed.", "type": avro, OTHER_MEMBERS: True}
                doc = f"The columns of {self._table.table}."
                return {"type": "record", "name": _ROW, "doc": doc, "fields": self._with_columns([others], excluded)}
        return avro

    def _with_columns(self, fields: Sequence[Mapping[str, Any]], excluded: frozenset[str]) -> list[Mapping[str, Any]]:
        """Return the fields of an image with the columns before the map of other members."""
        columns = [name for name in self._table.columns if name not in excluded]
        names = distinct_names(columns, plain_name, taken=[one["name"] for one in fields])
        result = [self._column(name, names[name]) for name in columns]
        first = next((place for place, one in enumerate(fields) if OTHER_MEMBERS in one), len(fields))
        return [*fields[:first], *result, *fields[first:]]

    def _column(self, column: str, name: str) -> dict[str, Any]:
        forms = dict.fromkeys(FORMS[one.forms[column]] for one in self._mappings)
        wires = sorted({wire for form in forms for wire in form.wire})
        branches = [
            self.expand(branch) for branch in (ABSENT_ENUM, "null", *dict.fromkeys(_BRANCHES[wire] for wire in wires))
        ]
        says = " Or: ".join(form.says for form in forms)
        own = {} if member_of({"name": name}) == column else {MEMBER: column}
        doc = f"`{self._table.types[column]}`. {says}"
        return {"name": name, "doc": doc, "type": branches, "default": "ABSENT", **own}


def _named_once(avro: Any, written: set[str]) -> Any:
    """Return a type with each named one written where it is first met, and by its name from then on."""
    if isinstance(avro, list):
        return [_named_once(one, written) for one in avro]
    if not isinstance(avro, dict):
        return avro
    if avro["type"] in ("record", "enum", "fixed"):
        name = name_of(avro)
        if name in written:
            return name
        written.add(name)
    return _each_type(avro, lambda one: _named_once(one, written))


def _each_type(avro: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a type with each type in it changed."""
    result = {key: change(below) if key in ("items", "values") else below for key, below in avro.items()}
    if "fields" in result:
        result["fields"] = [{**one, "type": change(one["type"])} for one in result["fields"]]
    return result
