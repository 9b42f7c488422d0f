"""SVG timeline of a topic, inline: a strip for each partition, a segment for each run of one contract.

Thinner strips accompany numbers: shares of a whole, and positions in a range.

Places are in percent of the width, so that a strip fits a telephone and a desk alike and its letters keep their size.
A contract is shown by its letter as well as by its colour, and everything drawn is in a table too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.html_markup import (
    Markup,
    cell,
    element,
    fold,
    heading,
    join,
    more,
    name_of,
    row,
    table,
)
from cdc_contracts.registry.core.report.report_model import (
    PartitionLedger,
    PartitionTimeline,
    Report,
    ReportedRun,
    VersionSwitch,
)
from cdc_contracts.registry.core.report.report_wording import clock, count_of, period, switch_words
from cdc_contracts.registry.core.report.reported_findings import FindingExtent

_HEIGHT: Final = 8
_LEAST_WIDTH: Final = 0.3
_LEAST_EXTENT: Final = 1.0
HEIGHT: Final = 26
_LEAST_FOR_LETTER: Final = 6.0
_LEAST_BETWEEN_LABELS: Final = 22.0
_MOST_STRIPS: Final = 64
_MOST_IN_SIGHT: Final = 12
_MOST_MARKS: Final = 40
_MOST_SEGMENTS: Final = 400
_MOST_ROWS: Final = 40
_COLOURS: Final = 6
_COLUMNS: Final = ("partition", "contract", "messages", "first offset", "last offset", "from", "until")
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def extent_strip(extent: FindingExtent, span: PartitionLedger | None) -> Markup | None:
    """Return a strip that shows where in the range of its partition a finding lies."""
    if span is None or span.end <= span.start:
        return None
    left, width = stretch(extent.first_offset, extent.last_offset + 1, span.start, span.end)
    width = max(width, _LEAST_EXTENT)
    return _thin_strip([_part("nothing", 0, 100), _part("extent", min(left, 100 - width), width)])


def shares_strip(parts: Sequence[tuple[str, int]]) -> Markup:
    """Return a strip of the parts of one whole, each by its class and number."""
    whole, left, drawn = sum(number for _, number in parts), 0.0, []
    for name, number in parts:
        if number:
            width = 100 * number / whole
            drawn.append(_part(name, left, width))
            left += width
    return _thin_strip(drawn)


def bar(part: float) -> Markup:
    """Return a bar of a length between nothing and 1."""
    return _thin_strip([_part("extent", 0, 100 * part)])


def stretch(first: int, last: int, start: int, end: int) -> tuple[float, float]:
    """Return left edge and width in percent; with a minimum width, and nothing outside."""
    whole = max(1, end - start)
    left = min(max(100 * (first - start) / whole, 0.0), 100.0)
    width = min(max(100 * (last - first) / whole, _LEAST_WIDTH), 100.0)
    return min(left, 100.0 - width) if last > first else left, width


def _part(name: str, left: float, width: float) -> Markup:
    return element("rect", x=f"{left:.3f}%", y=0, width=f"{width:.3f}%", height=_HEIGHT, class_=name)


def _thin_strip(parts: Sequence[Markup]) -> Markup:
    return element("svg", *parts, class_="thin", width="100%", height=_HEIGHT, aria_hidden="true")


def timeline(report: Report) -> Markup | None:
    """Return the chart of all partitions with its legend and its table, None if nothing is known."""
    lines = [line for line in report.timeline or () if line.runs]
    if not lines:
        return None
    switches: dict[tuple[str, int], list[VersionSwitch]] = {}
    for switch in report.switches:
        switches.setdefault((switch.topic, switch.partition), []).append(switch)
    # partitions with a switch come first
    drawn = sorted(lines, key=lambda line: (line.topic, line.partition) not in switches)[:_MOST_STRIPS]
    keys = {id(line) for line in drawn}
    letters = _letters(lines)
    strips = [
        _strip(number, line, switches.get((line.topic, line.partition), ()), letters)
        for number, line in enumerate(line for line in lines if id(line) in keys)
    ]
    hidden = strips[_MOST_IN_SIGHT:]
    return join([
        _legend(letters, lines),
        *strips[:_MOST_IN_SIGHT],
        fold(count_of(len(hidden), "more partition"), *hidden) if hidden else None,
        more(len(lines) - len(drawn), "partitions"),
        _table(lines, letters),
    ])  # fmt: skip


def _letters(lines: Sequence[PartitionTimeline]) -> dict[str, tuple[str, str]]:
    """Return letter and class of colour of every contract, in order of appearance."""
    found = list(dict.fromkeys(run.contract for line in lines for run in line.runs))
    return {
        contract: (_LETTERS[number] if number < len(_LETTERS) else "·", f"c{number % _COLOURS}")
        for number, contract in enumerate(found)
    }


def _legend(letters: Mapping[str, tuple[str, str]], lines: Sequence[PartitionTimeline]) -> Markup:
    counts: dict[str, int] = dict.fromkeys(letters, 0)
    for line in lines:
        for run in line.runs:
            counts[run.contract] += run.records
    entries = [
        element("li", _swatch(letter, colour), name_of(contract), _messages(counts[contract]))
        for contract, (letter, colour) in letters.items()
    ]
    unproven = element("li", _swatch("", "nothing"), "version not proven")
    return element("ul", *entries, unproven, class_="legend")


def _messages(count: int) -> Markup:
    return element("span", count_of(count, "message"))


def _swatch(letter: str, colour: str) -> Markup:
    return element(
        "svg",
        element("rect", x=0, y=0, width=20, height=16, class_=colour),
        element("text", letter, x=10, y=12, text_anchor="middle") if letter else None,
        width=20, height=16, aria_hidden="true",
    )  # fmt: skip


def _strip(
    number: int, line: PartitionTimeline, switches: Sequence[VersionSwitch], letters: Mapping[str, tuple[str, str]]
) -> Markup:
    title, result = f"strip-{number}-title", f"strip-{number}-text"
    drawing = element(
        "svg",
        element("title", f"{visible(line.topic)} partition {line.partition}", id=title),
        element("desc", _description(line, switches), id=result),
        element("rect", x="0", y=0, width="100%", height=HEIGHT, class_="nothing"),
        *(_segment(run, line, letters) for run in line.runs[:_MOST_SEGMENTS]),
        *_marks(line, switches),
        role="img", aria_labelledby=f"{title} {result}", class_="strip", width="100%", height=HEIGHT + 20,
    )  # fmt: skip
    times = [at for run in line.runs for at in (run.first_timestamp, run.last_timestamp) if at]
    when = period(min(times, default=None), max(times, default=None))
    label = element(
        "p", name_of(f"{line.topic} {line.partition}"),
        element("span", when, class_="times") if when else None,
        class_="label",
    )  # fmt: skip
    return element("div", label, drawing, class_="lane")


def _segment(run: ReportedRun, line: PartitionTimeline, letters: Mapping[str, tuple[str, str]]) -> Markup:
    left, width = stretch(run.first_offset, run.last_offset + 1, line.start, line.end)
    letter, colour = letters[run.contract]
    offsets = f"offsets {run.first_offset} to {run.last_offset}"
    hint = f"{visible(run.contract)}: {offsets}, {count_of(run.records, 'message')}"
    drawn = element(
        "rect", element("title", hint),
        x=f"{left:.3f}%", y=0, width=f"{width:.3f}%", height=HEIGHT, class_=colour,
    )  # fmt: skip
    if width < _LEAST_FOR_LETTER:
        return drawn
    return join([drawn, element("text", letter, x=f"{left + width / 2:.3f}%", y=18, text_anchor="middle")])


def _marks(line: PartitionTimeline, switches: Sequence[VersionSwitch]) -> list[Markup]:
    """Return the switch points with their offsets, as many as can be read, between the ends of the range."""
    marks = [_axis_label("0", "start", str(line.start)), _axis_label("100%", "end", str(line.end))]
    last = 0.0
    if len(switches) > _MOST_MARKS:  # marks without a space between them would overlap
        return marks
    for switch in switches:
        left, _ = stretch(switch.at, switch.at, line.start, line.end)
        marks.append(
            element(
                "svg",
                element("line", x1=0, y1=-1, x2=0, y2=HEIGHT + 5, class_="switch"),
                element("path", d=f"M-4 {HEIGHT + 6}L4 {HEIGHT + 6}L0 {HEIGHT}Z", class_="switch"),
                x=f"{left:.3f}%", overflow="visible",
            )
        )  # fmt: skip
        if left - last >= _LEAST_BETWEEN_LABELS and 100 - left >= _LEAST_BETWEEN_LABELS:
            marks.append(_axis_label(f"{left:.3f}%", "middle", str(switch.at)))
            last = left
    return marks


def _axis_label(left: str, anchor: str, text: str) -> Markup:
    return element("text", text, x=left, y=HEIGHT + 18, text_anchor=anchor, class_="axis")


def _description(line: PartitionTimeline, switches: Sequence[VersionSwitch]) -> str:
    if not switches:
        return f"offsets {line.start} to {line.end}: {visible(line.runs[0].contract)} throughout"
    result = "; ".join(switch_words(switch) for switch in switches[:3])
    return result if len(switches) <= 3 else f"{result}; and {len(switches) - 3:,} more switches"  # noqa: PLR2004


def _table(lines: Sequence[PartitionTimeline], letters: Mapping[str, tuple[str, str]]) -> Markup:
    rows = [_row(line, run, letters) for line in lines for run in line.runs[:_MOST_ROWS]]
    cut = any(line.cut for line in lines)
    return fold(
        "Show as a table",
        table(rows, head=[heading(text) for text in _COLUMNS], kind="cards"),
        more(sum(max(0, len(line.runs) - _MOST_ROWS) for line in lines), "runs"),
        element("p", "There were more runs than the report keeps.", class_="more") if cut else None,
    )


def _row(line: PartitionTimeline, run: ReportedRun, letters: Mapping[str, tuple[str, str]]) -> Markup:
    cells = [
        name_of(f"{line.topic} {line.partition}"),
        join([letters[run.contract][0], " ", name_of(run.contract)]),
        f"{run.records:,}",
        str(run.first_offset),
        str(run.last_offset),
        clock(run.first_timestamp or ""),
        clock(run.last_timestamp or ""),
    ]
    return row(*(cell(text, label=label) for label, text in zip(_COLUMNS, cells, strict=True)))
