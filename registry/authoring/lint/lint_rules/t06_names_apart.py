from collections import defaultdict
from collections.abc import Iterable, Iterator

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import WARNING


@lint_rule(
    WARNING,
    says="Checks that no two columns of a table, and no two tables, differ only in letter case.",
    why="Most databases treat such names as equal, and so do most readers of typed tables.",
    good="id and order_id",
    bad="id and ID",
)
def names_differ_in_more_than_case(run: LintRun) -> Faults:
    for file, contract in run.tables:
        for first, second in _alike(contract.columns):
            yield LintFault(file, f"a name other than {first}", second, ("columns", second))
    files = {contract.table: file for file, contract in run.tables}
    for first, second in _alike(files):
        yield LintFault(files[second], f"a name other than {first}", second, ("table",))


def _alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    by_case: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_case[name.casefold()].append(name)
    for first, *others in by_case.values():
        yield from ((first, other) for other in others)
