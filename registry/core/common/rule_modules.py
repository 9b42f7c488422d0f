"""Rule modules: rules are found by the modules of a package; no second list names them.

A file of such a package holds the records of its rules as values of the module. Listing names imports no rule, so that
the vocabulary is known without loading the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Final, TypeVar

VALUE_FORMS: Final = "cdc_contracts.registry.core.values.forms"
"""The forms of values, one file each, named after the form."""
DRIFT_CLASSES: Final = "cdc_contracts.registry.core.common.drift_classes"
"""The classes of drift, one file each, named after number and name."""
DRIFT_RULES: Final = "cdc_contracts.registry.core.validate.drift_rules"
"""The rules that contracts name under `rules`, one file each, named after the rule."""
DRIFT_NOTES: Final = "cdc_contracts.registry.core.validate.drift_notes"
"""The rules that contracts name under `notes`."""
LINT_RULES: Final = "cdc_contracts.registry.authoring.lint.lint_rules"
"""The rules of lint, one file each, named after id and name."""
JSON_RULES: Final = "cdc_contracts.registry.authoring.compat.json_schema"
"""The comparison of JSON Schemas; the rules are in the files that find their differences."""
PUBLICATION_RULES: Final = "cdc_contracts.registry.authoring.compat"
"""The same for published contracts."""
TABLE_RULES: Final = "cdc_contracts.registry.authoring.compat.tables"
"""The same for table contracts."""
CONTRACT_SECTIONS: Final = "cdc_contracts.registry.authoring.compat.meaning.contract_sections"
"""The comparison of the keys of contracts, with the rules for their differences."""
COMPATIBILITY_RULES: Final = (
    PUBLICATION_RULES,
    "cdc_contracts.registry.authoring.compat.avro",
    JSON_RULES,
    "cdc_contracts.registry.authoring.compat.meaning",
    CONTRACT_SECTIONS,
    TABLE_RULES,
    "cdc_contracts.registry.authoring.sync",
)
"""All packages with rules of compatibility."""

R = TypeVar("R")


def rule_names(package: str) -> tuple[str, ...]:
    """Return the names of the rules of a package, which are those of its files, in order; none is imported."""
    return tuple(name.replace("_", "-") for name in _modules_of(package))


@cache
def find_records(package: str, kind: type[R]) -> tuple[R, ...]:
    """Return every record of a kind in the modules of a package, ordered by module, then by position in it.

    A record that one module imports from another is returned once. Raises ValueError if two have one id.
    """
    return refuse_duplicates(
        value
        for name in _modules_of(package)
        for value in vars(import_module(f"{package}.{name}")).values()
        if isinstance(value, kind)
    )


def refuse_duplicates(records: Iterable[R]) -> tuple[R, ...]:
    """Return records, each once. Raises ValueError if two have one id, or one name if they have no id."""
    once = {id(record): record for record in records}
    named: dict[str, R] = {}
    for record in once.values():
        name = str(getattr(record, "id", None) or getattr(record, "name", id(record)))
        if named.setdefault(name, record) is not record:
            raise ValueError(f"two rules have the id {name}: {named[name]} and {record}")
    return tuple(once.values())


def _modules_of(package: str) -> list[str]:
    from pkgutil import iter_modules

    return sorted(one.name for one in iter_modules(import_module(package).__path__) if not one.ispkg)
