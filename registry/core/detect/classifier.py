"""Classifier: from accumulated evidence to a detection.

A contract is never guessed. Contracts that refuse no more messages than outliers remain; evidence for one and against
another, contradicted by no more than outliers, leaves fewer. Of several that read every message in the same way, the
first in catalogue order is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect import wrapped_messages
from cdc_contracts.registry.core.detect.detection import (
    AMBIGUOUS,
    CERTAIN,
    DRAFT,
    LIKELY,
    MIXED,
    NOT_IN_CATALOGUE,
    Detection,
)
from cdc_contracts.registry.core.detect.evidence import EvidenceList, evidence_of
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.mixtures import Mixture
from cdc_contracts.registry.core.detect.open_questions import describe_mixture, describe_open, describe_undecided
from cdc_contracts.registry.core.detect.outliers import most_outliers
from cdc_contracts.registry.core.detect.relatives import Relative
from cdc_contracts.registry.core.detect.reported_detection import DetectionVerdict
from cdc_contracts.registry.core.detect.votes import COLUMN_TURN, DOUBTED_CHAIN, KEY_CHAIN, LINKS, PLAINER, WEAK, Side
from cdc_contracts.registry.core.detect.weights import Weights
from cdc_contracts.registry.core.validate.candidates import find_nearest, open_validations, weigh

_LOOK: Final = f"`cdc-contracts why` explains one message and compares it with the nearest contract. {DRAFT}"


def detect(accumulator: EvidenceAccumulator) -> Detection:
    """Return the detection of an accumulator that has been given all its messages."""
    accumulator.finalize()
    return _Classification(accumulator).conclude()


def place_versions(accumulator: EvidenceAccumulator, detection: Detection, more: EvidenceAccumulator) -> Detection:
    """Return the detection of a subject that has switched, with what more messages near the switch prove."""
    more.finalize()
    accumulator.timeline.join(more.timeline)
    ranges, left_open = accumulator.place_versions(detection.detected[0].subject)
    return replace(detection, ranges=ranges, finalize=describe_open(ranges, left_open), settled=not left_open)


class _Classification:
    """One pass from the accumulated evidence to the detection."""

    def __init__(self, accumulator: EvidenceAccumulator) -> None:
        self.accumulator = accumulator
        self.weights = Weights(accumulator.senders, accumulator.messages, accumulator.votes)
        self.sides = self._sides()
        self.evidence_list = EvidenceList(accumulator, self.weights, self.sides)

    def conclude(self) -> Detection:
        if self.weights.says_nothing:
            return self._unknown(None)
        leaders = self.weights.leaders(self.sides)
        timeline = self._timeline()
        if timeline and (not leaders or all(self._warns_more(one, timeline) for one in leaders)):
            return self._turned(timeline)
        if not leaders:
            mixture = Mixture(self.accumulator, self.weights, self.sides)
            if len(mixture.detected) > 1:
                return self._mixed(mixture)
            leaders = mixture.detected
        left = self.accumulator.votes.unbeaten(leaders)
        versions = [side for side in left if isinstance(side, Version)]
        relatives = [side for side in left if isinstance(side, Relative)]
        if not versions:
            return self._unknown(relatives[0])
        versions += self._unbeaten_readers(versions, leaders)
        open_ = (
            any(relative.reads == "other" for relative in relatives)
            or not all(self.accumulator.read_alike(one, other) for one, other in combinations(versions, 2))
            or any(_typed_apart(one, other) for one, other in combinations(versions, 2))
            or not self.weights.fits_most(versions[0])
            or self._is_doubted(versions[0])
            or self._is_in_part(versions[0])
        )
        sure = len(versions) == 1 and not relatives and self._is_sure(versions[0], leaders)
        return self._detection(AMBIGUOUS if open_ else CERTAIN if sure else LIKELY, versions, relatives)

    def _sides(self) -> list[Side]:
        """Return every side that takes some message: versions in catalogue order, then relatives."""
        found = {side for senders in self.weights.senders for side in senders.sides}
        versions = [one for one in self.accumulator.catalogue.all_versions() if one in found]
        return [*versions, *sorted((one for one in found if isinstance(one, Relative)), key=lambda one: one.name)]

    def _is_beaten(self, version: Version) -> bool:
        """Return whether evidence other than the order of images is for another subject and against a version."""
        return any(
            self.accumulator.votes.beats(side, version) - WEAK - {KEY_CHAIN}
            for side in self.sides
            if isinstance(side, Version) and side.subject != version.subject
        )

    def _warns_more(self, side: Side, timeline: Sequence[Version]) -> bool:
        """Return whether a side would warn about more messages than outliers that a timeline accepts as they are."""
        plainer = max(
            (
                vote.count
                for one in timeline
                for kind, vote in self.accumulator.votes.of(one, side).items()
                if kind == PLAINER
            ),
            default=0,
        )
        return side not in timeline and plainer > most_outliers(self.accumulator.messages)

    def _unbeaten_readers(self, left: Sequence[Version], leaders: Sequence[Side]) -> list[Version]:
        """Return the other versions that accept all messages except outliers and that no one left beats.

        Another side may beat them and not those left. Then it is no evidence for these.
        """
        votes, weights = self.accumulator.votes, self.weights
        return [
            side
            for side in self.sides
            if isinstance(side, Version)
            and side not in left
            and weights.fits_nearly_all(side)
            and not any(weights.beats(one, side) or votes.beats(one, side) for one in left)
            and (side in leaders or not any(weights.beats(one, side) for one in leaders))
        ]

    def _is_opposed(self, version: Version) -> bool:
        """Return whether more evidence is against a version than for it."""
        (candidate,) = [one for one in self.evidence_list.candidates([version]) if one.contract == version.reference]
        return candidate.against > candidate.votes

    def _is_doubted(self, version: Version) -> bool:
        """Return whether the changes of rows speak more against a version than for it, but not throughout."""
        doubted = [vote for vote in self.accumulator.votes.all() if vote[2] == DOUBTED_CHAIN]
        votes = {
            sign: max((vote.count for *sides, _, vote in doubted if sides[place] == version.reference), default=0)
            for sign, place in (("for", 0), ("against", 1))
        }
        return votes["against"] > votes["for"]

    def _is_in_part(self, version: Version) -> bool:
        """Return whether only a part of the messages proves a version, while another one reads the rest differently."""
        subject = version.subject
        parted = self.accumulator.count_parted(subject) > 0
        return parted and self.accumulator.timeline.is_proven_in_part(subject)

    def _is_sure(self, version: Version, leaders: Sequence[Side]) -> bool:
        """Return whether strong evidence beats every other leader, and all messages except outliers fit.

        Never of messages that any product may write.
        """
        strong = all(
            any(self.accumulator.votes.beats(one, other) - WEAK for one in leaders)
            for other in leaders
            if other is not version
        )
        own = version.meaning.claim is None
        return own and strong and self.weights.fits_nearly_all(version) and not self._is_opposed(version)

    # --- verdicts

    def _detection(self, verdict: DetectionVerdict, versions: list[Version], relatives: list[Relative]) -> Detection:
        subjects = list(dict.fromkeys(version.subject for version in versions))
        subject = versions[0].subject if verdict != AMBIGUOUS or len(subjects) == 1 else None
        same = [version for version in versions if version.subject == subject]
        alone = len(same) == 1 and (verdict != AMBIGUOUS or not relatives)
        version = same[0] if alone else None
        others = [one for one in versions if one is not version and (version is not None or one.subject != subject)]
        validated = tuple(same) if subject and not (verdict == AMBIGUOUS and relatives) else ()
        preferences = (version,) if version is not None and verdict != AMBIGUOUS else ()
        proofs = self._proofs_against(validated, preferences)
        return Detection(
            verdict=verdict,
            subject=subject,
            version=version,
            candidates=self.evidence_list.candidates(versions),
            equivalent=tuple(one.reference for one in others) if verdict == LIKELY else (),
            detected=validated,
            nearest=None,
            evidence=(*self.evidence_list.evidence(versions), *self.evidence_list.unmatched(versions)),
            messages=self.accumulator.messages,
            finalize=self._decide(verdict, versions, relatives, proofs),
            preferences=preferences,
            settled=verdict != AMBIGUOUS and not proofs,
        )

    def _mixed(self, mixture: Mixture) -> Detection:
        versions = [side for side in mixture.detected if isinstance(side, Version)]
        if not versions:
            return self._unknown(next(side for side in mixture.detected if isinstance(side, Relative)))
        subjects = {side.subject if isinstance(side, Version) else side.name for side in mixture.detected}
        validated = mixture.validated()
        preferences = tuple(self._preferences(list(dict.fromkeys(version.subject for version in versions))))
        proofs = self._proofs_against(validated, preferences)
        return Detection(
            verdict=MIXED,
            subject=versions[0].subject if len(subjects) == 1 else None,
            version=None,
            candidates=self.evidence_list.candidates(versions),
            equivalent=tuple(dict.fromkeys(one.reference for part in mixture.parts for one in part.equals)),
            detected=validated,
            nearest=None,
            evidence=(
                *self.evidence_list.detected(mixture.detected),
                *self.evidence_list.evidence(mixture.detected),
                *self.evidence_list.unmatched(mixture.detected),
            ),
            messages=self.accumulator.messages,
            finalize=describe_mixture(mixture, proofs),
            preferences=preferences,
            settled=bool(validated) and not proofs,
        )

    def _timeline(self) -> tuple[Version, ...]:
        """Return the versions of the one subject that sent all messages except outliers, if it has switched.

        A single subject that has switched explains messages better than two subjects side by side. Versions that no
        message proves are not part of it. Empty if no subject has, or several might have.
        """
        found = []
        for subject in dict.fromkeys(side.subject for side in self.sides if isinstance(side, Version)):
            proven = [run.contract for runs in self.accumulator.timeline.proven(subject).values() for run in runs]
            versions = tuple(map(self.accumulator.catalogue.version, dict.fromkeys(proven)))
            taken = sum(
                count
                for senders, count in self.weights.senders.items()
                if any(version.subject == subject for version in senders.versions)
            )
            left_out = self.accumulator.messages - taken
            beaten = any(self._is_beaten(version) for version in versions)
            if len(versions) > 1 and left_out <= most_outliers(self.accumulator.messages) and not beaten:
                found.append(versions)
        return found[0] if len(found) == 1 else ()

    def _turned(self, detected: tuple[Version, ...]) -> Detection:
        """Return the detection of a subject of which one version follows another."""
        subject = detected[0].subject
        result = [
            evidence_of(
                KEY_CHAIN, f"from offset {first.offset} to {last.offset} of {first.topic} {first.partition} only it "
                "joins the changes of a row", contract, None, 1, 0, first,
            )
            for contract, first, last in self.accumulator.turns
            if contract.partition("@")[0] == subject
        ]  # fmt: skip
        ranges, left_open = self.accumulator.place_versions(subject)
        return Detection(
            verdict=MIXED,
            subject=subject,
            version=None,
            candidates=self.evidence_list.candidates(detected),
            equivalent=(),
            detected=detected,
            nearest=None,
            evidence=(
                *result,
                *self.evidence_list.detected(detected),
                *self.evidence_list.evidence(detected),
                *self.evidence_list.unmatched(detected),
            ),
            messages=self.accumulator.messages,
            finalize=describe_open(ranges, left_open),
            settled=not left_open,
            ranges=ranges,
        )

    def _unknown(self, relative: Relative | None) -> Detection:
        accumulator = self.accumulator
        hint = relative.advice if relative else wrapped_messages.describe_wrapping(accumulator)
        finalize = (hint or _LOOK) if accumulator.messages else "There was no message to look at."
        return Detection(
            verdict=NOT_IN_CATALOGUE if accumulator.messages else AMBIGUOUS,
            subject=None,
            version=None,
            candidates=self.evidence_list.candidates([relative] if relative else []),
            equivalent=(),
            detected=(),
            nearest=relative.near[0] if relative else self._nearest(),
            evidence=tuple(self.evidence_list.marks(relative) if relative else self.evidence_list.unmatched(())),
            messages=accumulator.messages,
            finalize=finalize,
            settled=False,
        )

    def _nearest(self) -> str | None:
        """Return the contract nearest to most of the messages that no contract accepts."""
        accumulator = self.accumulator
        validators = accumulator.validators
        validations = (
            open_validations(accumulator.catalogue, accumulator.reading_options, validators.validators)
            if accumulator.samples
            else []
        )
        weighed = (validators.of_its_product(value, weigh(value, validations)) for value in accumulator.samples)
        found = Counter(one.version.reference if one else None for one in map(find_nearest, weighed))
        return max(found, key=lambda one: found[one]) if found else None

    # --- open questions

    def _preferences(self, subjects: Sequence[str]) -> Iterator[Version]:
        """Yield for each subject the one version that its messages leave, if there is exactly one."""
        for number, subject in enumerate(subjects):
            versions = [side for side in self.sides if isinstance(side, Version) and side.subject == subject]
            own = self.weights.of_subject(subject, subjects[:number])
            left = self.accumulator.votes.unbeaten(own.leaders(versions))
            if len(left) == 1 and isinstance(left[0], Version):
                yield left[0]

    def _proofs_against(self, validated: Sequence[Version], preferences: Sequence[Version]) -> Mapping[str, int]:
        """Return the versions, with counts of messages, that keep the subjects' messages from having one reading.

        If versions of a subject accept messages and decode them differently, one has to be preferred, and no message
        may prove another. A message is validated against the first subject that accepts it.
        """
        preferred = {version.subject: version for version in preferences}
        own = {
            senders: next(
                (one.subject for one in validated if any(one.subject == it.subject for it in senders.versions)), ""
            )
            for senders in self.weights.senders
        }
        parted: Counter[str] = Counter()
        for senders, subject in own.items():
            parted[subject] += self.accumulator.parted[senders, subject]
        found: Counter[str] = Counter()
        for senders, subject in own.items():
            named = " or ".join(one.reference for one in senders.versions if one.subject == subject)
            if subject not in preferred:
                found[named] += self.accumulator.parted[senders, subject]
            elif parted[subject] and preferred[subject] not in senders.versions:
                found[named] += self.weights.senders[senders]
        return +found

    def _decide(
        self, verdict: str, versions: Sequence[Version], relatives: Sequence[Relative], proofs: Mapping[str, int]
    ) -> str | None:
        """Return what would resolve an open question."""
        result: list[str | None] = []
        fit, messages = self.weights.taken(versions[0]), self.accumulator.messages
        if not self.weights.fits_nearly_all(versions[0]):
            result.append(f"Only {fit:,} of {messages:,} messages fit {versions[0].reference}.")
            result.append(wrapped_messages.describe_wrapping(self.accumulator))
        result.append(self._open_question(verdict, versions, relatives))
        if verdict != AMBIGUOUS:
            result.append(describe_undecided(proofs))
        return " ".join(filter(None, result)) or None

    def _open_question(self, verdict: str, versions: Sequence[Version], relatives: Sequence[Relative]) -> str | None:
        if len(versions) == 1 and not relatives:
            if verdict == CERTAIN:
                return None
            if not self.weights.fits_nearly_all(versions[0]):
                return "Declare it with --contract."
            if verdict == AMBIGUOUS:
                return "Another version may hold in a part of them and read it differently: declare it with --contract."
            return "Only weak evidence distinguishes it from the others: declare it with --contract."
        sides = [*(one.reference for one in versions), *(one.name for one in relatives)]
        names = ", ".join(sides[:-1]) + (" and " if verdict == LIKELY else " or ") + sides[-1]
        turns = [(loser, winner) for winner, loser, kind, _ in self.accumulator.votes.all() if kind == COLUMN_TURN]
        if turns:
            before, after = turns[0]
            return f"Midway, columns change from the form of {before} to that of {after}: neither covers all messages."
        if verdict == LIKELY:
            return f"No message distinguishes {names}: all are read the same way. Declare one with --contract."
        more = "more messages"
        if any(entry.key_chain for version in versions for entry in version.meaning.version_evidence):
            more = f"a few DELETEs, or at least {LINKS} rows that are changed twice,"
        return f"It may be {names}, which read them differently: {more} would decide; or declare it with --contract."


def _typed_apart(one: Version, other: Version) -> bool:
    """Return whether two inseparable subjects read columns differently once a table contract gives their types."""
    return (
        other.subject in one.meaning.not_separable_from
        and one.meaning.columns.types == other.meaning.columns.types == "none"
        and not {*one.mapping_names()} & {*other.mapping_names()}
    )
