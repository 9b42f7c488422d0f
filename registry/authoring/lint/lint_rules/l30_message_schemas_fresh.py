from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that message.schema.json and message.avsc are up to date with their contract.",
    why="Other teams use these files: an outdated one misinforms them. `cdc-contracts schema --write FOLDER` renews "
    "them.",
    good="files as `cdc-contracts schema --write` leaves them",
    bad="a changed contract with the files from before",
    ignorable=False,
)
def message_schemas_are_fresh(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.schema.message_schemas.schema_files import stale_files

    for version in run.versions:
        try:
            stale = stale_files(version, missing=False)
        except (CdcContractsError, TypeError, ValueError, AttributeError, KeyError):
            continue  # what is wrong with its documents is reported by other rules
        for name in stale:
            expected = "what `cdc-contracts schema --write` writes from the contract"
            yield LintFault(version.folder.joinpath(name), expected, "another text")
