"""Verdicts: from the verdict of each version to one outcome per record; the order of the questions decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.common.findings import CLASSES, ERROR, Finding, rule_id
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.envelope_schemas import show_code

TOMBSTONE: Final = "tombstone"
UNREADABLE: Final = "unreadable"
CONTROL: Final = "control"
CONFORMING: Final = "conforming"
AMBIGUOUS: Final = "ambiguous"
OTHER_VERSION: Final = "other-version"
OTHER_DIALECT: Final = "other-dialect"
DRIFTED: Final = "drifted"

QUARANTINED: Final = (UNREADABLE, AMBIGUOUS, OTHER_VERSION, OTHER_DIALECT, DRIFTED)
_SHOWN_MEMBERS: Final = 12
LEFT_OPEN: Final = rule_id("ambiguous", "left-open")
"""The rule of what stands where no range of a versions file declares a version."""
_MISPLACED: Final = frozenset(rule_id("cross-field", rule) for rule in ("image-present-for-op", "old-keys-in-data"))


Same = Callable[[Sequence[Version]], bool]


@dataclass(frozen=True, slots=True)
class Opinion:
    """The result of one version for one message, without its changes.

    `placed_at` is the member that holds the row (its after image where it has one); `forms` has the value form of
    every column, by path.
    """

    version: Version
    findings: tuple[Finding, ...]
    holds_rows: bool
    placed_at: str
    forms: Mapping[str, str]

    @property
    def errors(self) -> int:
        return sum(finding.severity == ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one outcome of one record.

    `version` is the contract it was decoded or validated under; `fits` every version of the subject that accepts it;
    `differs` says that another accepting version would read other changes from it.
    """

    outcome: str
    version: Version | None
    findings: tuple[Finding, ...]
    fits: tuple[Version, ...] = ()
    differs: bool = False

    @property
    def undecided(self) -> bool:
        return len(self.fits) > 1

    @property
    def is_ours(self) -> bool:
        """Whether the record was read as one of the validated subject."""
        return self.outcome not in (UNREADABLE, OTHER_DIALECT)

    @property
    def is_readable(self) -> bool:
        """Whether the record is a message of the validated subject."""
        return self.is_ours and self.outcome != TOMBSTONE

    @property
    def counted_as(self) -> str:
        """The part of a ledger that the record belongs to."""
        return "quarantined" if self.outcome in QUARANTINED else self.outcome


@dataclass(frozen=True, slots=True)
class Case:
    """Everything the outcome of a readable message depends on.

    `opinions` has one entry per version of the subject, lowest first; `same` says whether given versions that fit all
    give the same change; `preferred` is the version that other messages favour. `left_open` means that no range of the
    versions file covers the message.
    """

    subject: str
    op_pointer: str
    validated: Sequence[Version]
    opinions: Sequence[Opinion]
    same: Same
    claimed_by: str | None
    members: Sequence[str]
    required: Sequence[str]
    preferred: Version | None = None
    left_open: bool = False


def decide(case: Case) -> Verdict:
    """Return the outcome of a readable message: that of the first question with the answer yes."""
    fits = [] if case.claimed_by else [opinion for opinion in case.opinions if not opinion.errors]
    versions = tuple(opinion.version for opinion in fits)
    declared = [opinion for opinion in fits if opinion.version in case.validated]
    if fits and case.left_open:
        fitting = ", ".join(version.reference for version in versions)
        one = _finding(
            "ambiguous", "left-open", "", "a range of the versions file", f"no range covers it; fits {fitting}"
        )
        return Verdict(AMBIGUOUS, versions[-1], (one,), versions)
    if declared:
        chosen = next((opinion for opinion in declared if opinion.version is case.preferred), None)
        best = chosen or declared[-1]
        if not best.holds_rows:
            return Verdict(CONTROL, best.version, best.findings, versions)
        if len(declared) == 1 or case.same([opinion.version for opinion in declared]):
            differs = len(versions) > 1 and not case.same(versions)
            return Verdict(CONFORMING, best.version, best.findings, versions, differs)
        if chosen is not None:
            return Verdict(CONFORMING, chosen.version, chosen.findings, versions, differs=True)
        named = ", ".join(opinion.version.reference for opinion in declared)
        one = _finding("ambiguous", None, case.op_pointer, "one reading", named)
        return Verdict(AMBIGUOUS, best.version, (one,), versions, differs=True)
    nearest = _nearest(case)
    if fits:
        asked = min(
            (opinion for opinion in case.opinions if opinion.version in case.validated),
            key=lambda opinion: (opinion.errors, -opinion.version.number),
        )
        return Verdict(OTHER_VERSION, asked.version, _other_version(asked, fits[-1]), versions)
    if case.claimed_by or 2 * len(set(case.members) & set(case.required)) < len(case.required):
        observed = case.claimed_by or show_members(case.members)
        return foreign(case.subject, nearest.version, observed)
    if nearest.version in case.validated:
        return Verdict(DRIFTED, nearest.version, nearest.findings)
    expected = ", ".join(version.reference for version in case.validated)
    other = _finding("other-version", None, "", expected, nearest.version.reference)
    return Verdict(DRIFTED, nearest.version, (other, *nearest.findings))


def unreadable(cause: str, expected: str, observed: str) -> Verdict:
    """Return the verdict of a value that is not a message."""
    return Verdict(UNREADABLE, None, (_finding("malformed", cause, "", expected, observed),))


def foreign(subject: str, nearest: Version | None, observed: str) -> Verdict:
    """Return the verdict of a message that another subject claims, or that has no members of this one."""
    return Verdict(OTHER_DIALECT, nearest, (_finding("other-dialect", None, "", subject, observed),))


def _nearest(case: Case) -> Opinion:
    """Return the version with the fewest errors, then a declared one, then the highest."""
    return min(
        case.opinions,
        key=lambda opinion: (opinion.errors, opinion.version not in case.validated, -opinion.version.number),
    )


def _other_version(validated: Opinion, fitting: Opinion) -> tuple[Finding, ...]:
    """Return the differences of two versions: the placement of the images, otherwise each column with another form."""
    errors = [finding for finding in validated.findings if finding.severity == ERROR]
    if any(finding.rule in _MISPLACED for finding in errors):
        result = [_differs("images", fitting.placed_at, validated.version.reference, fitting.version.reference)]
    else:
        paths: dict[str, str] = {}
        for finding in errors:
            column = finding.path.rpartition("/")[2]
            if finding.path in validated.forms and (column not in paths or finding.path.startswith(fitting.placed_at)):
                paths[column] = finding.path
        result = [
            _differs("value-form", path, validated.forms[path], fitting.forms.get(path, validated.forms[path]))
            for path in sorted(paths.values())
        ]
    if not result:
        result = [_differs("shape", errors[0].path, validated.version.reference, fitting.version.reference)]
    return (*result, *fitting.findings)


def _differs(cause: str, path: str, expected: str, observed: str) -> Finding:
    return _finding("other-version", cause, path, expected, observed)


def show_members(members: Sequence[str]) -> str:
    """Return the names of members, the first dozen of them."""
    names = sorted(show_code(name) for name in members)
    rest = [f"and {len(names) - _SHOWN_MEMBERS} more"] if len(names) > _SHOWN_MEMBERS else []
    return ", ".join(names[:_SHOWN_MEMBERS] + rest)


def _finding(name: str, cause: str | None, path: str, expected: str, observed: str) -> Finding:
    return Finding(rule_id(name, cause), name, CLASSES[name].severity, path, expected, observed)
