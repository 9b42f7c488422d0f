from cdc_contracts.registry.authoring.lint.lint_links import base_has, contract_file
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every erratum a contract cites is in errata.yaml.",
    why="A reader who asks why the contract reads a message this way must find the answer.",
    good="errata: [E84]",
    bad="errata: [E84O]",
)
def errata_exist(run: LintRun) -> Faults:
    for version in run.versions:
        provenance = run.resolved.get(version.reference, {}).get("provenance")
        cited = provenance.get("errata") if isinstance(provenance, dict) else None
        for index, one in enumerate(cited if isinstance(cited, list) else ()):
            if str(one) not in run.errata and not base_has(run, version, "provenance", "errata"):
                parts = ("provenance", "errata", str(index))
                yield LintFault(contract_file(version), "an entry of errata.yaml", str(one), parts)
