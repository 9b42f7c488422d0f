"""Reserved names: what table formats and databases take for themselves, and the names of columns beside these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.common.identifiers import names_beside

RESERVED: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "iceberg": frozenset({
        "_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number",
    }),
})  # fmt: skip
"""Names of columns that a table format has for itself."""


def names_in(table_format: str, wanted: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return the name of each column in a table format: a name that is taken gets `_` in front until it is free."""
    return names_beside(wanted, [*RESERVED.get(table_format, ()), *taken])
