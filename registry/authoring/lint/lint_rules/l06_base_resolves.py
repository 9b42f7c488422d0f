from cdc_contracts.registry.authoring.lint.lint_links import contract_file
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that `based_on` names an existing version and that there is no cycle.",
    why="A version inherits everything it does not define itself: without its base there is no contract.",
    good="based_on: dts/canal@1",
    bad="based_on: dts/canal@9",
)
def bases_resolve(run: LintRun) -> Faults:
    for version in run.versions:
        document = run.own.get(version.reference)
        if document is None or "based_on" not in document or version.reference in run.resolved:
            continue
        based_on = document["based_on"]
        observed = str(based_on)
        try:
            base = run.catalogue.base(based_on, version.reference)
            if base.reference not in run.own or base.reference not in run.resolved:
                continue  # its own fault, reported there
        except CdcContractsError as error:
            observed = error.what
        except (TypeError, ValueError):
            observed = f"{based_on}, which is no reference with a number"
        yield LintFault(contract_file(version), "SYSTEM/DIALECT@N of a contract", observed, ("based_on",))
