from typing import Final

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.values.type_ranges import read_range

_WIDEST: Final = 38
"""The most digits that a decimal of a typed table can have."""


@lint_rule(
    WARNING,
    says=f"Checks that no decimal has more than {_WIDEST} digits, the maximum of typed tables.",
    why="Such a column is text in typed tables: exact, but not a number.",
    good="decimal(38,10)",
    bad="decimal(65,30)",
)
def decimals_fit_typed_tables(run: LintRun) -> Faults:
    for file, contract in run.tables:
        for name, result in contract.types.items():
            read = read_range(result)
            if read is not None and read.family == "decimal" and (read.precision or 0) > _WIDEST:
                yield LintFault(file, f"up to {_WIDEST} digits", result, ("columns", name, "type"))
