"""Bound schemas: the JSON Schema of the messages of one table in one version, every column by name.

It is the message schema of the version and, besides, what a table contract fixes: the names of the table, and the value
form of each column with the bounds of its type. It refuses what validation under that contract calls an error, and rows
of other tables; what validation warns of (a NULL in a NOT NULL column, a column that is not listed) it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause, all_of, any_of, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import op_holds_rows
from cdc_contracts.registry.core.schema.message_schemas.message_examples import with_member_examples
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema, schema_id
from cdc_contracts.registry.core.schema.message_schemas.stated_types import state_types
from cdc_contracts.registry.core.schema.message_schemas.table_columns import (
    column_definitions,
    column_values,
    table_mappings,
)
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_examples
from cdc_contracts.registry.core.schema.message_schemas.whole_rows import MOST_COLUMNS, kept_rows

_WRITTEN: Final = "Written from the contract and the table contract by `cdc-contracts schema`; edit those."
_BY_COLUMN: Final = "D07.value-form:"
"""The comment of a message schema that a bound one makes untrue."""
_NOT_LISTED: Final = "D11.new-column, D11.lost-column (warnings): columns are those of the table contract."
_REF: Final = "#/$defs/"


def bound_schema(version: Version, table: TableContract, reading_options: ReadingOptions) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a table's messages in a version.

    Raises UsageError if the version cannot carry a type of the table, ContractError if it is broken.
    """
    if version.subject == CANONICAL:
        raise UsageError(f"{version} is not a message dialect", hint="Give the contract of a dialect.")
    mappings = table_mappings(version, table, reading_options)
    whole = message_schema(version)
    names = _names_table(version.meaning, table.table)
    own = {
        "table-names": {"description": f"Rows are those of {table.table}.", **names},
        "table-columns": {
            "description": "The value of each column, as its declared type is written.",
            "allOf": list(column_values(version, table, mappings)),
        },
    }
    said = [one for one in whole["allOf"] if not one.get("$comment", "").startswith(_BY_COLUMN)]
    rows = [when(op_holds_rows(version.meaning), {"allOf": [{"$ref": f"{_REF}{name}"} for name in own]})]
    if len(table.columns) > MOST_COLUMNS:
        rows += kept_rows(version.meaning, [len(table.columns)])
    columns = column_definitions(version, table, mappings)
    definitions = {**own, **columns, **whole["$defs"]}
    result = {
        **whole,
        "$id": f"{schema_id(version)}:table:{table.reference}",
        "$comment": _WRITTEN,
        "title": f"{table.reference} in {whole['title']}",
        "allOf": [*said, *rows, {"$comment": _NOT_LISTED}],
        "$defs": {},
        "examples": table_examples(version, table, reading_options, mappings[0].forms),
    }
    return with_member_examples(state_types({**result, "$defs": _used(result, definitions)}), result["examples"])


def _names_table(meaning: Meaning, table: str) -> dict[str, Any]:
    """Return what asks that the names in a message, where there are some, are those of `database.table`.

    Which part of a name in two parts is a schema and which a database, the table contract does not say: either is
    taken.
    """
    envelope = meaning.envelope
    if envelope.database_table is not None and envelope.database_table.at is not None:
        return within(envelope.database_table.at, {"const": table}, required=False)
    *above, name = table.split(".")
    clauses = [_names(envelope.table, name)]
    if len(above) > 1:
        clauses += [_names(envelope.database, ".".join(above[:-1])), _names(envelope.schema_name, above[-1])]
    elif above and envelope.schema_name is None:
        clauses.append(_names(envelope.database, above[0]))
    elif above:
        either = [_names(place, above[0], required=True) for place in (envelope.database, envelope.schema_name)]
        clauses.append(any_of(one for one in either if one))
    return all_of(clauses)


def _names(place: Place | None, name: str, *, required: bool = False) -> dict[str, Any]:
    if place is None or place.at is None:
        return {}
    result: Clause = {"const": name}
    if place.split == "tenant.database":
        result = {"type": "string", "pattern": rf"^(?:[^.]*\.)?{re.escape(name)}$"}
    return within(place.at, result, required=required)


def _used(whole: Mapping[str, Any], definitions: Mapping[str, Clause]) -> dict[str, Clause]:
    """Return the definitions that a schema refers to, also through others."""
    wanted, found = list(_references(whole)), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += _references(definitions[name])
    return {name: result for name, result in definitions.items() if name in found}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _references(one)
    elif isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(_REF)
        for key, below in schema.items():
            if key not in ("examples", "const", "enum"):
                yield from _references(below)
