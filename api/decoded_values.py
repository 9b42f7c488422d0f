"""Decoded values: canonical changes and control messages as values of Python."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from cdc_contracts.api.frozen_values import FrozenDict
from cdc_contracts.api.results import Change, Control, Op, Value
from cdc_contracts.registry.core.tables.canonical.python_values import PythonReader, python_reader
from cdc_contracts.registry.core.validate.decoded_changes import ColumnKinds

if TYPE_CHECKING:
    from cdc_contracts.registry.core.message import canonical_changes
    from cdc_contracts.registry.core.message.canonical_changes import Image

PythonReaders = Mapping[str, PythonReader]
"""How the canonical text of each column becomes a value of Python."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_change(change: canonical_changes.Change, before: PythonReaders, after: PythonReaders) -> Change:
    """Return a change in values of Python; its images are read by the readers of their columns."""
    kept = set(change.invalid_values)
    images = [
        _image(image, side, readers, kept)
        for image, side, readers in ((change.before, "before", before), (change.after, "after", after))
    ]
    return Change(
        op=cast("Op", change.op),
        tenant=change.tenant,
        database=change.database,
        schema=change.schema,
        table=change.table,
        primary_key=None if change.primary_key is None else tuple(change.primary_key),
        before=images[0],
        after=images[1],
        before_complete=change.before_complete,
        after_complete=change.after_complete,
        changed=None if change.changed is None else tuple(change.changed),
        column_types=None if change.column_types is None else FrozenDict(change.column_types),
        kept_as_text=tuple(sorted(kept)),
        event_time=_time(change.event_time),
        event_time_text=change.event_time_text,
        process_time=_time(change.process_time),
        position=change.position,
        transaction=change.transaction,
        update_part=change.update_part,
        pair_id=change.pair_id,
    )


@lru_cache(2_000)
def python_readers(columns: ColumnKinds) -> PythonReaders:
    """Return how the canonical text of each column becomes a value of Python."""
    names = {**columns.types, **columns.kinds}
    return {name: python_reader(columns.types.get(name), columns.kinds.get(name)) for name in names}


def _image(image: Image | None, side: str, readers: PythonReaders, kept: set[str]) -> FrozenDict[str, Value] | None:
    """Return an image in values of Python; what its type cannot hold stays text, and is added to `kept`."""
    if image is None:
        return None
    row: dict[str, Value] = dict(image)
    for name, text in image.items():
        if text is None or (kept and f"{side}.{name}" in kept):
            continue
        try:
            row[name] = readers[name](text)
        except ValueError:
            kept.add(f"{side}.{name}")
    return FrozenDict(row)


def read_control(control: canonical_changes.Control) -> Control:
    """Return a control message with its times as values of Python."""
    return Control(
        kind=control.kind,
        tenant=control.tenant,
        database=control.database,
        schema=control.schema,
        table=control.table,
        ddl_text=control.ddl_text,
        ddl_type=control.ddl_type,
        event_time=_time(control.event_time),
        process_time=_time(control.process_time),
        position=control.position,
        transaction=control.transaction,
    )


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
