"""Emptied rows: which changes are older than the statements that have emptied a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.spark_checks.tables.lakehouse.spark_schemas import escape
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings

ORDER: Final = ("_order", "_topic", "_partition", "_offset", "_row_index")
"""What changes are ordered by. A change without a position is older than any with one."""


@dataclass(frozen=True)
class Emptied:
    """The changes that are known to be older than the statements that have emptied a table.

    `order`: changes with a lower position. `offsets`: changes without a position before these offsets; `unordered`:
    changes with a position as well, because a statement has none. `own`: the partitions of the statements of this run;
    in others only positions show the order, and with `no_order` not even they do.
    """

    order: int | None = None
    offsets: Mapping[Source, int] = field(default_factory=dict)
    unordered: Mapping[Source, int] = field(default_factory=dict)
    own: frozenset[Source] = frozenset()
    no_order: bool = False

    def is_older(self, names: Mapping[str, str]) -> str:
        """Return an SQL condition for older changes; `names` are the columns that hold their facts, quoted."""
        ordered = names["_order"]
        above = "false" if self.order is None else f"{ordered} < cast('{self.order}' as decimal(38,0))"
        before, behind = _is_before(names, self.offsets), _is_before(names, self.unordered)
        return f"case when {ordered} is null then {before} else {above} or {behind} end"

    def may_be_older(self, names: Mapping[str, str]) -> str:
        """Return an SQL condition for remaining changes of other partitions, which may be older."""
        alike = "true" if self.no_order else f"{names['_order']} is null"
        elsewhere = " and ".join(f"not {_is_of(names, source)}" for source in sorted(self.own)) or "false"
        return f"{alike} and {elsewhere} and not ({self.is_older(names)})"


def empty_by(emptyings: Emptyings, ordered: Collection[str]) -> Emptied:
    """Return what statements empty; `ordered` names the contracts whose positions are numbers.

    Records that earlier runs have read from the partitions of a run are older than its statements, as the run begins
    where they ended.
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
    no_order = any(statement.order(ordered) is None for statement in emptyings.new)
    return Emptied(max(orders, default=None), offsets, unordered, own, no_order)


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
