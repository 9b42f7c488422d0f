from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_tables import is_read, typed_mappings
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.values.type_ranges import read_range


@lint_rule(
    ERROR,
    says="Checks that the column types of a table contract are known database types.",
    why="In dialects that send no types, an unknown type makes every message of the table drift.",
    good="id: {type: bigint unsigned}",
    bad="id: {type: bigitn}",
)
def types_are_known(run: LintRun) -> Faults:
    mappings = typed_mappings(run, run.mappings)
    for file, contract in run.tables:
        for name, result in contract.types.items():
            if not is_read(result, mappings) and read_range(result) is None:
                yield LintFault(file, "a type of a database", result, ("columns", name, "type"))
