"""Reported parts: how large parts of a second are in the columns of Avro records that do not say what these count."""

from __future__ import annotations

from msgspec import UNSET, Struct

from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.stats.second_parts import SecondParts


class ReportedParts(Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of seconds in a column, read as nanoseconds."""

    topic: str
    """Topic."""
    table: str | None
    """Table, null if a message has none."""
    column: str
    """Column."""
    values: Count
    """Values with a part of a second."""
    most: Count
    """The greatest part: from 1,000,000 on it cannot be microseconds."""


def report_parts(seen: SecondParts) -> Sometimes[tuple[ReportedParts, ...]]:
    """Return the columns in order of topic, table and name; UNSET if there are none."""
    return tuple(ReportedParts(*column, *found) for column, found in seen.kept()) or UNSET
