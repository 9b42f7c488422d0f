from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import WARNING


@lint_rule(
    WARNING,
    says="Checks that a table contract names the database of its table.",
    why="Messages usually name both: the contract of `orders` is not found for shop.orders.",
    good="table: shop.orders",
    bad="table: orders",
)
def tables_name_their_database(run: LintRun) -> Faults:
    for file, contract in run.tables:
        parts = contract.table.split(".")
        if not all(part.strip() == part and part for part in parts):
            yield LintFault(file, "DATABASE.TABLE", contract.table or "nothing", ("table",))
        elif len(parts) == 1:
            yield LintFault(file, "DATABASE.TABLE", contract.table, ("table",))
