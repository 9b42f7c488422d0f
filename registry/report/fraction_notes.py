"""Fraction notes: columns whose parts of a second are too small to be nanoseconds, as they were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.common.safe_text import visible
from cdc_contracts.registry.report.report_model import Report

_MICROS_OF_SECOND: Final = 1_000_000
_ENOUGH: Final = 20
"""Nanoseconds are below a million, as all microseconds are, once in a thousand times if they fall anywhere in a second;
and never where clocks tell milliseconds, tenths or whole parts. So many of them by chance is beyond belief."""
_MOST_NAMED: Final = 8


def fraction_notes(report: Report) -> Iterator[str]:
    """Yield for each table of a profile the columns whose parts of a second seem to be microseconds."""
    for topic in report.profile or ():
        for table in topic.tables:
            small = [one for one in table.columns if _is_small(one.with_nanos or 0, one.most_nanos or 0)]
            if small:
                named = ", ".join(visible(one.name) for one in small[:_MOST_NAMED])
                more = f" and {len(small) - _MOST_NAMED:,} more" if len(small) > _MOST_NAMED else ""
                values, most = sum(one.with_nanos or 0 for one in small), max(one.most_nanos or 0 for one in small)
                rows = f"{visible(topic.topic)} {visible(table.table or '')}"
                yield (
                    f"Parts of a second in {rows}, read as nanoseconds, are "
                    f"at most {most:,} in all {values:,} values of {named}{more} that have one: they seem to be "
                    "microseconds. --parameter avro_timestamp_fraction=micros reads them so."
                )


def _is_small(values: int, most: int) -> bool:
    return values >= _ENOUGH and most < _MICROS_OF_SECOND
