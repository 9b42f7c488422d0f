from difflib import get_close_matches

from cdc_contracts.registry.authoring.lint.lint_links import base_has, contract_file, meanings_under_lint
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that the value mappings a contract uses exist and define the value forms it uses as evidence.",
    why="Without the mapping no value can be read; evidence that contradicts the mapping selects the wrong version.",
    good="values: {mapping: dts-canal}",
    bad="values: {mapping: dts-cannal}",
)
def mappings_resolve(run: LintRun) -> Faults:
    for version, meaning in meanings_under_lint(run):
        names = version.mapping_names()
        parts: tuple[str, ...] = ("values", "mapping")
        for name in names:
            if name not in run.catalogue.mapping_names() and not base_has(run, version, "values"):
                known_names = sorted(run.catalogue.mapping_names())
                near = get_close_matches(name, known_names, 3, 0.4)
                meant = f", such as {', '.join(near)}" if near else ""
                yield LintFault(contract_file(version), f"the name of a file in types/{meant}", name, parts)
        known = [run.mappings[name] for name in names if name in run.mappings]
        for index, entry in enumerate(meaning.version_evidence):
            if entry.value_form is None or not known:
                continue
            forms = {mapping.form_of(entry.value_form) for mapping in known}
            if entry.is_form not in forms:
                expected = f"{entry.value_form} as {' or '.join(sorted(form or 'no type' for form in forms))}"
                yield LintFault(
                    contract_file(version), expected, str(entry.is_form), ("version_evidence", str(index), "is")
                )
