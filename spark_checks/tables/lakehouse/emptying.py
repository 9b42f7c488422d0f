"""Emptying: which rows of a table are older than a TRUNCATE or DROP TABLE of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cdc_contracts.registry.report import Span
from cdc_contracts.registry.tally import Source
from cdc_contracts.spark_checks.tables.lakehouse.schemas import escape
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings


@dataclass(frozen=True)
class Emptied:
    """What is older than the statements that have emptied a table, as far as anything tells.

    `order`: changes whose position is a lower number. `offsets`: changes without one that stand before these offsets;
    `unordered`: changes with one as well, because a statement has none. `beside`: what this run has read from
    other partitions than its statements, where nothing but a position tells what came first, and where `beside_all`
    not even that.
    """

    order: int | None = None
    offsets: Mapping[Source, int] = field(default_factory=dict)
    unordered: Mapping[Source, int] = field(default_factory=dict)
    beside: Mapping[Source, Span] = field(default_factory=dict)
    beside_all: bool = False

    def is_older(self, names: Mapping[str, str]) -> str:
        """Return as SQL whether a change is older; `names` are the columns that hold its facts, quoted."""
        ordered = names["_order"]
        above = "false" if self.order is None else f"{ordered} < cast('{self.order}' as decimal(38,0))"
        before, behind = _stands(names, self.offsets), _stands(names, self.unordered)
        return f"case when {ordered} is null then {before} else {above} or {behind} end"

    def is_untold(self, names: Mapping[str, str]) -> str:
        """Return as SQL whether nothing tells if a change is older: it was read beside a statement."""
        within = _stands(names, {source: span.end for source, span in self.beside.items()})
        alike = "true" if self.beside_all else f"{names['_order']} is null"
        return f"{alike} and {within} and not ({self.is_older(names)})"


def empty_by(emptyings: Emptyings, ordered: Collection[str]) -> Emptied:
    """Return what statements come to, where `ordered` names the contracts whose positions are numbers.

    What earlier runs have read of other partitions is older than a statement: its run begins where they have ended.
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
    own = {statement.source for statement in emptyings.new}
    beside = {source: span for source, span in emptyings.spans.items() if own and source not in own}
    beside_all = any(statement.order(ordered) is None for statement in emptyings.new)
    return Emptied(max(orders, default=None), offsets, unordered, beside, beside_all)


def _stands(names: Mapping[str, str], offsets: Mapping[Source, int]) -> str:
    """Whether a change stands before the offset of its partition."""
    topic, partition, offset = (names[name] for name in ("_topic", "_partition", "_offset"))
    places = [
        f"({topic} = '{escape(source.topic)}' and {partition} = {source.partition} and {offset} < {end})"
        for source, end in sorted(offsets.items())
        if end > 0
    ]
    return f"({' or '.join(places)})" if places else "false"
