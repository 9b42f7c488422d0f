"""Option notes: the options of producers that the values of a topic show, and those that they leave open."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_model import Report


def option_notes(report: Report) -> Iterator[str]:
    """Yield what is known of each option, and how to state it."""
    for one in report.options or ():
        columns = f"{one.columns:,} column" + ("" if one.columns == 1 else "s")
        seen = f"{columns}, {one.held:,} value" + ("" if one.held == 1 else "s")
        name, topic = visible(one.option), visible(one.topic)
        if len(one.values) == 1:
            stated = f"{name}={visible(one.values[0])}"
            yield f"Option of the producer of {topic}: {stated} ({seen}). --parameter {stated} reads them so."
        elif one.values:
            left = " or ".join(map(visible, one.values))
            yield f"Option of the producer of {topic}: {name} may be {left} ({seen}). The values are read as sent."
        else:
            yield f"Option of the producer of {topic}: {name} changes ({seen}). The values are read as sent."
