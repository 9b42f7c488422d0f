"""Reported null values: records without a value where these may be deletions, and what their number says of them.

Behind each deletion in full stands one null value, for compaction. If a range has more null values than deletions, some
follow none, but for the first in each partition, whose deletion may stand before the range. Whether rows were deleted
by them only somebody who knows the producer can say: compaction removes deletions from in front of them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.rule_coverage import OP


class ReportedNullValues(Struct, frozen=True, forbid_unknown_fields=True):
    """Records without a value that were counted as tombstones, and deletions with one."""

    contract: str
    """A version by which a null value may be a deletion."""
    records: Count
    """Records without a value."""
    partitions: Count
    """Partitions that have some."""
    deletions: Count
    """Messages of deletions."""

    @property
    def unpaired(self) -> int:
        """How many null values, at least, follow no deletion."""
        return max(self.records - self.deletions - self.partitions, 0)


def report_null_values(
    tally: Tally, catalogue: Catalogue, options: ReadingOptions | None
) -> Sometimes[ReportedNullValues]:
    """Return the null values of a run; UNSET where there are none, none may be a deletion, or the user said what is."""
    nulls = [counts.tombstone for counts in tally.partitions.values() if counts.tombstone]
    contracts = sorted({one.contract for one in tally.statistics.rule_coverage if one.kind == OP})
    may_delete = [one for one in contracts if _is_open(catalogue.version(one).meaning)]
    if not nulls or not may_delete or (options is not None and options.says_null_values):
        return UNSET
    deletions = sum(
        count for one, count in tally.statistics.rule_coverage.items() if (one.kind, one.name) == (OP, "delete")
    )
    return ReportedNullValues(may_delete[-1], sum(nulls), len(nulls), deletions)


def _is_open(meaning: Meaning) -> bool:
    """Return whether a null value may be a deletion by a contract, and is a tombstone where nobody says so."""
    op = meaning.envelope.op
    return bool(op.null_value) and op.null_means is None


def join_null_values(parts: Iterable[ReportedNullValues]) -> Sometimes[ReportedNullValues]:
    """Return the null values of all parts of a run that have some which follow no deletion."""
    found = [one for one in parts if one.unpaired]
    if not found:
        return UNSET
    records, partitions, deletions = (
        sum(getattr(one, name) for one in found) for name in ("records", "partitions", "deletions")
    )
    return ReportedNullValues(found[-1].contract, records, partitions, deletions)


def null_value_notes(found: Sometimes[ReportedNullValues]) -> Iterator[str]:
    """Yield what null values may stand for, if some of them follow no deletion."""
    if found and found.unpaired:
        yield (
            f"At least {found.unpaired:,} of {found.records:,} null values follow no deletion (there are "
            f"{found.deletions:,}): if they are the deletions of the rows that their keys name, these rows stay where "
            f"they were decoded. --contract {visible(found.contract)} --parameter null_values=deletion reads them so; "
            "--parameter null_values=tombstone says that they delete nothing."
        )
