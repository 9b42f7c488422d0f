"""Message evidence: evidence of one message for and against every version whose discriminators hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.findings import ERROR, INFO, Finding
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.relatives import Relative, read_relatives
from cdc_contracts.registry.core.message.framed_values import FrameReading, frame_reading
from cdc_contracts.registry.core.validate.candidates import Candidate
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, VersionVerdict
from cdc_contracts.registry.core.writer_schemas.writer_schemas import frame_of

_MOST_ROWS: Final = 50
_SAID_OR_NOT: Final = frozenset({"transaction", "position", "event_time", "event_time_text", "process_time", "tenant"})


class RecordPlace(NamedTuple):
    """The coordinates of a message."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Refusal:
    """Why one version refuses a message: found when asked for, as of many messages one reason is reported."""

    validator: ReferenceValidator
    message: dict[str, Any]

    @cached_property
    def finding(self) -> Finding:
        """The first error."""
        return next(one for one in self.validator.validate(self.message).findings if one.severity == ERROR)


@dataclass(frozen=True)
class MessageEvidence:
    """The evidence of one message, of its first rows if it has many: then it is not `whole`.

    `fits` has the versions whose discriminators hold and that find no error, `refused` the other versions whose
    discriminators hold, each with why; `may_be` and `marked` name relatives outside the catalogue. `shown` names all
    relatives that the message could be of, also those that a contract describes, and `proven` those that it shows to
    have written it.
    """

    place: RecordPlace
    message: Mapping[str, Any]
    fits: Mapping[Version, VersionVerdict]
    refused: Mapping[Version, Refusal]
    may_be: tuple[Relative, ...] = ()
    marked: tuple[Relative, ...] = ()
    shown: tuple[Relative, ...] = ()
    proven: tuple[Relative, ...] = ()
    hosts: tuple[Version, ...] = ()
    """Versions of other subjects among whose messages it may stand, as it fits a subject without a row."""
    whole: bool = True

    @property
    def values(self) -> int:
        """How many values of columns the versions that it fits read from it."""
        changes = (change for verdict in self.fits.values() for change in verdict.changes)
        return sum(len(image) for change in changes for image in (change.before, change.after) if image is not None)

    def shown_for(self, relative: Relative) -> tuple[Version | Relative, ...]:
        """Return whom it is evidence for that a message shows a relative: contracts that describe it, else itself."""
        return (relative,) if relative in self.may_be else relative.described_by(self.fits)

    def is_plain(self, version: Version) -> bool:
        """Return whether a version that the message fits has no warning."""
        return all(finding.severity == INFO for finding in self.fits[version].findings)

    def agree(self, one: Version, other: Version) -> bool:
        """Return whether two versions that the message fits read the same from it; one may read less than the other."""
        mine, theirs = self.fits[one], self.fits[other]
        return (
            len(mine.changes) == len(theirs.changes)
            and all(map(_agree, mine.changes, theirs.changes))
            and (mine.control is None) == (theirs.control is None)
            and (mine.control is None or _agree(mine.control, theirs.control))
        )


