"""Paired readings: one message actually read by two contracts: what each refuses or decodes, and where that differs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.meaning.altered_messages import look, put
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.releases import release_between
from cdc_contracts.registry.core.message.envelope_times import format_micros, read_time
from cdc_contracts.registry.core.message.reading import Reading, as_sent
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator

if TYPE_CHECKING:
    from cdc_contracts.registry.core.common.findings import Finding
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.contract.envelope_model import Place
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions

_UNDECODED: Final = ("checkpoint", "source_position", "source_kind", "primary_key_values")
"""Facts of the envelope that a contract places and a change has no member for."""
_IMAGES: Final = ("before", "after", "column_types")
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading a message by one contract: the findings that refuse it, or its decoded rows."""

    refusals: tuple[Finding, ...]
    unreadable: str | None
    rows: tuple[dict[str, Any], ...]

    @property
    def accepted(self) -> bool:
        return not self.refusals and self.unreadable is None

    def refusal(self, first: tuple[Finding, ...] = ()) -> str:
        """Return why the message is refused, in words; the findings that are asked about come first."""
        if self.unreadable is not None:
            return f"D01: {self.unreadable}"
        findings = [*first, *(one for one in self.refusals if one not in first)]
        result = [
            f"{one.rule} at {one.path or 'the message'}: expected {one.expected}, observed {one.observed}"
            for one in findings[:_SHOWN]
        ]
        more = len(findings) - _SHOWN
        return "; ".join(result) + (f"; and {more} more" if more > 0 else "")


class VersionReader:
    """Reads messages by one contract, under the reading options of a run."""

    def __init__(self, version: Version, reading_options: ReadingOptions) -> None:
        self.validator = ReferenceValidator(version, reading_options)
        self._reading_options = reading_options

    def write(self, message: Any) -> bytes:
        """Return the value that holds a message as its JSON is shown. Raises where the wire has no such message."""
        return self.validator.wire.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def may_accept(self, value: bytes) -> bool:
        """Return whether the shape of a value is right: asked first, because refusals take long to explain."""
        try:
            return shape_of(self.validator.version).fits(self.validator.wire.open(value))
        except Unreadable:
            return False

    def read(self, value: bytes) -> ReadResult:
        """Return the result of reading a value by the contract."""
        try:
            message = self.validator.wire.open(value)
        except Unreadable as error:
            return ReadResult((), f"expected {self.validator.wire.expected}, observed {error.observed}", ())
        version_verdict = self.validator.validate(self._as_of_this_version(message))
        refusals = tuple(one for one in version_verdict.findings if one.severity == ERROR)
        if refusals:
            return ReadResult(refusals, None, ())
        facts = self._facts(message)
        if version_verdict.control is not None:
            control = version_verdict.control
            result = {name: getattr(control, name) for name in control.__slots__ if name != "kind"}
            for name in ("event_time", "process_time"):
                result[name] = None if result[name] is None else format_micros(result[name])
            return ReadResult((), None, ({"holds": "no row", "op": control.kind, **result, **facts},))
        rows = [change.as_document(undecided=False) for change in version_verdict.changes]
        return ReadResult((), None, tuple({"holds": "a row", **row, **facts} for row in rows))

    def _as_of_this_version(self, message: Any) -> Any:
        """Return a message with a release of this version, where it states one: it says who reads it, and not how."""
        meaning = self.validator.meaning
        release = meaning.envelope.release
        if release is None or release.at is None or not isinstance(look(message, split_pointer(release.at)), str):
            return message
        stated = release_between(meaning.applies.since, meaning.applies.until)
        return put(message, split_pointer(release.at), stated)

    def _facts(self, message: dict[str, Any]) -> dict[str, Any]:
        reading = Reading(self.validator.meaning, message, self._reading_options)
        envelope = self.validator.meaning.envelope
        return {name: self._fact(reading, getattr(envelope, name)) for name in _UNDECODED}

    def _fact(self, reading: Reading, place: Place | None) -> Any:
        value = reading.place(place)
        if place is None or value is ABSENT:
            return None
        if place.form is not None:
            moment = read_time(value, place, self._reading_options.zone("time_zone"))
            return moment.text if moment.micros is None else format_micros(moment.micros)
        if place.reading is not None and isinstance(value, str):
            return [place.reading, value]
        return as_sent(value, place)


@lru_cache(128)
def shape_of(version: Version) -> SchemaCheck:
    """Return the validator of the shape of a version's messages."""
    return SchemaCheck(version.schema)


def differing(old: ReadResult, new: ReadResult) -> tuple[Any, Any]:
    """Return what two contracts decode differently of a message that both accept: only what differs."""
    if len(old.rows) != len(new.rows):
        return {"rows": len(old.rows)}, {"rows": len(new.rows)}
    pairs = [_differing_members(here, there) for here, there in zip(old.rows, new.rows, strict=True)]
    result = [pair for pair in pairs if pair[0] or pair[1]]
    if not result:
        return {}, {}
    return result[0]


def _differing_members(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    here: dict[str, Any] = {}
    there: dict[str, Any] = {}
    for name in dict.fromkeys([*old, *new]):
        left, right = old.get(name), new.get(name)
        if left == right:
            continue
        if name in _IMAGES and isinstance(left, dict) and isinstance(right, dict):
            keys = [key for key in {**left, **right} if left.get(key, ABSENT) != right.get(key, ABSENT)]
            left = {key: left[key] for key in keys if key in left}
            right = {key: right[key] for key in keys if key in right}
        here[name], there[name] = left, right
    return here, there
