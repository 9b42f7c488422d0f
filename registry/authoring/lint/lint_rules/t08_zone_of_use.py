from typing import Final

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.values.type_ranges import read_range

_WITHOUT_ZONE: Final = frozenset(
    {"timestamp", "timestamp with local time zone", "datetime", "date", "timestamp without time zone"}
)


@lint_rule(
    WARNING,
    says="Checks that a table with a time zone has a time column that needs one.",
    why="The zone was meant for another table, or the type of a column is wrong.",
    good='at: {type: timestamp} and source_time_zone: "+08:00"',
    bad='no time column and source_time_zone: "+08:00"',
)
def zones_are_of_use(run: LintRun) -> Faults:
    for file, contract in run.tables:
        types = [read_range(one) for one in contract.types.values()]
        if contract.zone is not None and not any(one is None or one.family in _WITHOUT_ZONE for one in types):
            yield LintFault(file, "a column of times without a zone", "none", ("source_time_zone",))
