from cdc_contracts.registry.authoring.lint.lint_documents import find_unreadable
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract import errata


@lint_rule(
    ERROR,
    says="Checks that every erratum gives its document, what the document says and shows, the decision and the reason.",
    why="Without the reason, the next reader of the vendor's page may decide differently.",
    good="{id: E7, document: …, says: …, shows: …, decision: enforce, why: …}",
    bad="{id: E7, says: …}",
)
def errata_are_complete(run: LintRun) -> Faults:
    for file in run.errata_files:
        if not any(True for _ in find_unreadable(file, is_list=True)):
            try:
                errata.read_errata_file(file)
            except ContractError as error:
                yield LintFault(file, error.hint or "an erratum with every member", error.what)
