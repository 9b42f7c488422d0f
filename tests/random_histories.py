"""Shapes of histories drawn at random: every dimension by itself, so that they meet in all ways."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from change_histories import (
    ALONG,
    CONSTANT,
    FIRST,
    INSTANCE,
    PARTITION,
    RESTARTING,
    RISING,
    TABLE,
    WHOLE,
    History,
    HistoryShape,
    ProducerHabits,
    Switch,
    make_history,
)
from change_messages import (
    CHANGED,
    DIALECTS,
    DTS_1,
    DTS_2,
    FULL,
    JSON_1,
    JSON_2,
    JSON_C_1,
    JSON_C_2,
    MINIMAL,
    OMS_1,
    OMS_2,
    Wording,
)
from row_changes import SourceHabits
from topic_delivery import BY_KEY, BY_TABLE, RAISED, ROUND_ROBIN, STRAY, DeliveryHabits

ALIKE = (DTS_2, JSON_1, JSON_2, JSON_C_1, JSON_C_2)
"""Versions of one envelope that read UPDATEs the other way round than `DTS_1`."""


def random_history(
    seed: int, version: str | None = None, *, deletes: bool | None = None, changes: int | None = None
) -> History:
    """Return the history of a random shape, in one version throughout."""
    draw = Random(f"shape {seed}")
    return make_history(random_shape(draw, version, deletes=deletes, changes=changes), seed)


def swapped_history(seed: int) -> tuple[History, str]:
    """Return a history and a version under which most of its messages conform, and its UPDATEs are read the wrong way."""
    draw = Random(f"swapped {seed}")
    own, declared = (DTS_1, DTS_2) if draw.random() < 0.6 else (DTS_1, draw.choice(ALIKE))
    if draw.random() < 0.5:
        own, declared = declared, own
    tell = DIALECTS[own].delete != DIALECTS[declared].delete
    deletes = False if tell and draw.random() < 0.85 else None
    shape = random_shape(draw, own, deletes=deletes)
    if "INIT" in (DIALECTS[own].load, DIALECTS[declared].load) and DIALECTS[own].load != DIALECTS[declared].load:
        shape = replace(shape, source=replace(shape.source, load=None))
    wording = replace(
        shape.wording, insert_member="data", gtid=False if "drs" in own + declared else shape.wording.gtid
    )
    return make_history(replace(shape, wording=wording), seed), declared


def switched_history(seed: int) -> History:
    """Return a history of one subject whose producers turn to another version in mid-topic: half of them in order."""
    draw = Random(f"switched {seed}")
    first, second = draw.sample((DTS_1, DTS_2), 2) if draw.random() < 0.8 else draw.sample((OMS_1, OMS_2), 2)
    shape = random_shape(draw, first)
    by = draw.choice((WHOLE, WHOLE, PARTITION, TABLE, INSTANCE))
    if draw.random() < 0.5:
        shape, by = linked(draw, shape), draw.choice((WHOLE, PARTITION))
    return make_history(replace(shape, switch=Switch(second, by)), seed)


def linked(draw: Random, shape: HistoryShape) -> HistoryShape:
    """Return a shape whose rows change often, in order, in one partition each."""
    source = replace(
        shape.source, rows=draw.choice((4, 12, 40)), keyless=0, inserts=draw.choice((0.0, 0.02, 0.1)),
        deletes=draw.choice((0.0, 0.0, 0.05)), no_ops=0.05, states=draw.choice((None, None, 8)),
    )  # fmt: skip
    delivery = DeliveryHabits(
        partitions=draw.choice((1, 1, 3, 6)), spread=draw.choice((BY_KEY, BY_TABLE)), repeated=draw.choice((0, 0.02)),
        blocks=draw.choice((0, 2)), lost=draw.choice((0, 0, 0.02)), gone=draw.choice((0, 0.3)),
    )  # fmt: skip
    producer = replace(shape.producer, doubled=False)
    wording = replace(shape.wording, images=draw.choice((FULL, CHANGED)))
    return replace(shape, source=source, delivery=delivery, producer=producer, wording=wording)


def outlier_history(seed: int, changes: int = 3000) -> History:
    """Return a long history in order, of which a few UPDATEs are written in the other version."""
    draw = Random(f"outliers {seed}")
    own, other = draw.sample((DTS_1, DTS_2), 2)
    shape = random_shape(draw, own, deletes=False, changes=changes)
    source = replace(shape.source, rows=draw.choice((12, 150, 2000)), states=draw.choice((None, None, 8)))
    producer = replace(shape.producer, doubled=False, outliers=draw.randint(1, 5), outlier_version=other)
    delivery = DeliveryHabits(partitions=draw.choice((1, 3)), repeated=draw.choice((0, 0.02)))
    wording = replace(shape.wording, images=draw.choice((FULL, CHANGED)), insert_member="data")
    return make_history(replace(shape, source=source, producer=producer, delivery=delivery, wording=wording), seed)


def random_shape(
    draw: Random, version: str | None = None, *, deletes: bool | None = None, changes: int | None = None
) -> HistoryShape:
    """Return a random shape, in `version` if given; `deletes` says whether there are DELETEs at all."""
    version = version or draw.choice((DTS_1, DTS_2, DTS_1, DTS_2, JSON_1, JSON_2, JSON_C_1, JSON_C_2, OMS_1, OMS_2))
    source = _source_habits(draw, changes or draw.choice((200, 400, 600, 600, 1000)), deletes=deletes)
    wording = Wording(
        images=draw.choice((FULL, FULL, FULL, CHANGED, CHANGED, CHANGED, MINIMAL)),
        partial_member=draw.choice(("old", "data")),
        insert_member=draw.choice(("data", "data", "data", "old")),
        gtid=draw.random() < 0.3,
        keeps_null_members=draw.random() < 0.7,
    )
    producer = ProducerHabits(
        instances=draw.choice((1, 1, 1, 2, 3)),
        shared=draw.random() < 0.3,
        doubled=draw.random() < 0.05,
        ids=draw.choice((RISING, RISING, RISING, CONSTANT, RESTARTING)),
        gap=draw.choice((1, 20, 100, 1000, 5000)),
        whole_seconds=draw.random() < 0.6,
        several=draw.choice((0, 0, 0.2)),
        load_place=draw.choice((FIRST, FIRST, ALONG)),
        keyed=draw.random() < 0.7,
    )
    return HistoryShape(version, None, source, wording, producer, _delivery_habits(draw))


def _source_habits(draw: Random, changes: int, *, deletes: bool | None) -> SourceHabits:
    tables = draw.choice((1, 1, 1, 2, 3, 6))
    updates_alone = draw.random() < 0.25
    removed = draw.choice((0.0, 0.05, 0.2)) if deletes is None else 0.1 * deletes
    return SourceHabits(
        changes=changes,
        tables=tables,
        columns=draw.choice((1, 2, 3, 3, 5)),
        rows=draw.choice((1, 4, 12, 40, 150)),
        keyless=draw.choice((0, 0, 0, 0, 1)),
        composite=draw.random() < 0.2,
        timestamps=draw.random() < 0.1,
        inserts=0.0 if updates_alone else draw.choice((0.02, 0.1, 0.2, 0.5)),
        deletes=0.0 if updates_alone else removed,
        no_ops=draw.choice((0, 0, 0.05, 0.4)),
        key_changes=draw.choice((0, 0, 0.02, 0.15)),
        nulls=draw.choice((0, 0.1)),
        states=draw.choice((None, None, None, 2, 3, 8)),
        flips=draw.random() < 0.5,
        truncates=draw.choice((0, 0, 0, 1)),
        added_columns=draw.choice((0, 0, 0, 1, 2)),
        load=draw.choice((None, None, 0.0, 0.1, 0.5)),
    )


def _delivery_habits(draw: Random) -> DeliveryHabits:
    partitions = draw.choice((1, 1, 1, 2, 3, 6, 12))
    spread = draw.choice((BY_KEY, BY_KEY, ROUND_ROBIN, BY_TABLE, RAISED, STRAY)) if partitions > 1 else BY_KEY
    return DeliveryHabits(
        partitions=partitions,
        spread=spread,
        window=draw.choice((0, 0, 0, 0, 0, 0, 0, 0, 2, 10, 50, None)),
        exchanged=draw.choice((0, 0, 0, 0, 0, 2)),
        repeated=draw.choice((0, 0, 0, 0.02, 0.1)),
        blocks=draw.choice((0, 0, 0, 1, 3)),
        lost=draw.choice((0, 0, 0, 0.02, 0.1, 0.3)),
        compacted=draw.choice((0, 0, 0, 0, 0.5, 0.9)),
        gone=draw.choice((0, 0, 0, 0.5)),
        slices=draw.choice((None, None, None, None, 0.2)),
    )
