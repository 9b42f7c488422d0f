"""Fraction notes: columns whose parts of a second are too small to be nanoseconds, as they were read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_model import Report

_MICROS_OF_SECOND: Final = 1_000_000
_ENOUGH: Final = 20
"""Nanoseconds are below a million, as all microseconds are, once in a thousand times if they fall anywhere in a second;
and never where clocks tell milliseconds, tenths or whole parts. This number of them is no chance."""
_MOST_NAMED: Final = 8


def fraction_notes(report: Report) -> Iterator[str]:
    """Yield for each table the columns whose parts of a second seem to be microseconds."""
    small = [one for one in report.parts or () if one.values >= _ENOUGH and one.most < _MICROS_OF_SECOND]
    for (topic, table), columns in groupby(small, lambda one: (one.topic, one.table)):
        listed = list(columns)
        named = ", ".join(visible(one.column) for one in listed[:_MOST_NAMED])
        more = f" and {len(listed) - _MOST_NAMED:,} more" if len(listed) > _MOST_NAMED else ""
        values, most = sum(one.values for one in listed), max(one.most for one in listed)
        yield (
            f"Parts of a second in {visible(topic)} {visible(table or '')}, read as nanoseconds, are at most {most:,} "
            f"in all {values:,} values of {named}{more} that have one: they seem to be microseconds. "
            "--parameter avro_timestamp_fraction=micros reads them so."
        )
