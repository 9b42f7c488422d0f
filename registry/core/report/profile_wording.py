"""Profile wording: the profile of a report as cells and lines, the same on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.report.report_wording import count_of, share
from cdc_contracts.registry.core.report.reported_profile import (
    LagBucket,
    ReportedColumn,
    ReportedLag,
    ReportedTable,
    ReportedTopic,
)

COLUMN_HEAD: Final = ("column", "NULL", "absent", "empty", "characters", "mean", "U+FFFD")
TABLE_HEAD: Final = ("table", "version", "rows", "share", "ops")

_UNTIL: Final = {"process-time": "when the message was made", "kafka-timestamp": "when Kafka stored it"}
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_MICROS: Final = 1_000


def op_shares(table: ReportedTable) -> str:
    """Return the ops of a table with their shares, the most frequent first."""
    ops = sorted(table.ops.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{op} {share(rows, table.rows)}" for op, rows in ops)


def column_cells(column: ReportedColumn, rows: int) -> tuple[str, ...]:
    """Return the shares and lengths of a column of a table with `rows` rows; empty texts where nothing was counted."""
    shares = [share(part, rows) if part else "" for part in (column.nulls, column.absent, column.empty)]
    return (*shares, *length_cells(column), f"{column.replaced:,}" if column.replaced else "")


def length_cells(column: ReportedColumn) -> tuple[str, str]:
    """Return the range of lengths of the texts of a column, and their mean; nothing if it has no text."""
    if column.shortest is None or column.longest is None:
        return "", ""
    shortest, longest = column.shortest, column.longest
    within = f"{longest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
    tenths = (20 * column.characters + column.texts) // (2 * column.texts)
    return within, f"{tenths // 10:,}.{tenths % 10}"


def lag_words(lag: ReportedLag) -> str:
    """Return from what to what the lag is counted, and its bounds."""
    counted = f"from the change to {_UNTIL[lag.until]}"
    if lag.least is None or lag.most is None:
        return f"{counted}: unknown for all {count_of(lag.messages, 'message')}"
    unknown = f"; unknown for {count_of(lag.unknown, 'message')}" if lag.unknown else ""
    return f"{counted}: {time_words(lag.least)} to {time_words(lag.most)}{_middle_words(lag)}{unknown}"


def bucket_words(bucket: LagBucket) -> str:
    """Return the bounds of a bucket of lags."""
    if bucket.below == 0:
        return "below 0"
    if bucket.below is None:
        return "17 years and more"
    return f"below {time_words(_MICROS * bucket.below)}"


def time_words(micros: int) -> str:
    """Return a length of time in a unit in which it is easy to read."""
    millis = abs(micros) // _MICROS
    sign = "-" if micros < 0 else ""
    for unit, size in _UNITS:
        if millis >= size:
            tenths = millis * 10 // size
            return f"{sign}{tenths // 10:,}.{tenths % 10} {unit}" if tenths % 10 else f"{sign}{tenths // 10:,} {unit}"
    return f"{sign}{millis} ms"


def resend_words(topic: ReportedTopic) -> str | None:
    """Return what was sent again; None if the contract promises no order by which that shows."""
    found = topic.resends
    if found is None:
        return None
    if not found.repeated and not found.back:
        return "none"
    repeated = f"{count_of(found.repeated, 'message')} with the position of the message before"
    return f"{repeated}, {count_of(found.back, 'step')} back in the source"


def other_words(topic: ReportedTopic) -> str | None:
    """Return what is left out because there are too many tables or columns; None if that is nothing."""
    rows, values = topic.other_rows, sum(table.other_values for table in topic.tables)
    parts = [count_of(rows, "row") + " of tables that are not listed"] if rows else []
    parts += [count_of(values, "value") + " of columns that are not listed"] if values else []
    return f"and {' and '.join(parts)}" if parts else None


def _middle_words(lag: ReportedLag) -> str:
    """Return below what half of the lags are, as far as buckets show it."""
    counted, total = 0, sum(bucket.messages for bucket in lag.buckets)
    for bucket in lag.buckets[:-1]:
        counted += bucket.messages
        if 2 * counted >= total:
            return f", half of them {bucket_words(bucket)}"
    return ""
