"""Profile changes: how the profile of a run differs from a baseline, beyond what chance explains.

Shares are compared as fractions of whole numbers, without rounding. A change counts if it is large, and larger than
four standard errors of the difference, with at least 100 rows on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.report.profile_wording import time_words
from cdc_contracts.registry.core.report.report_wording import share
from cdc_contracts.registry.core.stats.topic_profiles import (
    ColumnProfile,
    LagProfile,
    ProfiledTable,
    TableProfile,
    TopicProfiles,
)

LEAST_ROWS: Final = 100
"""With fewer rows, texts or messages on either side nothing is compared."""
LEAST_COUNT: Final = 10
"""What fewer rows have, or are expected to have, neither appears nor disappears."""
LEAST_POINTS: Final = 5
"""A share has changed if it differs by this many percentage points, ..."""
LEAST_FACTOR: Final = 3
"""... or by this factor and half a percentage point."""
LEAST_ERRORS: Final = 4
KNOWN_LONGEST: Final = 1_000
"""The longest text is compared only if the baseline has at least this many texts."""
_LONGER: Final = 8
_TAIL: Final = 20
"""One in this many messages may be in the upper buckets of the lag."""
_MICROS: Final = 1_000


class ProfileChange(NamedTuple):
    """One difference: how many rows, of how many, have it, what the baseline has, and what was found.

    `path` is the pointer of a column within its row; `contract` is None for changes that concern no single version.
    """

    cause: str
    table: str | None
    path: str
    contract: str | None
    rows: int
    of: int
    expected: str
    observed: str


def compare_profiles(before: TopicProfiles, now: TopicProfiles) -> Iterator[ProfileChange]:
    """Yield the differences between the profile of a baseline and that of a run."""
    rows = sum(before.rows.values()), sum(now.rows.values())
    if min(rows) >= LEAST_ROWS:
        yield from _compare_tables(before, now, rows)
    tables = before.kept()
    for key, table in now.kept().items():
        known = tables.get(key)
        if known is not None and min(known.rows, table.rows) >= LEAST_ROWS:
            yield from _compare_columns(key, known, table)
    for line, lag in sorted(now.lags.items()):
        if line in before.lags:
            yield from _compare_lags(before.lags[line], lag)


def has_changed(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return whether a share, given as a part and its whole, has changed beyond the thresholds and beyond chance."""
    (part, whole), (new_part, new_whole) = before, now
    if min(whole, new_whole) < LEAST_ROWS or any(
        max(one) < LEAST_COUNT for one in ((part, new_part), (whole - part, new_whole - new_part))
    ):
        return False
    old, new, scale = part * new_whole, new_part * whole, whole * new_whole
    difference, parts, wholes = abs(new - old), part + new_part, whole + new_whole
    if not difference or difference**2 * wholes < LEAST_ERRORS**2 * scale * parts * (wholes - parts):
        return False
    if 100 * difference >= LEAST_POINTS * scale:
        return True
    factor = any(max(one) >= LEAST_FACTOR * min(one) for one in ((old, new), (scale - old, scale - new)))
    return factor and 200 * difference >= scale


def _compare_tables(before: TopicProfiles, now: TopicProfiles, rows: tuple[int, int]) -> Iterator[ProfileChange]:
    tables, new_tables = _by_table(before), _by_table(now)
    last = min((name for one in (before, now) if (name := _last_listed(one)) is not None), default=None)
    for name in sorted({*tables, *new_tables}, key=lambda one: (one is not None, one or "")):
        if last is not None and (name or "") >= last:
            continue  # may not be listed because there are too many
        versions, new_versions = tables.get(name, {}), new_tables.get(name, {})
        old, new = _rows(versions), _rows(new_versions)
        parts = (old, rows[0]), (new, rows[1])
        if _is_new(*parts) or _is_gone(*parts) or has_changed(*parts):
            cause = "table-share" if old and new else "table"
            yield ProfileChange(cause, name, "", None, new, rows[1], *_shares(*parts, "of the rows"))
        if min(old, new) >= LEAST_ROWS:
            yield from _compare_versions(name, versions, new_versions)
            yield from _compare_ops(name, versions, new_versions)


def _compare_versions(
    name: str | None, versions: dict[str, TableProfile], new_versions: dict[str, TableProfile]
) -> Iterator[ProfileChange]:
    whole, new_whole = _rows(versions), _rows(new_versions)
    for contract in sorted({*versions, *new_versions}):
        old, new = (one[contract].rows if contract in one else 0 for one in (versions, new_versions))
        parts = (old, whole), (new, new_whole)
        if _is_new(*parts) or _is_gone(*parts):
            words = _shares(*parts, f"of the rows are {contract}")
            yield ProfileChange("version", name, "", contract, new, new_whole, *words)


def _compare_ops(
    name: str | None, versions: dict[str, TableProfile], new_versions: dict[str, TableProfile]
) -> Iterator[ProfileChange]:
    """Yield the ops whose shares have changed, as one difference of the table."""
    ops, new_ops = _ops(versions), _ops(new_versions)
    whole, new_whole = ops.total(), new_ops.total()
    changed = [
        op
        for op in sorted({*ops, *new_ops})
        for parts in [((ops[op], whole), (new_ops[op], new_whole))]
        if has_changed(*parts) or _is_new(*parts) or _is_gone(*parts)
    ]
    if changed:
        expected = ", ".join(f"{op} {share(ops[op], whole)}" for op in changed)
        observed = ", ".join(f"{op} {share(new_ops[op], new_whole)}" for op in changed)
        count = sum(new_ops[op] for op in changed)
        yield ProfileChange("ops", name, "", None, count, new_whole, expected, observed)


