"""Decoded captures: the row changes of a capture beside those that the database says there were.

Messages are decoded with what a user can state: table contracts of the DDL of the tables as they were at the time, and
the options of the producer. Which columns and keys a table has, and in which order rows have changed, the database says.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from producers.captures import Capture, Line, bytes_of, read_expected
from producers.expected_changes import Image, RowChange, TableState, expected_changes, key_of, logged_changes
from producers.run_plans import options_of

import cdc_contracts as cdc
from cdc_contracts.registry.core.tables.ddl import read_create_table

OPS = frozenset("crud")
"""The ops of messages of Debezium that are of a row: created, read in a snapshot, updated, deleted."""
ROW_TYPES = frozenset({"INSERT", "UPDATE", "DELETE"})
"""The types of messages of Canal that have rows."""
DIALECTS = {"postgresql": "postgres", "mariadb": "mysql"}
DATABASE = "shop"
ZONE = {"timestamp_zone": "+00:00"}
"""That of the server, which messages of Canal do not name."""
DEFAULTS = {
    "postgresql": {
        "decimal.handling.mode": "precise",
        "time.precision.mode": "adaptive",
        "binary.handling.mode": "bytes",
        "hstore.handling.mode": "json",
        "interval.handling.mode": "numeric",
    },
    "mariadb": {
        "decimal.handling.mode": "precise",
        "time.precision.mode": "adaptive_time_microseconds",
        "binary.handling.mode": "bytes",
        "bigint.unsigned.handling.mode": "long",
    },
}
"""What connectors do without options, where their messages tell what they do."""
SCALES = {"postgresql": {"money.fraction.digits": "2"}, "mariadb": {}}
"""The same, where they do not."""


class Placed(NamedTuple):
    """A message, and the place of its record among those of the capture."""

    place: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Decoded:
    """A change that the database says there was, and what its message was decoded to: the texts of its images.

    `refused` are the rules and places of the errors of a message that was quarantined.
    """

    expected: RowChange
    op: str | None
    before: Image | None
    after: Image | None
    refused: tuple[tuple[str, str], ...] = ()


def values_of(records: Iterable[Line]) -> list[bytes | None]:
    """Return the values of records, in order."""
    return [bytes_of(one["value"]) for one in records]


def rows_in(value: bytes) -> int:
    """Return how many rows a message has; those of a transaction, a truncation or a statement of DDL have none."""
    message = payload_of(value) or {}
    if message.get("type") in ROW_TYPES:
        return len(message["data"])
    return int(message.get("op") in OPS or message.get("__op") in OPS)


def is_null_text(value: bytes | None) -> bool:
    """Say whether a value is the JSON text null, or null behind a schema; that is not a record without a value."""
    return value is not None and payload_of(value) is None


def table_in_topic(record: Line) -> str:
    """Return the table that the topic of a record names, as `schema.table`."""
    return ".".join(record["topic"].split(".")[-2:])


def changes_due(capture: Capture) -> dict[str, tuple[RowChange, ...]]:
    """Return the changes that rows were sent for: rows alone have none before an update, and maybe none of a deletion."""
    due = expected_changes(capture.database)
    if not capture.is_flattened:
        return due
    kept = {
        name: tuple(
            change if change.op == "delete" else replace(change, before=None)
            for change in found
            if capture.has_deleted_rows or change.op != "delete"
        )
        for name, found in due.items()
    }
    return {name: found for name, found in kept.items() if found}


def deletions(database: str) -> dict[str, tuple[RowChange, ...]]:
    """Return the deletions of each table, by `schema.table`."""
    found = {
        name: tuple(change for change in changes if change.op == "delete")
        for name, changes in expected_changes(database).items()
    }
    return {name: changes for name, changes in found.items() if changes}


def payload_of(value: bytes) -> Any:
    """Return a message without the schema block beside it."""
    message = json.loads(value)
    return message["payload"] if message and message.keys() == {"schema", "payload"} else message


@dataclass(frozen=True, slots=True)
class TopicPart:
    """Where records lie in partition 0 of a topic, and the versions file that says by what each part of it is read."""

    topic: str
    start: int
    versions: Path


def decode_changes(
    capture: Capture, records: Iterable[Line], reference: str, part: TopicPart | None = None
) -> list[Decoded]:
    """Return the changes of records as in a capture, by table and statement, each with what it was decoded to.

    Messages of Canal name the types of their columns. Records that are a part of a topic are read by its versions file,
    which says their options too. Raises AssertionError unless there are as many rows of each table as there were
    changes.
    """
    if capture.product == "canal":
        return list(_decode_typed(capture, records, reference))
    batches: dict[tuple[int, str | None], list[tuple[RowChange, Placed]]] = defaultdict(list)
    sent, due = _messages_of_rows(records), changes_due(capture)
    counts = {name: len(found) for name, found in sent.items()}
    assert counts == {name: len(found) for name, found in due.items()}, counts
    for name, changes in due.items():
        for change, placed in zip(changes, sent[name], strict=True):
            table = name if capture.is_flattened else None
            batches[change.state.number, table].append((change, placed))
    return [one for about, batch in batches.items() for one in _decode(capture, reference, *about, batch, part)]


def _decode_typed(capture: Capture, records: Iterable[Line], reference: str) -> Iterator[Decoded]:
    written = cdc.contract(reference, parameters=ZONE).decode_batch(values_of(records))
    assert written.quarantine.num_rows == 0
    sent, due = defaultdict(list), logged_changes(capture.database)
    for row in written.changes.to_pylist():
        sent[f"{row['database']}.{row['table']}"].append(row)
    assert {name: len(found) for name, found in sent.items()} == {name: len(found) for name, found in due.items()}
    for name, changes in due.items():
        yield from _pair_statements([(*pair, ()) for pair in zip(changes, sent[name], strict=True)])


def _messages_of_rows(records: Iterable[Line]) -> dict[str, list[Placed]]:
    found = defaultdict(list)
    for place, record in enumerate(records):
        (value,) = values_of([record])
        if value is not None and rows_in(value):
            source = payload_of(value).get("source")
            name = f"{source.get('schema') or source['db']}.{source['table']}" if source else table_in_topic(record)
            found[name].append(Placed(place, value))
    return found


def _decode(
    capture: Capture, reference: str, number: int, table: str | None, batch: list[tuple[RowChange, Placed]],
    part: TopicPart | None,
) -> Iterator[Decoded]:  # fmt: skip
    start, topic = (0, "capture") if part is None else (part.start, part.topic)
    options = mode_of(capture) if part is not None else all_options(capture) | mode_of(capture)
    versions = None if part is None else part.versions
    contract = _contract(reference, capture.database, tuple(sorted(options.items())), number, table, versions)
    offsets = [start + placed.place for _, placed in batch]
    written = contract.decode_batch(pa.table({
        "value": pa.array([placed.value for _, placed in batch], pa.binary()), "topic": [topic] * len(batch),
        "partition": pa.array([0] * len(batch), pa.int32()), "offset": pa.array(offsets, pa.int64()),
    }))  # fmt: skip
    rows = {row["offset"]: row for row in written.changes.to_pylist()}
    refused = {row["offset"]: row["findings"] for row in written.quarantine.to_pylist()}
    assert rows.keys() | refused.keys() == set(offsets)
    yield from _pair_statements(
        [(change, rows.get(at), refused.get(at, ())) for at, (change, _) in zip(offsets, batch, strict=True)]
    )


def _pair_statements(decoded: list[tuple[RowChange, Any, Any]]) -> Iterator[Decoded]:
    for _, group in groupby(decoded, lambda one: (one[0].state, one[0].statement, one[0].op)):
        yield from _pair(list(group))


def _pair(group: list[tuple[RowChange, Any, Any]]) -> Iterator[Decoded]:
    """Pair the changes of a statement by their keys; a producer sends the rows of a statement in an order of its own."""
    state = group[0][0].state
    if all(row for _, row, _ in group):
        sent = sorted((one[1:] for one in group), key=lambda one: str(key_of(state, *_images(one[0]))))
    else:
        sent = [one[1:] for one in group]
    for (change, *_), (row, findings) in zip(group, sent, strict=True):
        reasons = tuple((one["rule"], one["path"]) for one in findings if one["severity"] == "error")
        yield Decoded(change, row and row["op"], *_images(row), reasons)


def _images(row: Any) -> tuple[Image | None, Image | None]:
    images = (row[side] if row else None for side in ("before", "after"))
    before, after = (None if image is None else dict(image) for image in images)
    return before, after


def stated_options(capture: Capture) -> dict[str, str]:
    """Return the options that a capture was written with, of those that a contract knows."""
    known = DEFAULTS[capture.database]
    return {name: value for name, value in options_of(capture).properties.items() if name in known}


def all_options(capture: Capture) -> dict[str, str]:
    """Return all options that a capture was written with, those by default too, as far as messages do not say them."""
    if capture.has_schema_block:
        return stated_options(capture)
    return DEFAULTS[capture.database] | SCALES[capture.database] | stated_options(capture)


def mode_of(capture: Capture) -> dict[str, str]:
    """Return the parameter that says which database rows are of, where they do not say it."""
    mode = "postgresql" if capture.database == "postgresql" else "mysql"
    return {"source_mode": mode} if capture.is_flattened and not capture.has_schema_block else {}


def last_tables(database: str) -> list[Line]:
    """Return the contracts of all tables of a database, each as it was last."""
    return _table_contracts(database, sys.maxsize)


def named_as_in_topics(tables: Iterable[Line]) -> list[Line]:
    """Return contracts of tables that are called by the last two parts of their names, as in topics."""
    return [{**one, "table": ".".join(one["table"].split(".")[-2:])} for one in tables]


@cache
def _contract(
    reference: str, database: str, options: tuple[tuple[str, str], ...], number: int, table: str | None,
    versions: Path | None,
) -> cdc.Contract:  # fmt: skip
    tables = _table_contracts(database, number)
    tables = tables if table is None else named_as_in_topics(tables)
    return cdc.contract(reference, tables=tables, table=table, parameters=dict(options), versions=versions)


@cache
def _table_contracts(database: str, number: int) -> list[Line]:
    """Return the contracts of all tables by their DDL, each in the state of a number, or in its last."""
    states: dict[str, TableState] = {}
    for changes in expected_changes(database).values():
        for change in changes:
            if change.state.number <= number:
                states[change.state.name] = change.state
    named = [
        line["sql"] for line in read_expected(database) if line["sql"].startswith(("CREATE TYPE", "CREATE DOMAIN"))
    ]
    text = ";\n".join([*named, *(_create_table(state, database) for state in states.values())])
    found = read_create_table(text, DIALECTS[database], DATABASE)
    assert not found.problems, found.problems
    return [table.model_dump(mode="json", exclude_unset=True) for table in found.tables]


def _create_table(state: TableState, database: str) -> str:
    quote = '"' if database == "postgresql" else "`"
    name = lambda *parts: ".".join(f"{quote}{part}{quote}" for part in parts)  # noqa: E731
    columns = [f"{name(column)} {type_}{'' if null else ' NOT NULL'}" for column, type_, null in state.columns]
    key = [f"PRIMARY KEY ({', '.join(map(name, state.primary_key))})"] if state.primary_key else []
    return f"CREATE TABLE {name(state.schema, state.table)} ({', '.join([*columns, *key])})"
