from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.contract.catalogue import CANONICAL


@lint_rule(
    WARNING,
    says="Checks that every op a contract maps has a sample.",
    why="An op without a sample is untested: the contract may read it incorrectly.",
    good="samples of an insert, an update and a delete",
    bad="samples of an insert only",
)
def ops_have_samples(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.message.reading import Reading

    for version in run.versions:
        meaning = run.meanings.get(version.reference)
        if meaning is None or version.subject == CANONICAL:
            continue
        messages = [message for _, message in run.messages[version.reference]]
        seen = {Reading(meaning, message, ReadingOptions()).op for message in messages}
        wanted = {*meaning.ops.values(), *(flag.means for flag in meaning.envelope.op.flags)}
        missing = sorted(wanted - seen)
        if missing:
            file = version.folder.joinpath("contract.yaml")
            yield LintFault(file, "a sample of every op", "none of " + ", ".join(missing), ("ops",))
