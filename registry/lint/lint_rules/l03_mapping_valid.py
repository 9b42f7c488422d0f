from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.errors import ContractError
from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_documents import find_unreadable
from cdc_contracts.registry.lint.lint_rule import Faults, LintFault, lint_rule

if TYPE_CHECKING:
    from cdc_contracts.registry.contract.value_mappings import ValueMapping
    from cdc_contracts.registry.lint.lint_run import LintRun


@lint_rule(
    ERROR,
    says="Checks that a value mapping resolves, names known value forms, and gives each source type one form.",
    why="Which value form a type has decides how every value of it is read: a type under two forms is read by chance.",
    good="integer-text: [INT, BIGINT]",
    bad="integer-text: [INT], and decimal-text: [INT] below it",
)
def mappings_keep_to_the_vocabulary(draft: LintRun) -> Faults:
    for file in draft.mapping_files:
        name = file.name.removesuffix(".yaml")
        mapping = draft.mappings.get(name)
        if mapping is None:
            yield from _broken_mapping(draft, file, name)
            continue
        inherited = set(_mapping_faults(file, draft.mappings.get(draft.mapping_bases.get(name, ""))))
        yield from (fault for fault in _mapping_faults(file, mapping) if fault not in inherited)


def _broken_mapping(draft: LintRun, file: Traversable, name: str) -> Faults:
    if any(True for _ in find_unreadable(file)):
        return
    try:
        draft.catalogue.mapping(name)
    except ContractError as error:
        parts = tuple(error.what.partition(": ")[0].split(".")) if ": " in error.what else ()
        yield LintFault(file, "a value mapping", error.what, parts)
    except (TypeError, ValueError, AttributeError):
        yield LintFault(file, "a value mapping", "values of another kind")


def _mapping_faults(file: Traversable, mapping: ValueMapping | None) -> Faults:
    """Yield the names in a resolved mapping that no value form has, and the types that are misplaced."""
    from cdc_contracts.registry.values import FORMS

    if mapping is None:
        return
    document = mapping.document
    named: list[tuple[tuple[str, ...], str]] = [(("forms", form), form) for form in document.forms]
    named += [(("invalid", form), form) for form in document.invalid if form not in document.forms]
    named += [(("zeros_left_out", str(index)), form) for index, form in enumerate(document.zeros_left_out)]
    named += [(("untyped", kind), form) for kind, form in document.untyped.items()]
    named += [(("default",), document.default)] if document.default is not None else []
    for parts, form in named:
        if form not in FORMS:
            yield LintFault(file, "a value form", form, parts)
    yield from _misplaced_types(file, mapping)


def _misplaced_types(file: Traversable, mapping: ValueMapping) -> Faults:
    """Yield the source types that are never found, stand under two forms, or are aliases of nothing."""
    seen: dict[str, str] = {}
    for form, types in mapping.document.forms.items():
        for source_type in types:
            spelled = mapping.normalise(source_type)
            if spelled != source_type:
                yield LintFault(file, f"{spelled}, as types are looked up", source_type, ("forms", form))
            elif source_type in seen:
                yield LintFault(
                    file, f"{source_type} under one form", f"also under {seen[source_type]}", ("forms", form)
                )
            seen[source_type] = form
    for alias, source_type in mapping.document.aliases.items():
        if source_type not in seen and mapping.document.default is None:
            yield LintFault(file, "a type that has a form", source_type, ("aliases", alias))
