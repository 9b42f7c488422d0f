"""Rule modules: rules are found by the modules of a package; no second list names them.

A file of such a package holds the records of its rules as values of the module. Looking for names imports nothing, so
that a vocabulary can be known without what carries it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Final, TypeVar

DRIFT_CLASSES: Final = "cdc_contracts.registry.common.drift_classes"
"""Where the classes of drift are, one file each, called after number and name."""
DRIFT_RULES: Final = "cdc_contracts.registry.validate.drift_rules"
"""Where the rules that contracts name under `rules` are, one file each, called after the rule."""
DRIFT_NOTES: Final = "cdc_contracts.registry.validate.drift_notes"
"""Where those are that contracts name under `notes`."""
LINT_RULES: Final = "cdc_contracts.registry.lint.lint_rules"
"""Where the rules of lint are, one file each, called after id and name."""
JSON_RULES: Final = "cdc_contracts.registry.compat.json_schema"
"""Where JSON Schemas are compared; the rules are in the files that find their differences."""
PUBLICATION_RULES: Final = "cdc_contracts.registry.compat"
"""The same of what is published."""
CONTRACT_SECTIONS: Final = "cdc_contracts.registry.compat.meaning.contract_sections"
"""Where the keys of contracts are compared, with the rules that differences fall under."""
COMPATIBILITY_RULES: Final = (
    PUBLICATION_RULES,
    "cdc_contracts.registry.compat.avro",
    JSON_RULES,
    "cdc_contracts.registry.compat.meaning",
    CONTRACT_SECTIONS,
    "cdc_contracts.registry.compat.tables",
    "cdc_contracts.registry.sync",
)
"""All packages in which something is compared."""

R = TypeVar("R")


def rule_names(package: str) -> tuple[str, ...]:
    """Return the names of the rules of a package whose files are called after them, in order; none is imported."""
    return tuple(name.replace("_", "-") for name in _modules_of(package))


@cache
def find_records(package: str, kind: type[R]) -> tuple[R, ...]:
    """Return every record of a kind that a module of the package holds, by the name of the module, then as it stands.

    A record that one module takes from another is found once. Raises ValueError if two have one id.
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
