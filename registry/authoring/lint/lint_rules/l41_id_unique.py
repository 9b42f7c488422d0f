from cdc_contracts.registry.authoring.lint.lint_locks import entries_of, locks_under_lint
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.sync.id_locks import Entry, Key
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that each id in ids.lock belongs to one schema and each schema has one id.",
    why="Consumers find the schema of a message by its id alone.",
    good="7 dts/canal@2 JSON and 8 dts/canal@3 JSON",
    bad="7 dts/canal@2 JSON and 7 dts/canal@3 JSON",
    ignorable=False,
)
def ids_stand_for_one_schema(run: LintRun) -> Faults:
    for file, lines in locks_under_lint(run):
        holders: dict[tuple[str, int], Entry] = {}
        keys: dict[Key, Entry] = {}
        for number, entry in entries_of(lines):
            holder = holders.setdefault((entry.key.context, entry.id), entry)
            if holder.digest != entry.digest:
                yield LintFault(
                    file, f"an id of its own for {entry.key}", f"{entry.id}, which is {holder.key}'s", spot=(number, 1)
                )
            if entry.key in keys:
                yield LintFault(
                    file, f"one line for {entry.key}", f"another with id {keys[entry.key].id}", spot=(number, 1)
                )
            keys[entry.key] = entry
