from cdc_contracts.registry.authoring.lint.lint_locks import locks_under_lint
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.sync.id_locks import Entry, lock_order
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every line of ids.lock is an entry, and that the lines are in order.",
    why="An unreadable line leaves an id unprotected, and lines out of order hide an id that was assigned twice.",
    good="id 7 above id 8",
    bad="a mark of a conflict in git, or id 8 above id 7",
    ignorable=False,
)
def lines_are_entries_in_order(run: LintRun) -> Faults:
    for file, lines in locks_under_lint(run):
        above: Entry | None = None
        for line in lines:
            if line.entry is None:
                yield LintFault(file, "ID NAME@VERSION TYPE SHA-256", line.text[:60], spot=(line.number, 1))
                continue
            if above is not None and lock_order(line.entry) < lock_order(above):
                yield LintFault(file, f"{line.entry.key} above {above.key}", "below it", spot=(line.number, 1))
            above = line.entry
