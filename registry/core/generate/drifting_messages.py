"""Drifting messages: conforming messages changed to show one drift class or break one rule, to test consumers.

The record of the class or rule defines what to change, in terms of the places that the contract names. Every change is
checked before it is returned: validated against its own contract, the message has to show what was asked for. What only
a stream shows is changed in its events, not in the bytes: the contract then writes them as the product would.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.core.common.drift_class import NumberToken, Path
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.position_sequences import UNIQUE
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, drift_rules, rules_of
from cdc_contracts.registry.core.validate.message_edits import put, walk
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import Number

_MOST_TRIES: Final = 400


class Drifter:
    """Writes events of a version so that each message shows one class of drift, or breaks one rule."""

    def __init__(self, version: Version, reading_options: ReadingOptions, drift: str) -> None:
        """Raise UsageError if there is no such class or rule, or no message can show it."""
        self._rule = find_drift_rule(drift)
        made = drift in CLASSES and CLASSES[drift].breaks is not None
        if self._rule is None and not made:
            known = [one.name for one in CLASSES.values() if one.breaks]
            known += [one.name for one in CLASSES.values() if one.drifts]
            if drift not in CLASSES:
                raise UsageError(
                    f"`{drift}` is not a drift class", where="--drift", hint=f"Possible are {', '.join(known)}."
                )
            hint = f"Possible are {', '.join(known)}."
            raise UsageError(f"{drift} is not a drift of single messages", where="--drift", hint=hint)
        if self._rule is not None and self._rule not in rules_of(version.meaning):
            raise UsageError(
                f"{version} has no rule {self._rule.name}", where="--drift", hint="`show` lists its rules."
            )
        self.version = version
        self.reading_options = reading_options
        self._drift = drift
        self.renderer = Renderer(version, reading_options)
        self.validation = open_validation(version.catalogue, version.reference, reading_options)

    @property
    def takes_messages_without_rows(self) -> bool:
        """Whether a message without a row may break the requested rule."""
        return self._rule is not None and self._rule.without_rows

    def render(self, event: Event) -> bytes | None:
        """Return a message of the event that shows the drift; None if none that was tried does."""
        for number, value in enumerate(self._tries(event)):
            if self._shows(value):
                return value
            if number > _MOST_TRIES:
                break
        return None

    def _tries(self, event: Event) -> Iterator[bytes]:
        message = RenderedMessage(self, event)
        if self._rule is not None:
            return message.breaking(self._rule)
        breaks = CLASSES[self._drift].breaks
        return breaks(message) if breaks else iter(())

    def _shows(self, value: bytes) -> bool:
        findings = self.validation.validate(value).verdict.findings
        if self._rule is not None:
            return any(finding.rule == self._rule.id for finding in findings)
        return any(finding.name == self._drift for finding in findings)


class RenderedMessage:
    """An event as a version writes it, and the ways to change that: what a class of drift may do with it."""

    def __init__(self, drifter: Drifter, event: Event) -> None:
        self._drifter, self._event = drifter, event
        self._version, self._wire = drifter.version, drifter.validation.wire
        self.op_at: Path = split_pointer(self._version.meaning.envelope.op.at)
        self.is_record = self._version.meaning.transport != "json"

    @cached_property
    def value(self) -> bytes:
        """The bytes of the message."""
        return self._drifter.renderer.render(self._event)

    @cached_property
    def _content(self) -> Any:
        return json.loads(self._wire.text_of(self.value), parse_int=NumberToken, parse_float=NumberToken)

    def places(self) -> list[tuple[Path, Any]]:
        """Return everything in the message with the way to it, outermost first."""
        return list(walk(self._content))

    def columns_first(self) -> list[tuple[Path, Any]]:
        """Return the scalars of the message with the way to each, those of images before others."""
        found = [(path, value) for path, value in self.places() if path and not isinstance(value, dict | list)]
        return sorted(found, key=lambda place: not self.is_in_image(place[0]))

    def objects(self) -> list[Path]:
        """Return the ways to objects below the message that are no images."""
        return [path for path, value in self.places() if isinstance(value, dict) and path and
                not self.is_in_image((*path, ""))]  # fmt: skip

    def is_in_image(self, path: Path) -> bool:
        """Return whether a place is in an image."""
        places = (split_pointer(pointer) for pointer in self._version.meaning.images.pointers())
        return any(path[: len(place)] == place and len(path) > len(place) for place in places)

    def in_another_record(self, value: str) -> str | None:
        """Return a text in another record, where values say in which record they are."""
        if not self.is_record:
            return None
        record, _, rest = value.partition(" ")
        return f"{'Character' if record != 'Character' else 'Integer'} {rest}"

    def put(self, path: Path, value: Any) -> Iterator[bytes]:
        """Yield the message with another value in one place, where it can be written so."""
        yield from self._written(put(self._content, path, value))

    def by_other_versions(self) -> Iterator[bytes]:
        """Yield the event as the other versions of the subject write it."""
        for other in self._version.catalogue.versions(self._version.subject):
            if other is not self._version:
                yield Renderer(other, self._drifter.reading_options).render(self._event)

    def by_other_subjects(self) -> Iterator[bytes]:
        """Yield the event as the latest versions of other subjects write it."""
        for subject in self._version.catalogue.subjects():
            if subject == self._version.subject:
                continue
            try:
                latest = self._version.catalogue.versions(subject)[-1]
                yield Renderer(latest, self._drifter.reading_options).render(self._event)
            except UsageError:  # that dialect has no such op
                continue

    def breaking_rules(self) -> Iterator[bytes]:
        """Yield the message as it breaks the rules across fields of its contract, one after the other."""
        for rule in rules_of(self._version.meaning):
            yield from self.breaking(rule)

    def breaking(self, rule: DriftRule) -> Iterator[bytes]:
        """Yield the message as it breaks one rule, the clearest way first."""
        reading = Reading(self._version.meaning, self._wire.open(self.value), self._drifter.reading_options)
        for edits in rule.breaks(reading):
            changed = self._content
            for path, value in edits.items():
                changed = ABSENT if changed is ABSENT else put(changed, path, value)
            yield from self._written(changed)

    def _written(self, content: Any) -> Iterator[bytes]:
        if content is ABSENT:
            return
        try:
            yield self._wire.write(write_message(content))
        except (Unreadable, ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return  # no record holds it


def find_drift_rule(text: str) -> DriftRule | None:
    """Return the rule across fields of a name or an id, such as `columns-typed` or `D09.columns-typed`; None: none."""
    return next((rule for rule in drift_rules().values() if text in (rule.name, rule.id)), None)


def write_message(value: Any) -> str:
    """Return a message as JSON, numbers by their tokens."""
    if isinstance(value, NumberToken):
        return str(value)
    if isinstance(value, Number):
        return value.token
    if isinstance(value, dict):
        members = (f"{json.dumps(name, ensure_ascii=False)}:{write_message(one)}" for name, one in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_message, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def drifts_in_streams(drift: str) -> bool:
    """Return whether only a stream can show a class of drift."""
    return drift in CLASSES and CLASSES[drift].drifts is not None


class StreamDrifter:
    """Changes events so that their stream shows one class of drift."""

    def __init__(self, version: Version, reading_options: ReadingOptions, drift: str) -> None:
        """Raise UsageError if a stream of the version cannot show the class."""
        self.version = version
        self.seen: set[str] = set()
        self.tables: dict[SourceTable, SourceTable] = {}
        self.latest: Event | None = None
        self._capabilities = capabilities_of(version, reading_options)
        self._place = version.meaning.envelope.position
        self.lists_tables = bool(reading_options.tables)
        self.may_lack_columns = reading_options.may_lack_columns(version.meaning.columns)
        self._class = CLASSES[drift]
        self._class.refuse(self)

    @property
    def rises(self) -> bool:
        """Whether positions are promised to rise in some way."""
        return self._place is not None and self._place.monotonic is not None

    @property
    def repeats(self) -> bool:
        """Whether positions may fall, and only a repeated one breaks the promise."""
        return self._place is not None and self._place.monotonic == UNIQUE

    @property
    def names_table(self) -> bool:
        """Whether messages name their table."""
        return bool(self._capabilities.table)

    def change(self, event: Event, *, wanted: bool) -> Event | None:
        """Return the drifting event, or None if it stays unchanged; `wanted` if a drift is due."""
        if event.before is None and event.after is None:
            return None
        changed: Any = self._class.drifts(self, event, wanted) if self._class.drifts else None
        self.latest = changed or event
        if changed is None:
            self.seen.add(self.op_of(event))
        return changed  # type: ignore[no-any-return]

    def op_of(self, event: Event) -> str:
        """Return the op of an event as the contract has it."""
        result = self._capabilities.ops.get(event.op)
        return result.op if result is not None else event.op
