"""Emptied rows: which rows of a table are older than a TRUNCATE or DROP TABLE of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import escape
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings


@dataclass(frozen=True)
class Emptied:
    """What is older than the statements that have emptied a table, as far as is known.

    `order`: changes whose position is a lower number. `offsets`: changes without one that stand before these offsets;
    `unordered`: changes with one as well, because a statement has none. `own`: the partitions of the statements of
    this run; in others only a position shows what came first, and where `beside_all` not even that.
    """

    order: int | None = None
    offsets: Mapping[Source, int] = field(default_factory=dict)
    unordered: Mapping[Source, int] = field(default_factory=dict)
    own: frozenset[Source] = frozenset()
    beside_all: bool = False

    def is_older(self, names: Mapping[str, str]) -> str:
        """Return as SQL whether a change is older; `names` are the columns that hold its facts, quoted."""
        ordered = names["_order"]
        above = "false" if self.order is None else f"{ordered} < cast('{self.order}' as decimal(38,0))"
        before, behind = _stands(names, self.offsets), _stands(names, self.unordered)
        return f"case when {ordered} is null then {before} else {above} or {behind} end"

    def is_untold(self, names: Mapping[str, str]) -> str:
        """Return as SQL whether it is unknown if a change that stays is older: it is of another partition."""
        alike = "true" if self.beside_all else f"{names['_order']} is null"
        beside = " and ".join(f"not {_is_of(names, source)}" for source in sorted(self.own)) or "false"
        return f"{alike} and {beside} and not ({self.is_older(names)})"


def empty_by(emptyings: Emptyings, ordered: Collection[str]) -> Emptied:
    """Return what statements empty, where `ordered` names the contracts whose positions are numbers.

    What earlier runs have read of the partitions that a run reads is older than its statements: it begins where they
    have ended.
    """
    orders: list[int] = []
    offsets: dict[Source, int] = {}
    unordered: dict[Source, int] = {}
    for statement, spans in emptyings.all():
        before = {source: span.start for source, span in spans.items()} | {statement.source: statement.offset}
        order = statement.order(ordered)
        orders += [order] if order is not None else []
        for bounds in (offsets,) if order is not None else (offsets, unordered):
            bounds.update({source: max(offset, bounds.get(source, 0)) for source, offset in before.items()})
    own = frozenset(statement.source for statement in emptyings.new)
    beside_all = any(statement.order(ordered) is None for statement in emptyings.new)
    return Emptied(max(orders, default=None), offsets, unordered, own, beside_all)


def _stands(names: Mapping[str, str], offsets: Mapping[Source, int]) -> str:
    """Whether a change stands before the offset of its partition."""
    places = [
        f"({_is_of(names, source)} and {names['_offset']} < {end})"
        for source, end in sorted(offsets.items())
        if end > 0
    ]
    return f"({' or '.join(places)})" if places else "false"


def _is_of(names: Mapping[str, str], source: Source) -> str:
    return f"({names['_topic']} = '{escape(source.topic)}' and {names['_partition']} = {source.partition})"
