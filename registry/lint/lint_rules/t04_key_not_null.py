from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.lint.lint_run import LintRun


@lint_rule(
    ERROR,
    says="Checks that no column of a primary key is said to be nullable; one that does not say it is not.",
    why="Rows whose key is NULL cannot be told apart, and no database has them.",
    good="id: {type: int, nullable: false} in primary_key",
    bad="id: {type: int, nullable: true} in primary_key",
)
def keys_are_not_null(draft: LintRun) -> Faults:
    for file, contract in draft.tables:
        for name in dict.fromkeys(contract.primary_key):
            column = contract.columns[name]
            if column.nullable and "nullable" in column.model_fields_set:
                yield LintFault(file, "nullable: false, for a column of the key", "nullable", ("columns", name))
