"""Message samples on demand: a number of messages of a contract, generated from one seeded stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.generate.drifting_messages import Drifter, StreamDrifter, drifts_in_streams
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.capabilities import capabilities_of

_CONTROLS: Final = 17
_DRIFTS: Final = 10
_SPARE: Final = 2


class KeyedMessage(NamedTuple):
    """The key of a Kafka record, if the contract reads it, and the message that is its value."""

    key: bytes | None
    value: bytes


def sample_messages(version: Version, total: int, **asked: Any) -> Iterator[bytes]:
    """Yield the messages of `sample_records` without their keys."""
    return (record.value for record in sample_records(version, total, **asked))


def sample_records(
    version: Version,
    total: int,
    *,
    seed: int,
    reading_options: ReadingOptions,
    drift: str | None = None,
    split_updates: bool = False,
) -> Iterator[KeyedMessage]:
    """Yield `total` messages of a version: rows of a full load, inserts, updates, deletes, and now and then a control.

    With `drift`, a class or a rule across fields, every tenth message, or the last, shows it; where an event cannot,
    the next that can. A table that changes stays changed. `split_updates` sends an update as two messages where the
    version can. Raises UsageError if the version cannot express what is asked, also at the end where no message
    could show the drift.
    """
    renderer = Renderer(version, reading_options)
    streamed = drift is not None and drifts_in_streams(drift)
    drifter = Drifter(version, reading_options, drift) if drift is not None and not streamed else None
    statistics = StreamDrifter(version, reading_options, drift) if drift is not None and streamed else None
    last = min(total, _DRIFTS) - 1
    due = made = 0
    for number, event in enumerate(
        islice(_events(version, total, seed, reading_options, split_updates=split_updates), total)
    ):
        due += number % _DRIFTS == last
        rowless = event.before is event.after  # few classes of drift apply to a message without a row
        wanted = made < due and (not rowless or (drifter is not None and drifter.takes_messages_without_rows))
        drifted = drifter.render(event) if drifter is not None and wanted else None
        changed = statistics.change(event, wanted=wanted) if statistics is not None else None
        if changed is not None:
            drifted = renderer.render(changed)
        made += drifted is not None
        yield KeyedMessage(renderer.render_key(event), renderer.render(event) if drifted is None else drifted)
    if drift is not None and not made:
        raise UsageError(
            f"no generated message of {version} can show {drift}", hint="Try more messages, or another seed."
        )


def source_table(contract: TableContract) -> SourceTable:
    """Return the table that a table contract describes: `table`, `database.table` or `database.schema.table`."""
    *above, name = contract.table.split(".")
    database = above[0] if above else None
    schema = above[1] if len(above) > 1 else None
    return SourceTable(name, contract.types, contract.primary_key, None, database, schema)


def sampled_table(version: Version, reading_options: ReadingOptions) -> SourceTable:
    """Return the table whose rows are sent: the first of the table contracts, otherwise one of our own.

    Its key has the name that the product gives to key columns, if it names them.
    """
    found = reading_options.tables.first()
    if found is not None:
        return source_table(found)
    place = version.meaning.envelope.key_place
    if place is None or not place.json_texts:
        return ORDERS
    named = dict(zip(ORDERS.primary_key, (column for _, column in place.json_texts), strict=True))
    types = {named.get(name, name): source_type for name, source_type in ORDERS.types.items()}
    return replace(ORDERS, types=types, primary_key=tuple(named.values()))


def _events(
    version: Version, total: int, seed: int, reading_options: ReadingOptions, *, split_updates: bool
) -> Iterator[Event]:
    """Yield events whose op the version has; a table of the user's takes the place of our own."""
    table = sampled_table(version, reading_options)
    can = capabilities_of(version, reading_options).ops
    halves = split_updates and {"update-before", "update-after"} <= can.keys()
    for attempt in count():
        events = row_stream(seed + attempt, _SPARE * total + 20, table=table, snapshot=total // 5, controls=_CONTROLS)
        for event in events:
            if event.op == "update" and halves:
                yield from split_update(event)
            elif event.op in can:
                yield event


def split_update(event: Event) -> tuple[Event, Event]:
    """Return an update as the two events of a split update."""
    return replace(event, op="update-before", after=None), replace(event, op="update-after", before=None)
