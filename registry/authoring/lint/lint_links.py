"""Lint links: common parts of rules about references between documents: targets of places, and bases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.core.contract.model import Meaning


def member_at(schema: dict[str, Any], parts: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the schema of the member that names lead to; None if a message cannot have it."""
    step: Any = schema
    for part in (None, *parts):
        if part is not None:
            properties = step.get("properties", {})
            step = properties[part] if part in properties else step.get("additionalProperties", True)
        while isinstance(step, dict) and "$ref" in step:
            step = resolve_reference(schema, step["$ref"])
        if step is False:
            return None
        if not isinstance(step, dict):
            step = {}
    found: dict[str, Any] = step
    return found


def resolve_reference(schema: dict[str, Any], reference: str) -> Any:
    """Return what a `$ref` within the file leads to; any value if it leads to nothing, which has a rule of its own."""
    found = follow(schema, split_pointer(reference.removeprefix("#")))
    return True if found is ABSENT else found


def meanings_under_lint(run: LintRun) -> Iterator[tuple[Version, Meaning]]:
    """Yield the readable versions under lint, each with its meaning."""
    for version in run.versions:
        if version.subject != CANONICAL and version.reference in run.meanings:
            yield version, run.meanings[version.reference]


def base_has(run: LintRun, version: Version, *parts: str) -> bool:
    """Return whether the value at `parts` comes from a base that is under lint, and is reported there."""
    step: Any = run.own.get(version.reference, {})
    for part in parts:
        if not isinstance(step, dict) or part not in step:
            return version.base is not None and run.is_under_lint(version.base)
        step = step[part]
    return False


def contract_file(version: Version) -> Traversable:
    """Return the file of a contract."""
    return version.folder.joinpath("contract.yaml")
