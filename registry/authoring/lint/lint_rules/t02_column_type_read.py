from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_tables import is_read, typed_mappings
from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.values.type_ranges import read_range


@lint_rule(
    WARNING,
    says="Checks that some value mapping of the catalogue reads every type of a table contract.",
    why="No document defines how such a value is written: messages with one drift in every dialect.",
    good="doc: {type: CLOB}",
    bad="doc: {type: LONG RAW}",
)
def types_are_read(run: LintRun) -> Faults:
    mappings = typed_mappings(run, run.mappings)
    for file, contract in run.tables:
        for name, result in contract.types.items():
            if not is_read(result, mappings) and read_range(result) is not None:
                yield LintFault(file, "a type that some value mapping reads", result, ("columns", name, "type"))
