"""Option notes: the options of producers that the values of a topic show, and those that they leave open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.reported_options import ReportedOption

_MOST_PARTS: Final = 4
_MOST_NAMES: Final = 3


def option_notes(report: Report) -> Iterator[str]:
    """Yield what is known of each option, and how to state it."""
    left_open = {(one.topic, one.option) for one in report.options or () if not one.taken}
    for one in report.options or ():
        columns = f"{one.columns:,} column" + ("" if one.columns == 1 else "s")
        seen = f"{columns}, {one.held:,} value" + ("" if one.held == 1 else "s")
        name, topic = visible(one.option), visible(one.topic)
        if one.taken and len(one.values) > 1 and (one.topic, one.option) in left_open:
            continue  # the same values leave other columns open
        if one.taken:
            yield (
                f"Option of the producer of {topic}: {name}={' or '.join(map(visible, one.values))}, from a sample "
                f"({seen}). What it does not read is quarantined."
            )
        elif len(one.values) == 1:
            stated = f"{name}={visible(one.values[0])}"
            yield f"Option of the producer of {topic}: {stated} ({seen}). --parameter {stated} reads them so."
        elif one.values:
            left = " or ".join(map(visible, one.values))
            yield f"Option of the producer of {topic}: {name} may be {left} ({seen}). {_as_sent(one)}."
        else:
            yield (
                f"Option of the producer of {topic}: {name} changes ({seen}){_where(one)}. "
                f"{_as_sent(one)}; `audit --write-versions FILE` says what holds where, for --versions."
            )


def _as_sent(left_open: ReportedOption) -> str:
    """Return which values are read as they were sent, or may stand for NULL."""
    names = list(map(visible, (left_open.named or ())[:_MOST_NAMES]))
    more = left_open.columns - len(names)
    listed = ", ".join(names) + (f" and {more:,} more" if names and more else "")
    if left_open.of_null:
        return f"A value that equals the default of {listed or 'its column'} may stand for NULL"
    return f"Read as sent: {listed}" if names else "The values are read as sent"


def _where(changed: ReportedOption) -> str:
    """Return where an option changes in the first partition that shows it."""
    runs = changed.runs or ()
    first = next((one.partition for one, after in pairwise(runs) if one.partition == after.partition), None)
    parts = [
        f"{' or '.join(map(visible, one.values)) or 'several'} from offset {one.first_offset} to {one.last_offset}"
        for one in runs
        if one.partition == first
    ]
    return (
        f": in partition {first} {', '.join(parts[:_MOST_PARTS])}{' …' * (len(parts) > _MOST_PARTS)}" if parts else ""
    )
