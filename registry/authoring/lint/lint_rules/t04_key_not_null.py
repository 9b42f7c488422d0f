from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that no primary key column is declared nullable; without a declaration it is not nullable.",
    why="Rows with a NULL key cannot be told apart, and databases do not allow them.",
    good="id: {type: int, nullable: false} in primary_key",
    bad="id: {type: int, nullable: true} in primary_key",
)
def keys_are_not_null(run: LintRun) -> Faults:
    for file, contract in run.tables:
        for name in dict.fromkeys(contract.primary_key):
            column = contract.columns[name]
            if column.nullable and "nullable" in column.model_fields_set:
                yield LintFault(file, "nullable: false, for a column of the key", "nullable", ("columns", name))
