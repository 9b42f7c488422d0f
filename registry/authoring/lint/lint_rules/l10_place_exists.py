from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.authoring.lint.lint_links import contract_file, meanings_under_lint, member_at
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.model import Meaning


@lint_rule(
    ERROR,
    says="Checks that every pointer in a contract leads to a member of its JSON Schema.",
    why="A pointer to a member that no message has is silently read as absent.",
    good="table: {at: /table}",
    bad="table: {at: /tabel}",
)
def places_are_members(run: LintRun) -> Faults:
    for version, meaning in meanings_under_lint(run):
        schema = run.valid_schemas.get(version.reference)
        if schema is None:
            continue
        base = version.base
        inherited = run.meanings.get(base.reference) if base is not None else None
        known = set(_places(inherited)) if base is not None and inherited and run.is_under_lint(base) else set()
        for parts, pointer in _places(meaning):
            if (parts, pointer) not in known and member_at(schema, split_pointer(pointer)) is None:
                yield LintFault(contract_file(version), "a member of the schema", pointer, parts)


def _places(meaning: Meaning) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every pointer of a contract that leads into a message, with where the contract says it."""
    document = meaning.model_dump(by_alias=True, exclude_none=True)
    for section in ("envelope", "images", "ddl", "columns", "values"):
        yield from _pointers(document.get(section), (section,))
    for section in ("enums", "patterns"):
        for pointer in document.get(section, {}):
            yield (section, pointer), pointer
    for index, entry in enumerate(meaning.version_evidence):
        if entry.at is not None:
            yield ("version_evidence", str(index), "at"), entry.at
    for index, test in enumerate(meaning.discriminators):
        for name, pointer in _needed(test):
            yield ("discriminators", str(index), name), pointer


def _pointers(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict) and value.get("from") == "kafka-key":
        return  # it leads into another message
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    for key, below in entries:
        here = (*parts, str(key))
        if isinstance(below, str):
            if key in ("at", "completed_from", "or", "by", "index", "size"):
                yield here, below
        else:
            yield from _pointers(below, here)


def _needed(test: Test) -> Iterator[tuple[str, str]]:
    """Yield the places that have to be there for a test to hold."""
    for name, pointer in (("present", test.present), ("equals", test.equals), ("in", test.within),
                          ("prefix-of", test.prefix_of)):  # fmt: skip
        if pointer is not None:
            yield name, pointer
