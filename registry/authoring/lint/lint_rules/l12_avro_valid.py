from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE


@lint_rule(
    ERROR,
    says="Checks that an Avro schema is valid and that its types can hold every JSON value.",
    why="Consumers read with this schema: if it does not parse, or rounds values, they lose data.",
    good='{"name": "es", "type": "long"}',
    bad='{"name": "es", "type": "number"}',
)
def avro_schemas_are_valid(run: LintRun) -> Faults:
    for version in run.versions:
        file = version.folder.joinpath(AVRO_ENVELOPE)
        if file.is_file() and version.reference in run.avro_faults:
            yield LintFault(file, "an Avro schema of JSON values", run.avro_faults[version.reference])
