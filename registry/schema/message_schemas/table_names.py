"""Table names in a message schema: that a message with rows is of one table, as far as it names its table."""

from __future__ import annotations

import re
from typing import Any

from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.schema.message_schemas.clauses import Clause, all_of, any_of, within


def names_table(meaning: Meaning, table: str) -> dict[str, Any]:
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
