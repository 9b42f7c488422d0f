"""SVG strips beside a number: shares of a whole, and where in a range something lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cdc_contracts.registry.report.html_markup import Markup, element
from cdc_contracts.registry.report.report_model import PartitionLedger
from cdc_contracts.registry.report.reported_findings import FindingExtent

_HEIGHT: Final = 8
_LEAST_WIDTH: Final = 0.3
_LEAST_EXTENT: Final = 1.0


def extent_strip(extent: FindingExtent, span: PartitionLedger | None) -> Markup | None:
    """Return a strip that shows where in the range of its partition a finding lies."""
    if span is None or span.end <= span.start:
        return None
    left, width = stretch(extent.first_offset, extent.last_offset + 1, span.start, span.end)
    width = max(width, _LEAST_EXTENT)
    return _strip([_part("nothing", 0, 100), _part("extent", min(left, 100 - width), width)])


def shares_strip(parts: Sequence[tuple[str, int]]) -> Markup:
    """Return a strip of the parts of one whole, each by its class and number."""
    whole, left, drawn = sum(number for _, number in parts), 0.0, []
    for name, number in parts:
        if number:
            width = 100 * number / whole
            drawn.append(_part(name, left, width))
            left += width
    return _strip(drawn)


def bar(part: float) -> Markup:
    """Return a bar of a length between nothing and 1."""
    return _strip([_part("extent", 0, 100 * part)])


def stretch(first: int, last: int, start: int, end: int) -> tuple[float, float]:
    """Return left edge and width in percent; what is there at all can be seen, and nothing is outside."""
    whole = max(1, end - start)
    left = min(max(100 * (first - start) / whole, 0.0), 100.0)
    width = min(max(100 * (last - first) / whole, _LEAST_WIDTH), 100.0)
    return min(left, 100.0 - width) if last > first else left, width


def _part(name: str, left: float, width: float) -> Markup:
    return element("rect", x=f"{left:.3f}%", y=0, width=f"{width:.3f}%", height=_HEIGHT, class_=name)


def _strip(parts: Sequence[Markup]) -> Markup:
    return element("svg", *parts, class_="thin", width="100%", height=_HEIGHT, aria_hidden="true")
