"""Emptied rows: which changes are older than the statements that have emptied a table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import escape
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COORDINATES: Final = ("_topic", "_partition", "_offset", "_row_index")
ORDER: Final = ("_order", *COORDINATES)
"""What changes are ordered by. A change without a position is older than any with one."""
LOADED: Final = "snapshot"
_NUMBER: Final = "^-?[0-9]{1,38}$"


@dataclass(frozen=True)
class Emptied:
    """The changes that are known to be older than the statements that have emptied a table.

    `order`: changes with a lower position. `offsets`: changes without a position before these offsets; `unordered`:
    changes with a position as well, because a statement has none. `repeated`: changes without a position before these
    offsets, if they repeat older ones. `own`: the partitions of the statements of this run that are no repeats; in
    others only positions show the order, and with `no_order` not even they do.
    """

    order: int | None = None
    offsets: Mapping[Source, int] = field(default_factory=dict)
    unordered: Mapping[Source, int] = field(default_factory=dict)
    repeated: Mapping[Source, int] = field(default_factory=dict)
    own: frozenset[Source] = frozenset()
    no_order: bool = False

    def is_older(self, names: Mapping[str, str]) -> str:
        """Return an SQL condition for older changes; `names` are the columns that hold their facts, quoted."""
        ordered = names["_order"]
        above = "false" if self.order is None else f"{ordered} < cast('{self.order}' as decimal(38,0))"
        before, behind = _is_before(names, self.offsets), _is_before(names, self.unordered)
        return f"case when {ordered} is null then {before} else {above} or {behind} end"

    def may_repeat(self, names: Mapping[str, str]) -> str:
        """Return an SQL condition for remaining changes that are older if they repeat older ones."""
        return f"{names['_order']} is null and {_is_before(names, self.repeated)} and not ({self.is_older(names)})"

    def may_be_older(self, names: Mapping[str, str]) -> str:
        """Return an SQL condition for remaining changes of other partitions, which may be older."""
        alike = "true" if self.no_order else f"{names['_order']} is null"
        elsewhere = " and ".join(f"not {_is_of(names, source)}" for source in sorted(self.own)) or "false"
        return f"{alike} and {elsewhere} and not ({self.is_older(names)})"


def empty_by(emptyings: Emptyings, ordered: Collection[str]) -> Emptied:
    """Return what statements empty; `ordered` names the contracts whose positions are numbers.

    Records that earlier runs have read from the partitions of a run are older than its statements, as the run begins
    where they ended. A statement that comes after one of the same or a higher position was sent again, and empties only
    what that position had emptied: by position, and what was sent again before it.
    """
    statements = [(one, one.order(ordered), spans) for one, spans in emptyings.all()]
    heights = _Heights.of((one.source, one.offset, order) for one, order, _ in statements if order is not None)
    offsets: dict[Source, int] = {}
    unordered: dict[Source, int] = {}
    repeated: dict[Source, int] = {}
    own: set[Source] = set()
    for place, (statement, order, spans) in enumerate(statements):
        here = {statement.source: statement.offset}
        before = {source: span.start for source, span in spans.items()} | here
        if heights.reach(order, here):
            _raise(repeated, here)
            continue
        if place >= len(emptyings.past):
            own.add(statement.source)
        for bounds in (offsets,) if order is not None else (offsets, unordered):
            _raise(bounds, here if heights.reach(order, before) else before)
    no_order = any(statement.order(ordered) is None for statement in emptyings.new)
    return Emptied(heights.highest, offsets, unordered, repeated, frozenset(own), no_order)


@dataclass(frozen=True)
class _Heights:
    """The highest position of a statement so far at each offset of a partition that has one, and of all."""

    by_source: Mapping[Source, tuple[list[int], list[int]]]
    highest: int | None

    @classmethod
    def of(cls, found: Iterable[tuple[Source, int, int]]) -> _Heights:
        by_source: dict[Source, tuple[list[int], list[int]]] = {}
        for source, offset, order in sorted(found):
            offsets, orders = by_source.setdefault(source, ([], []))
            offsets.append(offset)
            orders.append(max(order, orders[-1] if orders else order))
        return cls(by_source, max((orders[-1] for _, orders in by_source.values()), default=None))

    def reach(self, order: int | None, before: Mapping[Source, int]) -> bool:
        """Return whether a statement of the same or a higher position stands before these offsets."""
        return order is not None and any(self._reaches(order, source, end) for source, end in before.items())

    def _reaches(self, order: int, source: Source, end: int) -> bool:
        offsets, orders = self.by_source.get(source, ([], []))
        place = bisect_left(offsets, end)
        return place > 0 and orders[place - 1] >= order


def _raise(bounds: dict[Source, int], offsets: Mapping[Source, int]) -> None:
    bounds.update({source: max(offset, bounds.get(source, 0)) for source, offset in offsets.items()})


def _is_before(names: Mapping[str, str], offsets: Mapping[Source, int]) -> str:
    """Return an SQL condition for changes before the offset of their partition."""
    places = [
        f"({_is_of(names, source)} and {names['_offset']} < {end})"
        for source, end in sorted(offsets.items())
        if end > 0
    ]
    return f"({' or '.join(places)})" if places else "false"


def _is_of(names: Mapping[str, str], source: Source) -> str:
    return f"({names['_topic']} = '{escape(source.topic)}' and {names['_partition']} = {source.partition})"


def find_repeats(rows: DataFrame, history: DataFrame, ordered: Collection[str], emptied: Emptied) -> DataFrame | None:
    """Return the coordinates of changes that were emptied, and sent again before the statement was; None if none are.

    They have no position, so only that they equal an older one of their partition shows it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    names = {name: name for name in ORDER}
    if not emptied.repeated or with_order(rows, ordered).where(emptied.may_repeat(names)).isEmpty():
        return None
    loaded = with_order(history, ordered).where(f"_order is null and {_is_before(names, emptied.repeated)}")
    alike = Window.partitionBy("_topic", "_partition", "_op", "_position", "_event_time", "before", "after")
    older = F.expr(emptied.is_older(names))
    found = loaded.withColumn("_older", older).withColumn("_repeats", F.max("_older").over(alike))
    return found.where("_repeats and not _older").select(*COORDINATES)


def with_order(rows: DataFrame, ordered: Collection[str]) -> DataFrame:
    """Return rows of the history with their position as a number, null if it is none."""
    from pyspark.sql import functions as F  # noqa: N812

    # Rows of a full load have artificial positions, and are older than changes.
    ranked = F.col("_contract").isin(*ordered) & (F.col("_op") != LOADED)
    number = ranked & F.col("_position").rlike(_NUMBER)
    return rows.withColumn("_order", F.when(number, F.col("_position")).cast("decimal(38,0)"))
