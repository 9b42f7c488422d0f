from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that every file in samples/ is a message with its expected result, or belongs to one.",
    why="A message without its expected result proves nothing, and neither does a result without its message.",
    good="insert.json and insert.change.json",
    bad="insert.json alone",
)
def samples_are_paired(run: LintRun) -> Faults:
    for version in run.versions:
        for file in run.samples[version.reference].unpaired:
            yield LintFault(file, _other_half(file.name), "one half only")


def _other_half(name: str) -> str:
    """Return the file that should stand beside one, and what it holds."""
    stem, _, ending = name.partition(".")
    match ending:
        case "change.json" | "findings.json":
            return f"the message {stem}.json beside it, or NAME.json with NAME.change.json"
        case "json" | "avro":
            return (
                f"{stem}.change.json beside it, a list of its row changes ([] if it has none), as in "
                f'`[{{"op": "insert", "after": {{"id": "1"}}, …}}]`; in drift/ {stem}.findings.json'
            )
    return "NAME.json with NAME.change.json, or in drift/ with NAME.findings.json"