def _compare_columns(key: ProfiledTable, before: TableProfile, now: TableProfile) -> Iterator[ProfileChange]:
    columns, new_columns = before.kept(), now.kept()
    cut = [max(kept) for one, kept in ((before, columns), (now, new_columns)) if one.values > _values(kept)]
    last = min(cut, default=None)
    for name in sorted({*columns, *new_columns}):
        if last is not None and name > last:
            continue  # may not be listed because there are too many
        old, new = columns.get(name, ColumnProfile()), new_columns.get(name, ColumnProfile())
        path = join_pointer(name)
        for cause, count, whole, expected, observed in _compare_column(old, new, before.rows, now.rows):
            yield ProfileChange(cause, key.table, path, key.contract, count, whole, expected, observed)


def _compare_column(
    old: ColumnProfile, new: ColumnProfile, rows: int, new_rows: int
) -> Iterator[tuple[str, int, int, str, str]]:
    sent = (old.present, rows), (new.present, new_rows)
    if _is_new(*sent) or _is_gone(*sent):
        yield "column", new.present, new_rows, *_shares(*sent, "of the rows have it")
        return
    absent = (rows - old.present, rows), (new_rows - new.present, new_rows)
    shares = [
        ("absent-share", absent, "absent"),
        ("null-share", ((old.nulls, old.present), (new.nulls, new.present)), "NULL"),
        ("empty-share", ((old.empty, old.texts), (new.empty, new.texts)), "empty"),
    ]
    for cause, parts, words in shares:
        if has_changed(*parts):
            yield cause, *parts[1], *_shares(*parts, words)
    if min(old.texts, new.texts) < LEAST_ROWS:
        return
    replaced = (old.replaced, old.texts), (new.replaced, new.texts)
    more = new.replaced * old.texts > old.replaced * new.texts
    if (new.replaced and not old.replaced) or (more and has_changed(*replaced)):
        yield "replaced", new.replaced, new.texts, *_shares(*replaced, "with U+FFFD")
    if _has_other_lengths(old, new):
        yield "length", new.texts, new.texts, _lengths(old), _lengths(new)


def _has_other_lengths(old: ColumnProfile, new: ColumnProfile) -> bool:
    """Return whether the mean length differs by half, and a character, or the longest text has twice the length."""
    means = sorted((old.characters * new.texts, new.characters * old.texts))
    if 2 * means[1] >= 3 * means[0] and means[1] - means[0] >= old.texts * new.texts:
        return True
    longest, new_longest = old.longest or 0, new.longest or 0
    return old.texts >= KNOWN_LONGEST and new_longest >= max(2 * longest, longest + _LONGER)


def _compare_lags(old: LagProfile, new: LagProfile) -> Iterator[ProfileChange]:
    """Yield a change of the share of messages with at least twice the lag that 95 % of earlier ones stayed below."""
    whole, new_whole = old.messages - old.unknown, new.messages - new.unknown
    bound = next(
        bucket for bucket in range(1, 64)
        if _TAIL * sum(count for one, count in old.buckets.items() if one >= bucket) <= whole
    ) + 1  # fmt: skip
    late, new_late = (sum(count for bucket, count in one.buckets.items() if bucket >= bound) for one in (old, new))
    parts = (late, whole), (new_late, new_whole)
    if has_changed(*parts) and new_late * whole > late * new_whole:
        words = _shares(*parts, f"of the messages {time_words(_MICROS * 2 ** (bound - 1))} or more after the change")
        yield ProfileChange("lag", None, "", None, new_late, new_whole, *words)


def _is_new(before: tuple[int, int], now: tuple[int, int]) -> bool:
    return not before[0] and now[0] >= LEAST_COUNT


def _is_gone(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return whether something is gone that a number of rows should have."""
    part, whole = before
    return part >= LEAST_COUNT and not now[0] and part * now[1] >= LEAST_COUNT * whole


def _by_table(profiles: TopicProfiles) -> dict[str | None, dict[str, TableProfile]]:
    found: dict[str | None, dict[str, TableProfile]] = {}
    for key, table in profiles.kept().items():
        found.setdefault(key.table, {})[key.contract] = table
    return found


def _last_listed(profiles: TopicProfiles) -> str | None:
    """Return the last table of a profile that lists not all of them; None if all are listed."""
    kept = profiles.kept()
    if not kept or sum(table.rows for table in kept.values()) == sum(profiles.rows.values()):
        return None
    return max(key.table or "" for key in kept)


def _rows(versions: dict[str, TableProfile]) -> int:
    return sum(table.rows for table in versions.values())


def _ops(versions: dict[str, TableProfile]) -> Counter[str]:
    ops = Counter[str]()
    for table in versions.values():
        ops.update(table.ops)
    return ops


def _values(columns: dict[str, ColumnProfile]) -> int:
    return sum(column.present for column in columns.values())


def _shares(before: Sequence[int], now: Sequence[int], words: str) -> tuple[str, str]:
    expected, observed = (f"{share(*one)} {words} ({one[0]:,} of {one[1]:,})" for one in (before, now))
    return expected, observed


def _lengths(column: ColumnProfile) -> str:
    tenths = (20 * column.characters + column.texts) // (2 * column.texts)
    return f"{column.shortest:,} to {column.longest:,} characters, mean {tenths // 10:,}.{tenths % 10}"
