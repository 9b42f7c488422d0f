"""Lint tables: common parts of rules about table contracts: the value mappings that read their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.core.contract.value_mappings import ValueMapping


def typed_mappings(run: LintRun, names: Iterable[str]) -> list[ValueMapping]:
    """Return the mappings that know types; one with a default accepts any type."""
    found = [run.mappings[name] for name in names if name in run.mappings]
    return [mapping for mapping in found if mapping.document.default is None]


def is_read(source_type: str, mappings: Iterable[ValueMapping]) -> bool:
    """Return whether some mapping has a form for a type."""
    return any(mapping.form_of(source_type) is not None for mapping in mappings)
