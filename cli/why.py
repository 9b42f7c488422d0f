"""`cdc-contracts why`: one message explained: its nearest contract, and each rule it breaks. Starts no JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import run_options
from cdc_contracts.cli.options.connection_options import ConnectionOptions
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.options.version_options import RangedValidationOptions, fit_validation
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES
from cdc_contracts.registry.core.common.extras import require_extra

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.explain.message_explanations import MessageExplanation
    from cdc_contracts.registry.core.records.record_origins import Found
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext

_TOPIC = "topic"


@dataclass(frozen=True)
class MessagePlace(ConnectionOptions):
    """Options of the location of the message: in a file, or in a topic."""

    line: Annotated[int | None, typer.Option("--line", help="Line of the file, or row of a capture.", min=1)] = None
    whole: Annotated[bool, typer.Option("--whole", help="The file, or the input, is one message.")] = False
    partition: Annotated[int | None, typer.Option("--partition", help="In a topic or capture.", min=0)] = None
    offset: Annotated[int | None, typer.Option("--offset", help="In a topic or capture.", min=0)] = None


@spread
def why(
    words: Annotated[list[str], typer.Argument(metavar="FILE|-|topic TOPIC", help="Where the message is.")],
    place: MessagePlace,
    validating: RangedValidationOptions,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show row values instead of shapes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one message: every member, the nearest contract, which of its rules it breaks and why."""
    topics = [words[1]] if _names_a_topic(words) else []
    asked = validating.open_validation(topics)
    found = _read_topic(topics[0], place) if topics else _read_file(words[0], place)
    _print_result(_explain(found, asked, show_values=show_values), found, as_json=as_json)


def _explain(found: Found, asked: ValidationContext | Undetected, *, show_values: bool) -> MessageExplanation:
    """Return the explanation of a message, by the contract declared for its offset, otherwise by the nearest one."""
    from cdc_contracts.registry.authoring.explain.message_explanations import explain_message
    from cdc_contracts.registry.core.stats.partition_tallies import Source
    from cdc_contracts.registry.core.validate.validation_context import ValidationContext

    asked = fit_validation(asked, {Source(found.topic, found.partition)}, some=True)
    validation, choice = asked if isinstance(asked, ValidationContext) else None, "declared"
    if validation is not None and validation.ranges is not None:
        validation = validation.at(found.topic, found.partition, found.offset, found.micros)
        choice = "the versions file declares it there"
        if validation.left_open:
            choice = f"the versions file declares no version at partition {found.partition} offset {found.offset}"
    return explain_message(
        found.value,
        asked.catalogue,
        (validation or asked).reading_options,
        key=found.key,
        validation=validation,
        choice=choice,
        show_values=show_values,
        headers=found.headers,
    )


def _print_result(explanation: MessageExplanation, found: Found, *, as_json: bool) -> None:
    from cdc_contracts.cli.output.message_output import print_explanation
    from cdc_contracts.registry.authoring.explain.message_explanations import write_explanation
    from cdc_contracts.registry.core.detect.detection import DRAFT
    from cdc_contracts.registry.core.validate.verdicts import OTHER_DIALECT

    if as_json:
        console.print_json(write_explanation(explanation, found.place))
    else:
        print_explanation(explanation, found)
        if explanation.declared is None and explanation.outcome == OTHER_DIALECT:
            console.say(DRAFT)
    raise typer.Exit(EXIT_CODES[explanation.verdict])


def _names_a_topic(words: Sequence[str]) -> bool:
    if words[0] == _TOPIC and len(words) == 2:  # noqa: PLR2004  the word and the name
        return True
    if len(words) > 1 or words == [_TOPIC]:
        raise UsageError(
            f"`{' '.join(words)}` does not name one message", hint="Give FILE, or `-`, or `topic` and its name."
        )
    return False


def _read_file(path: str, place: MessagePlace) -> Found:
    from cdc_contracts.registry.core.records.record_origins import find_in_file

    run_options.refuse_for_files(place.given)
    found = find_in_file(path, line=place.line, whole=place.whole, partition=place.partition, offset=place.offset)
    if found.more:
        other = "--line N takes another, --whole the whole" if found.line else "--line N takes another"
        console.say(f"this is {found}, the first message of several; {other}")
    return found


def _read_topic(topic: str, place: MessagePlace) -> Found:
    require_extra("kafka")
    from cdc_contracts.registry.core.records.record_origins import found_in
    from cdc_contracts.spark_checks.kafka.consumer import open_reader
    from cdc_contracts.spark_checks.kafka.excerpts import read_record

    if place.partition is None or place.offset is None:
        hint = f"Write `cdc-contracts why topic {topic} -b HOST:PORT --partition 0 --offset 12."
        raise UsageError("the place of a record is needed", where=topic, hint=hint)
    connection = place.open()
    with open_reader(connection.bootstrap, connection.properties) as reader:
        return found_in(read_record(reader, topic, place.partition, place.offset))
