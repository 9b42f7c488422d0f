"""Lint rule L19: sample-survives-avro."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun


def samples_survive_avro(draft: LintRun) -> Iterator[LintFault]:
    """Every sample goes through the Avro schema and back without loss."""
    from cdc_contracts.registry.message.avro_records import AvroError, same_message

    for version in draft.versions:
        codec = draft.codecs.get(version.reference)
        for sample, message in draft.messages[version.reference] if codec else ():
            try:
                if not same_message(codec.read(codec.write(message)), message):  # type: ignore[union-attr]
                    yield LintFault(sample.file, "the same message after Avro and back", "another")
            except AvroError as error:
                yield LintFault(sample.file, "a record of the Avro schema", str(error))


RULE = LintRule(
    id="L19",
    name="sample-survives-avro",
    severity=ERROR,
    says="Checks that every sample goes through the Avro schema and back without loss.",
    why="What a sample loses on the way through Avro, every consumer of Avro loses in every message.",
    good="a number kept as its token",
    bad="a number kept as a double",
    check=samples_survive_avro,
)
