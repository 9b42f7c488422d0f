"""Canonical names: which typed table the rows of a source table are written to, its own or that of its family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns, TableName


def canonical_name(name: TableName, families: TableFamilies) -> TableName:
    """Return the name of the typed table of a source table: that of its family if it is a shard, else its own."""
    family = _family_of(name, families)
    return name if family is None else _name_of(family)


def shards_of(name: TableName, families: TableFamilies) -> str | None:
    """Return the pattern of the shards whose rows a typed table holds, None if it holds those of one source table."""
    return next((pattern for family, pattern in families.patterns.items() if _name_of(family) == name), None)


def table_in_statement(
    said: Iterable[str | None], written: tuple[str, ...], families: TableFamilies
) -> TableName | None:
    """Return the typed table of the shard that a statement is about, None if it is about none.

    `written` are the parts of its name in the text, `said` the database and schema that its message names beside.
    """
    full = written if len(written) > 1 else (*filter(None, said), *written)
    family = families.family_of(".".join(full), any_case=True)
    return None if family is None else _name_of(family)


def observed_canonical(observed: ObservedColumns, families: TableFamilies) -> ObservedColumns:
    """Return the columns that rows had by the typed tables that they are written to."""
    if not families:
        return observed
    return observed.renamed(lambda name: canonical_name(name, families))


def count_canonical(rows: Mapping[TableName, int], families: TableFamilies) -> Counter[TableName]:
    """Return the number of rows of each typed table, given those of each source table.

    Raises UsageError if a source table has the name of a family whose shard it is not.
    """
    counts = Counter[TableName]()
    for name, count in rows.items():
        family = _family_of(name, families)
        if family is None and (pattern := shards_of(name, families)) is not None:
            raise UsageError(
                f"there is a table {name.text}, which is no shard by its pattern `{pattern}`",
                where=f"families, {table_name(*name)}",
                hint="Give the family another name, or a pattern that matches this table too.",
            )
        counts[name if family is None else _name_of(family)] += count
    return counts


def _family_of(name: TableName, families: TableFamilies) -> str | None:
    return families.family_of(table_name(*name) or "") if name.table else None


def _name_of(family: str) -> TableName:
    *above, table = family.split(".")
    return TableName.of(above[0] if above else None, above[1] if len(above) > 1 else None, table)
