from cdc_contracts.registry.authoring.lint.lint_documents import OWN_FILES, find_unreadable, find_unreadable_expectation
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract import errata


@lint_rule(
    ERROR,
    says="Checks that every YAML and JSON file is one document in UTF-8 that names no key twice.",
    why="If a key occurs twice, most parsers silently use the last one: the contract would mean less than it shows.",
    good="status: current",
    bad="status: current, and status: legacy further down",
)
def documents_can_be_read(run: LintRun) -> Faults:
    for version in run.versions:
        for name in OWN_FILES:
            file = version.folder.joinpath(name)
            if file.is_file():
                yield from find_unreadable(file)
        samples = run.samples[version.reference]
        for sample in samples:
            yield from find_unreadable_expectation(sample)
    for file in (*run.mapping_files, *run.errata_files, *run.documents_files):
        yield from find_unreadable(file, is_list=file.name == errata.FILE)
