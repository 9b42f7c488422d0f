from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.transport import open_transport


@lint_rule(
    ERROR,
    says="Checks that every sample goes through the Avro schema and back without loss.",
    why="What a sample loses in Avro, every Avro consumer loses in every message.",
    good="a number kept as its token",
    bad="a number kept as a double",
)
def samples_survive_avro(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.message.avro_records import AvroError, same_message

    for version in run.versions:
        codec = run.codecs.get(version.reference)
        wire = open_transport(version, ReadingOptions()) if codec else None
        for sample, _ in run.messages[version.reference] if wire is not None else ():
            message = wire.read_sent(sample.value)  # type: ignore[union-attr]
            try:
                if not same_message(codec.read(codec.write(message)), message):  # type: ignore[union-attr]
                    yield LintFault(sample.file, "the same message after Avro and back", "another")
            except AvroError as error:
                yield LintFault(sample.file, "a record of the Avro schema", str(error))
