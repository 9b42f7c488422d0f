from importlib.resources.abc import Traversable
from pathlib import Path

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that no table has contracts in two folders that are read together.",
    why="A run that is given both does not start.",
    good="shop.orders.yaml",
    bad="shop.orders.yaml and old/shop.orders.yaml, both of shop.orders",
)
def tables_have_one_contract(run: LintRun) -> Faults:
    seen: dict[str, Traversable] = {}
    for file, contract in run.tables:
        before = seen.setdefault(contract.table, file)
        if before is not file and Path(str(before)).parent != Path(str(file)).parent:
            yield LintFault(file, f"one contract for {contract.table}", f"another is {before}", ("table",))
