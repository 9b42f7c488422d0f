"""Writing turns: columns that are written differently from some record on, and the versions that write them so.

Not every turn is drift. A form may be documented to accept both numbers and digits; then only a column that turns
permanently is reported. If one version writes a source type in the former way and another in the new way, enough such
values indicate a switch from the first version to the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.stats.column_writing import (
    DIGITS,
    ISO,
    NUMBER,
    SECONDS,
    SQL,
    TEXT,
    ColumnWriting,
    Turn,
    Writing,
    column_key,
)
from cdc_contracts.registry.core.values import FORMS, Context, Number

ENOUGH: Final = 20
"""How many values have to be written in each of two ways before they count as evidence for versions."""

_EXAMPLES: Final[Mapping[Writing, str | Number]] = {
    Writing(NUMBER, SECONDS): Number("1700000000"),
    Writing(TEXT, SECONDS): "1700000000.5",
    Writing(TEXT, DIGITS): "1700000000",
    Writing(TEXT, ISO): "2024-01-02T03:04:05",
    Writing(TEXT, SQL): "2024-01-02 03:04:05",
}


class Switch(NamedTuple):
    """Two versions whose forms write a source type in the former and in the new way of a column."""

    before: Version
    after: Version
    source_type: str
    was: str
    now: str


class DriftingTurn(NamedTuple):
    """A turn that is drift, with the switch of versions that explains it, if any."""

    turn: Turn
    switch: Switch | None


def drifting_turns(seen: ColumnWriting, catalogue: Catalogue) -> Iterator[DriftingTurn]:
    """Yield the turns that are drift, partition by partition."""
    turns = list(seen.turns())
    ways = seen.counts({column_key(turn.rows, turn.name) for turn in turns})
    result = [turn for turn in turns if not _is_documented(turn, tuple(catalogue.versions(turn.rows.subject)))]
    switches: dict[Hashable, Switch] = {}
    for turn in result:
        key = column_key(turn.rows, turn.name)
        found = _switch(tuple(catalogue.versions(turn.rows.subject)), turn.before, turn.after)
        if found is not None and _is_enough(turn, ways[key]):
            switches[key] = switches[turn.rows.topic, turn.rows.table, turn.rows.subject] = found
    for turn in result:
        beside = switches.get((turn.rows.topic, turn.rows.table, turn.rows.subject))
        yield DriftingTurn(turn, switches.get(column_key(turn.rows, turn.name)) or _follow(beside, turn))


def _is_enough(turn: Turn, counts: Counter[Writing]) -> bool:
    """Return whether enough values were written in each of both ways; a third is of the kind of one of them."""
    kinds = {turn.before.kind, turn.after.kind}
    return min(counts[turn.before], counts[turn.after]) >= ENOUGH and all(way.kind in kinds for way in counts)


def _is_documented(turn: Turn, versions: Sequence[Version]) -> bool:
    """Return whether both ways are documented and the column did not turn permanently."""
    if turn.stretch.first.offset > turn.was.last.offset and turn.stretch.count >= ENOUGH:
        return False
    if any("value-forms" in version.meaning.undocumented for version in versions):
        return True
    ways = {turn.before, turn.after}
    digits = {Writing(TEXT, DIGITS), Writing(TEXT, SECONDS)}
    counts = {way for way in ways if way.kind == NUMBER}
    texts = frozenset(ways - counts)
    return bool(counts) and texts <= digits and any(_takes_both(version, texts) for version in versions)


@lru_cache(maxsize=256)
def _takes_both(version: Version, texts: frozenset[Writing]) -> bool:
    """Return whether a version has a form that accepts both numbers and texts, written in each of some ways."""
    mappings = [version.catalogue.mapping(name) for name in version.mapping_names()]
    return any(
        {NUMBER, TEXT} <= FORMS[form].wire and all(_reads(form, way) for way in texts)
        for mapping in mappings
        for form in mapping.document.forms
    )


@lru_cache(maxsize=1024)
def _switch(versions: tuple[Version, ...], before: Writing, after: Writing) -> Switch | None:
    """Return the switch between two versions that a turn shows; None if there is none, or several are possible."""
    found = {
        (one, other): Switch(one, other, source_type, was, now)
        for one in versions
        for other in versions
        if one is not other
        for source_type, was, now in _differing(one, other)
        if _reads(was, before) and _reads(now, after) and not _reads(was, after) and not _reads(now, before)
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _follow(beside: Switch | None, turn: Turn) -> Switch | None:
    """Return the switch that another column of the table shows, if it explains the ways of this one as well.

    The forms of the type read values like these; where a way has no layout of its own, their kinds tell as much.
    """
    is_shown = turn.before in _EXAMPLES and turn.after in _EXAMPLES
    for source_type, was, now in _differing(beside.before, beside.after) if beside is not None else ():
        took, takes = FORMS[was].wire, FORMS[now].wire
        turns = turn.before.kind in took - takes and turn.after.kind in takes - took
        fits = _reads(was, turn.before) and _reads(now, turn.after) if is_shown else turns
        if beside is not None and fits:
            return beside._replace(source_type=source_type, was=was, now=now)
    return None


def _differing(one: Version, other: Version) -> Iterator[tuple[str, str, str]]:
    """Yield the source types that two versions write in different forms."""
    for name, its in zip(one.mapping_names(), other.mapping_names(), strict=False):
        mine, theirs = one.catalogue.mapping(name), other.catalogue.mapping(its)
        for form, types in mine.document.forms.items():
            for source_type in types:
                now = theirs.form_of(source_type)
                if now is not None and now != form:
                    yield source_type, form, now


def _reads(form: str, writing: Writing) -> bool:
    example = _EXAMPLES.get(writing)
    return example is not None and FORMS[form].reads(example, Context())
