"""dbt sources: a canonical table as `sources.yml` of dbt, with tests of what decode promises."""

from __future__ import annotations

from typing import Any, Final

import yaml

from cdc_contracts.registry.core.common.identifiers import plain_name
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout
from cdc_contracts.registry.core.tables.schemas.create_table_sql import SPARK
from cdc_contracts.registry.core.tables.schemas.decoded_table import COORDINATES, DecodedColumn, decoded_table

_BETWEEN: Final = " || '/' || "
_OPS: Final = tuple(op for op in ROW_OPS if not op.startswith("update-"))  # halves are updates, by `_update_part`


def dbt_sources(table: TableContract, layout: TableLayout) -> str:
    """Return a `sources.yml` of dbt 1.8 or later: every column with its type in Spark SQL, and tests.

    The tests are what holds of every row: the columns that are never NULL, the ops, and that no two rows share their
    coordinates.
    """
    decoded = decoded_table(layout, table)
    above = "_".join(part for part in decoded.name[:-1] if part) or "decoded"
    coordinates = _BETWEEN.join(f"cast({name} as string)" for name in COORDINATES)
    document = {
        "version": 2,
        "sources": [{
            "name": above,
            "description": "Tables that `cdc-contracts decode` writes.",
            "tables": [{
                "name": decoded.name.table,
                "description": decoded.about,
                "data_tests": [
                    {"unique": {"name": f"{plain_name(decoded.name.text)}_unique", "column_name": coordinates}}
                ],
                "columns": [_column(one) for one in decoded.columns],
            }],
        }],
    }  # fmt: skip
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text


def _column(column: DecodedColumn) -> dict[str, Any]:
    about = {"description": column.about} if column.about else {}
    tests: list[Any] = [] if column.nullable else ["not_null"]
    if column.name == "_op" and column.source is None:
        tests.append({"accepted_values": {"values": list(_OPS)}})
    tested = {"data_tests": tests} if tests else {}
    return {"name": column.name, **about, "data_type": SPARK.type(column.type), "quote": True, **tested}
