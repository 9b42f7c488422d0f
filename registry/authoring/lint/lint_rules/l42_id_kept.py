from cdc_contracts.registry.authoring.lint.lint_locks import digests_of, entries_of, locked_targets
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR

_HEAD = 12
"""How many digits of a digest are shown."""


@lint_rule(
    ERROR,
    says="Checks that a schema with an id is unchanged since it got the id, and that retired schemas are removed.",
    why="Messages already written carry the id and must be read with the schema it had then.",
    good="a new version of a contract for a new member",
    bad="a new member in a version that has an id",
    ignorable=False,
)
def schemas_with_ids_stay(run: LintRun) -> Faults:
    for target, file, lines in locked_targets(run):
        present = digests_of(run, target)
        for number, entry in entries_of(lines):
            found = present.get(entry.key)
            if found is not None and found != entry.digest:
                wanted = f"{entry.key} as it got id {entry.id} ({entry.digest[:_HEAD]}…), or a new version"
                yield LintFault(file, wanted, f"{found[:_HEAD]}…", spot=(number, 1))
            elif found is not None and entry.retired:
                yield LintFault(file, f"{entry.key} not retired, as it is there", "retired", spot=(number, 1))
