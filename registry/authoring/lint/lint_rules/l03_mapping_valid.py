from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources.abc import Traversable

from cdc_contracts.registry.authoring.lint.lint_documents import find_unreadable
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping, without_precision
from cdc_contracts.registry.core.values import FORMS


@lint_rule(
    ERROR,
    says="Checks that a value mapping resolves, uses known value forms, and maps each source type to one form.",
    why="The value form of a type decides how its values are read: with two forms the result is arbitrary.",
    good="integer-text: [INT, BIGINT]",
    bad="integer-text: [INT], and decimal-text: [INT] below it",
)
def mappings_keep_to_the_vocabulary(run: LintRun) -> Faults:
    for file in run.mapping_files:
        name = file.name.removesuffix(".yaml")
        inherited = set(_mapping_faults(run, file, run.mapping_bases.get(name)))
        yield from (fault for fault in _mapping_faults(run, file, name) if fault not in inherited)


def _mapping_faults(run: LintRun, file: Traversable, name: str | None) -> Faults:
    """Yield why a mapping cannot be resolved, or its unknown value forms and misplaced types."""
    if name is None or any(True for _ in find_unreadable(file)):
        return
    try:
        mapping = run.catalogue.unchecked_mapping(name)
    except ContractError as error:
        parts = tuple(error.what.partition(": ")[0].split(".")) if ": " in error.what else ()
        yield LintFault(file, "a value mapping", error.what, parts)
    except (TypeError, ValueError, AttributeError):
        yield LintFault(file, "a value mapping", "values of another kind")
    else:
        yield from (LintFault(file, _value_form_like(form), form, parts) for parts, form in mapping.unknown_forms())
        yield from _misplaced_types(file, mapping)


def _value_form_like(name: str) -> str:
    near = get_close_matches(name, FORMS, 3, 0.4)
    return f"a value form, such as {', '.join(near)}" if near else "a value form, such as text or integer-number"


def _misplaced_types(file: Traversable, mapping: ValueMapping) -> Faults:
    """Yield the source types that are never found, are listed under two forms, or have no form to go with."""
    seen: dict[str, str] = {}
    yield from _misplaced(file, mapping, mapping.document.forms, ("forms",), seen)
    known = {without_precision(name) for name in seen}
    for option, values in mapping.document.options.items():
        for value, forms in values.items():
            own = {name: form for name, form in seen.items() if not mapping.tells_forms_apart(option, name)}
            yield from _misplaced(file, mapping, forms, ("options", option, value), own)
            known |= {without_precision(name) for name in own}
    for alias, source_type in mapping.document.aliases.items():
        if source_type not in known and mapping.document.default is None:
            yield LintFault(file, "a type that has a form", source_type, ("aliases", alias))
    for source_type in mapping.document.scales:
        if source_type not in known:
            yield LintFault(file, "a type that has a form", source_type, ("scales", source_type))


def _misplaced(
    file: Traversable,
    mapping: ValueMapping,
    forms: Mapping[str, tuple[str, ...]],
    parts: tuple[str, ...],
    seen: dict[str, str],
) -> Faults:
    """Yield the types of some forms that are never found, or have a form already; add the forms to those `seen`."""
    for form, types in forms.items():
        for source_type in types:
            bare = without_precision(source_type)
            spelled = mapping.normalise(bare)
            if spelled != bare:
                yield LintFault(file, f"{spelled}, as types are looked up", source_type, (*parts, form))
            elif source_type in seen:
                yield LintFault(
                    file, f"{source_type} under one form", f"also under {seen[source_type]}", (*parts, form)
                )
            seen[source_type] = form
