"""Topic options: the topics that a command reads, and the validation context of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.cli.options import follow_options, run_options
from cdc_contracts.cli.options.version_options import fit_validation
from cdc_contracts.cli.output import report_output
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.spark_checks.engines.engines import Engine, Input
    from cdc_contracts.spark_checks.kafka.bookmarks import Bookmarks

OpenValidation = Callable[..., "ValidationContext | Undetected"]
"""Opens the validation context of a contract for topics."""
Ranged = Callable[[Sequence[str]], list[str]]
"""Returns which of some topics are validated by a versions file."""


def open_inputs(
    topics: Sequence[str] | None,
    reading: run_options.RunOptions,
    brokers: run_options.Brokers,
    contract: str | None,
    open_validation: OpenValidation,
    bookmarks: Bookmarks | None,
    ranged: Ranged | None = None,
) -> Callable[[Engine], list[tuple[Input, ValidationContext | Undetected]]]:
    """Return a function that opens the inputs on an engine; errors in the options are reported before one is started.

    Raises UsageError if topics are not named in exactly one way, or a contract is not known.
    """
    from cdc_contracts.spark_checks.inputs.range_slices import parse_fraction

    pattern = _check_choice(topics, brokers)
    sample = parse_fraction(reading.sample) if reading.sample is not None else None
    wanted, connection = run_options.parse_topic_options(reading.start, reading.end, brokers)
    anew = reading.start is not None
    since = None if anew or bookmarks is None else bookmarks.offsets
    assign = partial(assign_validations, contract=contract, open_validation=open_validation, ranged=ranged)
    assigned = None if pattern else assign(list(dict.fromkeys(topics or _bound_topics())))

    def opened(engine: Engine) -> list[tuple[Input, ValidationContext | Undetected]]:
        from cdc_contracts.spark_checks.inputs.sources import match_topics

        found = assigned
        if pattern is not None:
            found = assign(match_topics(engine, connection.bootstrap, pattern, connection.properties))
        names = [name for _, group in found or () for name in group]
        headers = any(validation.reading_options.reads_headers for validation, _ in found or ())
        whole = run_options.open_topics(engine, connection, names, wanted, headers=headers, since=since)
        some = wanted.names_partitions
        sources = [(replace(whole.of_topics(group), sample=sample), validation) for validation, group in found or ()]
        inputs: list[tuple[Input, ValidationContext | Undetected]] = [
            (source, fit_validation(validation, source.spans, some=some)) for source, validation in sources
        ]
        if bookmarks is not None:
            for source, _ in inputs:
                bookmarks.recognise(source.topic_ids(engine), anew=anew)
        return inputs

    return opened


def open_bookmarks(brokers: run_options.Brokers) -> Bookmarks | None:
    """Return where the last run ended, None if bookmarks are not used.

    Raises as `read_bookmarks`, and UnavailableError if the file is not writable.
    """
    from cdc_contracts.registry.core.common.atomic_files import check_place
    from cdc_contracts.spark_checks.kafka.bookmarks import read_bookmarks

    if brokers.since_last is None:
        return None
    bookmarks = read_bookmarks(brokers.since_last)
    check_place(brokers.since_last)
    return bookmarks


def is_followed(
    stream: follow_options.Following, reading: run_options.RunOptions, brokers: run_options.Brokers
) -> bool:
    """Return whether topics are followed. Raises UsageError if the options are incompatible."""
    stream.check(refused={
        "--to": reading.end != "latest",
        "--sample": reading.sample is not None,
        "--time-limit": reading.time_limit is not None,
        "--since-last": brokers.since_last is not None,
        "--pattern": brokers.pattern is not None,
        "--engine local": reading.engine is run_options.EngineName.LOCAL,
    })  # fmt: skip
    return stream.follow


def follow_audit(
    topics: Sequence[str] | None, reading: run_options.RunOptions, brokers: run_options.Brokers, contract: str | None,
    open_validation: OpenValidation, ranged: Ranged, stream: follow_options.Following, ending: report_output.Ending,
) -> None:  # fmt: skip
    """Validate every message of topics, existing and new ones."""
    _check_choice(topics, brokers)
    result = list(dict.fromkeys(topics or _bound_topics()))
    validation, names = follow_options.one_validation(assign_validations(result, contract, open_validation, ranged))
    start, connection = run_options.parse_topic_options(reading.start, "latest", brokers)
    spark = reading.engine_options(brokers)
    place = follow_options.StreamPlace(connection, names, start if reading.start else None, spark)
    follow_options.follow_audit(stream, place, validation, ending)


def assign_validations(
    topics: Sequence[str], contract: str | None, open_validation: OpenValidation, ranged: Ranged | None = None
) -> list[tuple[ValidationContext | Undetected, list[str]]]:
    """Return the validation contexts of topics: from a versions file, the given contract, or their bindings.

    If messages do not name their table, the topic does: then each topic has a separate context. So does each topic
    whose contract is to be detected.
    """
    from cdc_contracts.registry.core.contract.settings import read_settings
    from cdc_contracts.registry.core.validate.validation_context import Undetected

    placed = ranged(topics) if ranged is not None else []
    others = [topic for topic in topics if topic not in placed]
    bindings = {contract: others} if contract else read_settings(Path.cwd()).bindings(others)
    groups: list[tuple[str | None, list[str]]] = [(None, placed), *bindings.items()]
    assigned: list[tuple[ValidationContext | Undetected, list[str]]] = []
    for reference, names in groups:
        if not names:
            continue
        validation = open_validation(names, contract=reference)
        if isinstance(validation, Undetected):
            assigned += [(validation, [name]) for name in names]
            continue
        if len(names) > 1 and validation.with_table(names[0]) is not validation:
            assigned += [(validation.with_table(name), [name]) for name in names]
        else:
            assigned.append((validation, names))
    return assigned


def _check_choice(topics: Sequence[str] | None, brokers: run_options.Brokers) -> re.Pattern[str] | None:
    """Return the pattern that topics have to match, if they are given by pattern."""
    if (bool(topics), brokers.pattern is not None, brokers.every).count(True) != 1:
        raise UsageError("name the topics in exactly one way", hint="Give TOPIC..., or --pattern REGEX, or --all.")
    try:
        return re.compile(brokers.pattern) if brokers.pattern is not None else None
    except re.error as error:
        raise UsageError(f"not a regular expression: {error}", where=f"--pattern {brokers.pattern}") from error


def _bound_topics() -> list[str]:
    from cdc_contracts.registry.core.contract.settings import FILE, read_settings

    bound = list(read_settings(Path.cwd()).topics)
    if not bound:
        raise UsageError(
            "no topic is bound to a contract", where=FILE, hint="Write `topics: {NAME: SYSTEM/DIALECT@N}`."
        )
    return bound
