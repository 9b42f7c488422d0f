"""Which topics a command reads, and the scope that each of them is judged within."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.cli import following, judging, running
from cdc_contracts.cli.ranging import fit_scope
from cdc_contracts.registry.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.registry.scope import Scope, Undetected
    from cdc_contracts.spark_checks.kafka.bookmarks import Bookmarks
    from cdc_contracts.spark_checks.sources import Input

Judge = Callable[..., "Scope | Undetected"]
"""Opens the scope of a contract for topics."""
Ranged = Callable[[Sequence[str]], list[str]]
"""Tells which of some topics are judged by a versions file."""


def open_inputs(
    topics: Sequence[str] | None,
    reading: running.Reading,
    brokers: running.Brokers,
    contract: str | None,
    judge: Judge,
    bookmarks: Bookmarks | None,
    ranged: Ranged | None = None,
) -> Callable[[SparkSession | None], list[tuple[Input, Scope | Undetected]]]:
    """Return what opens the inputs once there is an engine; what is wrong with the call is told before one starts.

    Raises UsageError where topics are not named in one way, or a contract is not known.
    """
    from cdc_contracts.spark_checks.slices import parse_fraction

    pattern = _check_choice(topics, brokers)
    sample = parse_fraction(reading.sample) if reading.sample is not None else None
    wanted, properties = running.parse_topic_options(
        reading.start, reading.end, brokers.kafka_config, brokers.kafka_options
    )
    anew = reading.start is not None
    since = None if anew or bookmarks is None else bookmarks.offsets
    assign = partial(assign_scopes, contract=contract, judge=judge, ranged=ranged)
    assigned = None if pattern else assign(list(dict.fromkeys(topics or _bound_topics())))

    def opened(session: SparkSession | None) -> list[tuple[Input, Scope | Undetected]]:
        from cdc_contracts.spark_checks.sources import match_topics

        found = assigned
        if pattern is not None:
            found = assign(match_topics(session, brokers.bootstrap, pattern, properties))
        read = partial(running.open_topics, session, brokers.bootstrap, headers=False, since=since)
        some = wanted.names_partitions
        sources = [(replace(read(names, wanted, properties), sample=sample), scope) for scope, names in found or ()]
        inputs: list[tuple[Input, Scope | Undetected]] = [
            (source, fit_scope(scope, source.spans, some=some)) for source, scope in sources
        ]
        if bookmarks is not None:
            for source, _ in inputs:
                bookmarks.recognise(source.topic_ids(session), anew=anew)
        return inputs

    return opened


def open_bookmarks(brokers: running.Brokers) -> Bookmarks | None:
    """Return where the last run ended, None where nobody asks.

    Raises as `read_bookmarks`, and UnavailableError where this run could not note its own end.
    """
    from cdc_contracts.registry.whole_files import check_place
    from cdc_contracts.spark_checks.kafka.bookmarks import read_bookmarks

    if brokers.since_last is None:
        return None
    bookmarks = read_bookmarks(brokers.since_last)
    check_place(brokers.since_last)
    return bookmarks


def is_followed(stream: following.Following, reading: running.Reading, brokers: running.Brokers) -> bool:
    """Say whether topics are followed. Raises UsageError where the options do not go together."""
    stream.check(refused={
        "--to": reading.end != "latest",
        "--sample": reading.sample is not None,
        "--time-limit": reading.time_limit is not None,
        "--since-last": brokers.since_last is not None,
        "--pattern": brokers.pattern is not None,
        "--engine local": reading.engine is running.Engine.LOCAL,
    })  # fmt: skip
    return stream.follow


def follow_audit(
    topics: Sequence[str] | None, reading: running.Reading, brokers: running.Brokers, contract: str | None,
    judge: Judge, ranged: Ranged, stream: following.Following, ending: following.Ending,
) -> None:  # fmt: skip
    """Judge every message of topics, those that are there and those that come."""
    _check_choice(topics, brokers)
    told = list(dict.fromkeys(topics or _bound_topics()))
    scope, names = following.one_scope(assign_scopes(told, contract, judge, ranged))
    start, properties = running.parse_topic_options(
        reading.start, "latest", brokers.kafka_config, brokers.kafka_options
    )
    place = following.Place(
        brokers.bootstrap, names, start if reading.start else None, properties, reading.cores, brokers.jars,
        brokers.packages,
    )  # fmt: skip
    following.follow_audit(stream, place, scope, ending)


def assign_scopes(
    topics: Sequence[str], contract: str | None, judge: Judge, ranged: Ranged | None = None
) -> list[tuple[Scope | Undetected, list[str]]]:
    """Return the scopes that topics are judged within: of a versions file, the contract given, or those bound to.

    Messages that do not name their table have it from their topic: then each topic has a scope of its own. So has each
    topic whose contract is to be found out.
    """
    from cdc_contracts.registry.scope import Undetected
    from cdc_contracts.registry.settings import read_settings

    placed = ranged(topics) if ranged is not None else []
    others = [topic for topic in topics if topic not in placed]
    bindings = {contract: others} if contract else read_settings(Path.cwd()).bindings(others)
    groups: list[tuple[str | None, list[str]]] = [(None, placed), *bindings.items()]
    assigned: list[tuple[Scope | Undetected, list[str]]] = []
    for reference, names in groups:
        if not names:
            continue
        scope = judge(names, contract=reference)
        if isinstance(scope, Undetected):
            assigned += [(scope, [name]) for name in names]
            continue
        if len(names) > 1 and scope.terms.table is None and judging.needs_a_table(scope.catalogue, scope.declared):
            assigned += [(replace(scope, terms=replace(scope.terms, table=name), made={}), [name]) for name in names]
        else:
            assigned.append((scope, names))
    return assigned


def _check_choice(topics: Sequence[str] | None, brokers: running.Brokers) -> re.Pattern[str] | None:
    """Return the pattern that topics have to match, if that is how they are named."""
    if (bool(topics), brokers.pattern is not None, brokers.every).count(True) != 1:
        raise UsageError("topics are named in one way", mend="give TOPIC..., or --pattern REGEX, or --all")
    try:
        return re.compile(brokers.pattern) if brokers.pattern is not None else None
    except re.error as error:
        raise UsageError(f"not a regular expression: {error}", where=f"--pattern {brokers.pattern}") from error


def _bound_topics() -> list[str]:
    from cdc_contracts.registry.settings import FILE, read_settings

    bound = list(read_settings(Path.cwd()).topics)
    if not bound:
        raise UsageError("no topic is bound to a contract", where=FILE, mend="write `topics: {NAME: SYSTEM/DIALECT@N}`")
    return bound
