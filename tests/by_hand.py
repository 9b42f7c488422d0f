"""Expected facts of each version, written by hand from the vendors' documents, not derived from the code.

A version that was just added has no row yet. Then a test that needs one is skipped and says so: the generic tests cover
the version meanwhile. A row of an older version that is missing is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import pytest

from cdc_contracts.registry.core.contract.catalogue import Catalogue

Row = TypeVar("Row")


def row_of(table: Mapping[str, Row], key: str, *, where: str) -> Row:
    """Return the row of a version, or skip the test with what is to be added where."""
    if key not in table:
        pytest.skip(f"{where} has no row for {key}: add what the documents say of it")
    return table[key]


def without_rows(catalogue: Catalogue, listed: Iterable[str]) -> list[str]:
    """Return the versions that a table lacks and that are no newer than those it lists of their subject."""
    newest: dict[str, int] = {}
    known = set(listed)
    for reference in known:
        subject, _, number = reference.partition("@")
        newest[subject] = max(newest.get(subject, 0), int(number))
    return [
        version.reference
        for version in catalogue.all_versions()
        if version.reference not in known and version.number <= newest.get(version.subject, version.number)
    ]
