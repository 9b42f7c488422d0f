from cdc_contracts.registry.authoring.lint.lint_locks import digests_of, entries_of, locked_targets
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that ids.lock, if present, lists both schemas of every contract and marks removed ones as retired.",
    why="A schema without an id gets one when it is first registered, and a different one in each registry.",
    good="a line for JSON and one for AVRO",
    bad="a new version without a line",
    ignorable=False,
)
def every_schema_has_an_id(run: LintRun) -> Faults:
    for target, file, lines in locked_targets(run):
        present, locked = digests_of(run, target), {entry.key for _, entry in entries_of(lines)}
        for key in present:
            if key.is_contract and key not in locked:
                yield LintFault(file, f"an id for {key}: run `cdc-contracts registry ids`", "none")
        named = {(version.subject, version.number) for version in run.versions}
        for number, entry in entries_of(lines):
            if entry.key.is_contract and not entry.retired and (entry.key.name, entry.key.version) not in named:
                yield LintFault(file, f"{entry.key}, or its line retired", "no such contract", spot=(number, 1))