class CatalogueValidators:
    """The reference validators of all versions of a catalogue, applied to one message at a time."""

    def __init__(self, catalogue: Catalogue, reading_options: ReadingOptions) -> None:
        self.validators = {
            version: ReferenceValidator(version, reading_options) for version in catalogue.all_versions()
        }
        self._hosts = tuple(version for version in self.validators if version.meaning.control_of)
        self._relatives = read_relatives(catalogue)
        self._outside = frozenset(relative for relative in self._relatives if relative.is_outside(catalogue))
        by_wire: dict[str, list[ReferenceValidator]] = {}
        for validator in self.validators.values():
            by_wire.setdefault(validator.meaning.transport, []).append(validator)
        self._json = by_wire.pop("json", [])
        self._readings = _group_by_reading(self._json)
        self._binary = [validator for validators in by_wire.values() for validator in validators]

    def _open_json(self, value: bytes, key: bytes | None) -> list[tuple[ReferenceValidator, dict[str, Any]]]:
        """Return the message of a JSON value as each validator reads it, the images opened by those that claim it."""
        return [(one, _open_images(one, message, value, key)) for one, message in self._read_json(value)]

    def _read_json(self, value: bytes) -> list[tuple[ReferenceValidator, dict[str, Any]]]:
        """Return the message of a JSON value as each validator reads it, images that are texts as texts.

        A framed record is read beside its schema block by those that read blocks, and without by the others, unless it
        is a row for one of the former: it cannot be of both. Its row stands apart for those that ask for that.
        """
        if frame_of(value) is None:
            return [(one, message) for _, message in _read(self._json[:1], value) for one in self._json]
        found = []
        for readings in self._readings:
            for readers in readings:
                found += [(one, message) for _, message in _read(readers[:1], value) for one in readers]
            if any(one.claims(message) and one.validate(message).control is None for one, message in found):
                break
        return found

    def add(self, place: RecordPlace, value: bytes, key: bytes | None = None) -> MessageEvidence:
        """Return the evidence of a value; a value that is not a message gives none. Its key need not be known."""
        found = self._open_json(value, key)
        opened = bool(found)
        if not opened:
            found = _read(self._binary, value)
        fits: dict[Version, VersionVerdict] = {}
        refused: dict[Version, Refusal] = {}
        whole = True
        for validator, message in found:
            if not validator.claims(message):
                continue
            first_rows = _first_rows(message, validator.meaning.images.pointers())
            whole = whole and first_rows is message
            version_verdict = validator.validate_unless_refused(first_rows)
            if version_verdict is not None and version_verdict.fits:
                fits[validator.version] = version_verdict
            else:
                refused[validator.version] = Refusal(validator, first_rows)
        fitting = (message for validator, message in found if validator.version in fits)
        message = next(fitting, found[0][1] if found else {})  # framed records are read beside a block and without
        shown = tuple(relative for relative in self._relatives if opened and relative.may_be(message))
        others = self._others(message) if fits else frozenset()
        if all(version.subject in others for version in fits):
            fits = {}  # the contract of its product refuses it: it drifted
        may_be = tuple(one for one in shown if one in self._outside and not one.described_by(fits))
        proven = tuple(relative for relative in shown if relative.marked(message))
        marked = tuple(relative for relative in proven if relative in may_be)
        subjects = {version.subject for version, verdict in fits.items() if verdict.control is not None}
        hosts = tuple(
            version for version in (self._hosts if subjects else ())
            if version not in {*fits, *refused} and subjects & {*version.meaning.control_of}
        )  # fmt: skip
        return MessageEvidence(place, message, fits, refused, may_be, marked, shown, proven, hosts, whole)

    def of_its_product(self, value: bytes, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates for a value, without those of subjects that it shows not to be of."""
        found = self._read_json(value)
        others = self._others(found[0][1]) if found else frozenset()
        return [one for one in candidates if one.version.subject not in others]

    def _others(self, message: dict[str, Any]) -> frozenset[str]:
        """Return the subjects that a message is not of, as it shows a product that another contract describes."""
        shown = (one for one in self._relatives if one not in self._outside and one.may_be(message))
        return frozenset(subject for one in shown if one.marked(message) for subject in one.near)


def _first_rows(message: dict[str, Any], images: Sequence[str]) -> dict[str, Any]:
    """Return a message with the first rows of its images, itself if it has no more: many rows say little more."""
    for at in images:
        parts = split_pointer(at)
        rows = follow(message, parts)
        if isinstance(rows, list) and len(rows) > _MOST_ROWS:
            *above, last = parts
            message = holder = copy(message)
            for name in above:
                holder[name] = copy(holder[name])
                holder = holder[name]
            holder[last] = rows[:_MOST_ROWS]
    return message


def _group_by_reading(validators: Sequence[ReferenceValidator]) -> list[list[list[ReferenceValidator]]]:
    """Return validators by how they read framed records: those that read blocks first, each way for itself."""
    ways: dict[FrameReading, list[ReferenceValidator]] = {}
    for one in validators:
        ways.setdefault(frame_reading(one.meaning), []).append(one)
    return [[those for way, those in ways.items() if way.with_blocks == held] for held in (True, False)]


def _agree(one: Any, other: Any) -> bool:
    """Return whether two changes or control messages contradict each other nowhere.

    A transaction, position or time that only one of them has is no contradiction; of rows nothing may be missing.
    """
    result = ((name, getattr(one, name), getattr(other, name)) for name in one.__slots__)
    return all(mine == theirs or (name in _SAID_OR_NOT and None in (mine, theirs)) for name, mine, theirs in result)


def _read(validators: Sequence[ReferenceValidator], value: bytes) -> list[tuple[ReferenceValidator, dict[str, Any]]]:
    """Return the message of a value as each validator reads it; nothing if none can read it."""
    found = []
    for validator in validators:
        try:
            found.append((validator, validator.wire.open(value)))
        except Unreadable:
            continue
    return found


def _open_images(
    validator: ReferenceValidator, message: dict[str, Any], value: bytes, key: bytes | None
) -> dict[str, Any]:
    """Return a message with the images opened that a version has as texts, and the row that only its key holds."""
    images = validator.wire.text_images
    if images is None or not validator.claims(message):
        return message
    return validator.wire.open(value, images.any_key if key is None else key)
