from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that a primary key names no column twice.",
    why="One of the two was meant to be another column: different rows are merged.",
    good="primary_key: [id, shop]",
    bad="primary_key: [id, id]",
)
def keys_name_columns_once(run: LintRun) -> Faults:
    for file, contract in run.tables:
        for name in sorted({one for one in contract.primary_key if contract.primary_key.count(one) > 1}):
            yield LintFault(file, f"{name} once", f"{contract.primary_key.count(name)} times", ("primary_key",))
