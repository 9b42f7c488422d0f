"""The way from a hearing to its verdict.

A contract is never guessed. Those that refuse no message are left; evidence for one and against another, with nothing
that contradicts it, leaves fewer. Of several that read every message alike the first in catalogue order is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from cdc_contracts.registry.candidates import find_nearest, open_scopes, weigh
from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.detection.detection import (
    AMBIGUOUS,
    CERTAIN,
    LIKELY,
    MIXED,
    NOT_IN_CATALOGUE,
    Candidate,
    Detection,
    Exhibit,
)
from cdc_contracts.registry.detection.hearing import Hearing, tell_breach
from cdc_contracts.registry.detection.relatives import Relative
from cdc_contracts.registry.detection.testimony import Place
from cdc_contracts.registry.detection.votes import COLUMN_TURN, ENOUGH, HINTS, KEY_CHAIN, MARK, WEAK, Side, name_of

_STRAY: Final = 0.05
"""Up to this share, messages that only a relative could have sent are taken for drift."""
_MOST_SIDES: Final = 8
_LOOK: Final = "cdc-contracts why tells of one message what it is, and how far it is from the nearest contract."


def detect(hearing: Hearing) -> Detection:
    """Return the verdict of a hearing that has heard all its messages."""
    hearing.settle()
    return _Deliberation(hearing).conclude()


class _Deliberation:
    """One walk from what was heard to the verdict."""

    def __init__(self, hearing: Hearing) -> None:
        self.hearing = hearing
        self.taken = {sides: count for sides, count in hearing.heard.items() if sides}
        self.explained = sum(self.taken.values())

    def conclude(self) -> Detection:
        if not self.explained:
            return self._unknown(None)
        leaders = self._leaders()
        if not leaders:
            return self._mixed()
        turns = [turn for turn in self.hearing.turns if turn[0] in leaders]
        if len({version for version, _, _ in turns}) > 1:
            return self._turned(turns)
        left = self._unbeaten(leaders)
        versions = [side for side in left if isinstance(side, Version)]
        relatives = [side for side in left if isinstance(side, Relative)]
        if not versions:
            return self._unknown(relatives[0])
        if any(relative.reads == "other" for relative in relatives):
            return self._told(AMBIGUOUS, versions, leaders, relatives=relatives)
        if len(versions) > 1 and any(
            self.hearing.differing[frozenset((one, other))] for one in versions for other in versions if one != other
        ):
            return self._told(AMBIGUOUS, versions, leaders, relatives=relatives)
        sure = len(versions) == 1 and not relatives and self._is_sure(versions[0], leaders)
        return self._told(CERTAIN if sure else LIKELY, versions, leaders, relatives=relatives)

    # --- who is left

    def _leaders(self) -> list[Side]:
        """Return the sides that take every message which any side takes, but for strays that only relatives take."""
        strays = sum(n for sides, n in self.taken.items() if not any(isinstance(side, Version) for side in sides))
        heard = self.taken
        if 0 < strays <= _STRAY * self.explained:
            heard = {sides: n for sides, n in heard.items() if any(isinstance(side, Version) for side in sides)}
        common = set.intersection(*(set(map(name_of, sides)) for sides in heard))
        return [side for side in self._sides() if name_of(side) in common]

    def _sides(self) -> list[Side]:
        """Return every side that takes some message: versions in catalogue order, then relatives."""
        found = {name_of(side): side for sides in self.taken for side in sides}
        versions = [one for one in self.hearing.catalogue.all_versions() if one.reference in found]
        return [*versions, *(side for side in found.values() if isinstance(side, Relative))]

    def _unbeaten(self, leaders: Sequence[Side]) -> list[Side]:
        votes = self.hearing.votes
        left = [one for one in leaders if not any(votes.beats(other, one) for other in leaders if other is not one)]
        return left or list(leaders)

    def _is_sure(self, version: Version, leaders: Sequence[Side]) -> bool:
        """Say whether strong evidence beats every other leader, and most messages are explained at all."""
        strong = all(
            any(self.hearing.votes.beats(one, other) - WEAK for one in leaders)
            for other in leaders
            if other is not version
        )
        return strong and 2 * self.explained > self.hearing.messages

    # --- verdicts

    def _told(
        self, verdict: str, versions: list[Version], leaders: Sequence[Side], *, relatives: Sequence[Relative]
    ) -> Detection:
        subjects = list(dict.fromkeys(version.subject for version in versions))
        named = versions[0]
        subject = named.subject if verdict != AMBIGUOUS or len(subjects) == 1 else None
        same = [version for version in versions if version.subject == subject]
        version = same[0] if verdict != AMBIGUOUS and len(same) == 1 else None
        others = [one for one in versions if one is not version and (version is not None or one.subject != subject)]
        return Detection(
            verdict=verdict,
            subject=subject,
            version=version,
            candidates=self._candidates(versions),
            equivalent=tuple(one.reference for one in others) if verdict == LIKELY else (),
            spoken=tuple(same if subject and not (verdict == AMBIGUOUS and relatives) else ()),
            nearest=None,
            evidence=self._exhibits(versions),
            messages=self.hearing.messages,
            settle=self._settle(verdict, versions, relatives),
            preferences=(version,) if version is not None else (),
        )

    def _mixed(self) -> Detection:
        spoken = self._cover()
        versions = [side for side in spoken if isinstance(side, Version)]
        if not versions:
            return self._unknown(next(side for side in spoken if isinstance(side, Relative)))
        subjects = {side.subject if isinstance(side, Version) else side.name for side in spoken}
        return Detection(
            verdict=MIXED,
            subject=versions[0].subject if len(subjects) == 1 else None,
            version=None,
            candidates=self._candidates(versions),
            equivalent=(),
            spoken=tuple(version for version in versions if not self._may_be_taken_for(version, spoken)),
            nearest=None,
            evidence=(*self._alone(spoken), *self._exhibits(spoken)),
            messages=self.hearing.messages,
            preferences=tuple(self._preferences(dict.fromkeys(version.subject for version in versions))),
        )

    def _turned(self, turns: Sequence[tuple[Version, Place, Place]]) -> Detection:
        """Return the verdict where key chains prove that one version follows another."""
        spoken = tuple(dict.fromkeys(version for version, _, _ in turns))
        told = [
            Exhibit(
                KEY_CHAIN, f"from offset {first.offset} to {last.offset} of {first.topic} {first.partition} only it "
                "joins the changes of a row", version.reference, None, 1, 0, first,
            )
            for version, first, last in turns
        ]  # fmt: skip
        return Detection(
            verdict=MIXED,
            subject=spoken[0].subject,
            version=None,
            candidates=self._candidates(spoken),
            equivalent=(),
            spoken=spoken,
            nearest=None,
            evidence=(*told, *self._exhibits(spoken)),
            messages=self.hearing.messages,
        )

    def _may_be_taken_for(self, version: Version, spoken: Sequence[Side]) -> bool:
        """Say whether a relative is spoken as well whose messages the version would take and read otherwise."""
        near = [side for side in spoken if isinstance(side, Relative) and version.subject in side.near]
        return any(
            sum(n for sides, n in self.taken.items() if side in sides) > _STRAY * self.explained
            for side in near
            if side.reads == "other"
        )

    def _preferences(self, subjects: Iterable[str]) -> Iterator[Version]:
        """Yield of each subject the one version that is left by its own messages, where one is."""
        for subject in subjects:
            own = [
                {side for side in sides if isinstance(side, Version) and side.subject == subject}
                for sides in self.taken
            ]
            common = set.intersection(*filter(None, own))
            left = self._unbeaten([side for side in self._sides() if side in common])
            if len(left) == 1 and isinstance(left[0], Version):
                yield left[0]

    def _unknown(self, relative: Relative | None) -> Detection:
        nearest = relative.near[0] if relative else None
        hearing = self.hearing
        if nearest is None and hearing.sample is not None:
            scopes = open_scopes(hearing.catalogue, hearing.terms, hearing.panel.judges)
            found = find_nearest(weigh(hearing.sample, scopes))
            nearest = found.version.reference if found else None
        settle = _LOOK if self.hearing.messages else "There was no message to look at."
        evidence = [*self._marks(relative)] if relative else []
        return Detection(
            verdict=NOT_IN_CATALOGUE if self.hearing.messages else AMBIGUOUS,
            subject=None,
            version=None,
            candidates=self._candidates([]),
            equivalent=(),
            spoken=(),
            nearest=nearest,
            evidence=tuple(evidence),
            messages=self.hearing.messages,
            settle=settle,
        )

    def _cover(self) -> list[Side]:
        """Return as few sides as take all messages: each time the one that takes most of what is left.

        One that evidence speaks against gives way to the one it speaks for, where that takes all but strays of its
        messages; and one whose messages may all be those of a relative that reads them otherwise is not spoken.
        """
        left = self._weighed()
        spoken: list[Side] = []
        while left and len(spoken) < _MOST_SIDES:
            best = self._best(left)
            spoken.append(best)
            left = {sides: n for sides, n in left.items() if best not in sides}
        return sorted(spoken, key=lambda side: sum(bool(self.hearing.votes.beats(one, side)) for one in spoken))

    def _weighed(self) -> dict[tuple[Side, ...], int]:
        """Return how many messages have which sides left, where evidence decides between those that take them."""
        weighed: Counter[tuple[Side, ...]] = Counter()
        for sides, count in self.taken.items():
            versions = [side for side in sides if isinstance(side, Version)]
            relatives = [side for side in sides if isinstance(side, Relative)]
            weighed[*self._unbeaten(versions), *relatives] += count
        return weighed

    def _best(self, left: Mapping[tuple[Side, ...], int]) -> Side:
        """Return the side that takes most of the messages that are left, as far as evidence has it."""
        sides = self._sides()
        counts = {name_of(side): sum(n for taken, n in left.items() if side in taken) for side in sides}
        most = max(sides, key=lambda side: counts[name_of(side)])
        shares = {name_of(side): sum(n for taken, n in left.items() if {side, most} <= {*taken}) for side in sides}
        enough = {True: counts[name_of(most)], False: (1 - _STRAY) * counts[name_of(most)]}
        rivals = [side for side in sides if shares[name_of(side)] >= enough[isinstance(side, Relative)]]
        unbeaten = self._unbeaten(rivals)
        others = [side for side in unbeaten if isinstance(side, Relative) and side.reads == "other"]
        return others[0] if others else max(unbeaten, key=lambda side: counts[name_of(side)])

    # --- what it rests on

    def _candidates(self, first: Sequence[Version]) -> tuple[Candidate, ...]:
        versions = [side for side in self._sides() if isinstance(side, Version)]
        ordered = [*first, *(version for version in versions if version not in first)]
        return tuple(map(self._candidate, ordered))

    def _candidate(self, version: Version) -> Candidate:
        records = sum(count for sides, count in self.taken.items() if version in sides)
        alone = sum(count for sides, count in self.taken.items() if sides == (version,))
        told = self.hearing.votes.all()
        votes = [(winner, loser, vote.count) for winner, loser, kind, vote in told if kind not in HINTS]
        return Candidate(
            contract=version.reference,
            records=records,
            votes=alone + sum(count for winner, _, count in votes if winner == version.reference),
            against=self.explained - records + sum(count for _, loser, count in votes if loser == version.reference),
        )

    def _alone(self, spoken: Sequence[Side]) -> Iterator[Exhibit]:
        """Yield for each contract that is spoken how many messages none of the others takes."""
        for side in spoken:
            sets = [sides for sides in self.taken if side in sides and not set(sides) & set(spoken) - {side}]
            count = sum(self.taken[sides] for sides in sets)
            if sets:
                first = min(self.hearing.first[sides] for sides in sets)
                says = f"of the contracts spoken here only {name_of(side)} takes these messages"
                yield Exhibit("spoken", says, name_of(side), None, count, 0, first)

    def _exhibits(self, leaders: Sequence[Side]) -> tuple[Exhibit, ...]:
        named = {name_of(side) for side in leaders}
        told = [
            Exhibit("refused", f"{refused.reference} refuses {tell_breach(refusal.finding)}", taken.reference,
                    refused.reference, refusal.count, self._refusals(refused, taken), refusal.first)
            for (taken, refused), refusal in self.hearing.refusals.items()
            if taken.reference in named
        ]  # fmt: skip
        told += [
            Exhibit(kind, vote.says, winner, loser, vote.count,
                    self.hearing.votes.contradicting(winner, loser, kind), vote.first)
            for winner, loser, kind, vote in self.hearing.votes.all()
            if winner in named
        ]  # fmt: skip
        return tuple(sorted(told, key=lambda one: (-one.count, one.kind, one.winner, one.loser or "")))

    def _refusals(self, taken: Version, refused: Version) -> int:
        found = self.hearing.refusals.get((taken, refused))
        return found.count if found else 0

    def _marks(self, relative: Relative) -> list[Exhibit]:
        count = sum(n for sides, n in self.taken.items() if relative in sides)
        first = min(place for sides, place in self.hearing.first.items() if relative in sides)
        says = f"the messages are built as {relative.name} builds them"
        return [Exhibit(MARK, says, relative.name, None, count, 0, first)]

    def _settle(self, verdict: str, versions: Sequence[Version], relatives: Sequence[Relative]) -> str | None:
        """Return what would settle an open question."""
        if verdict == CERTAIN:
            return None
        if len(versions) == 1 and not relatives:
            if 2 * self.explained > self.hearing.messages:
                return "Only weak evidence tells it from the others; --contract declares it."
            return f"Only {self.explained:,} of {self.hearing.messages:,} messages fit it; --contract declares it."
        sides = [*(one.reference for one in versions), *(one.name for one in relatives)]
        names = ", ".join(sides[:-1]) + (" and " if verdict == LIKELY else " or ") + sides[-1]
        turns = [(loser, winner) for winner, loser, kind, _ in self.hearing.votes.all() if kind == COLUMN_TURN]
        if turns:
            before, after = turns[0]
            return (
                f"Columns turn in mid-stream from how {before} writes them to how {after} does: neither is all of it."
            )
        if verdict == LIKELY:
            return f"Nothing here tells {names} apart. They read these messages alike; --contract declares which it is."
        more = "more messages"
        if any(entry.key_chain for version in versions for entry in version.meaning.version_evidence):
            more = f"a DELETE, or at least {ENOUGH[KEY_CHAIN]} rows that are changed twice,"
        return f"It may be {names}, which read them differently: {more} would tell, and --contract declares it."
