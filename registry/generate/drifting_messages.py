"""Drifting messages: one class of drift made in a message that conforms, so that consumers can be tested.

Every change is checked before it is returned: validated against its own contract, the message has to show the class
that was asked for. What to change comes from the contract, so a new dialect needs nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.findings import CLASSES
from cdc_contracts.registry.common.json_messages import Unreadable
from cdc_contracts.registry.common.pointers import split_pointer
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.generate.drifting_streams import CHANGED
from cdc_contracts.registry.generate.rendering import Renderer
from cdc_contracts.registry.generate.source_events import Event
from cdc_contracts.registry.validate.validation_context import open_validation

Path = tuple[str | int, ...]

_LONG_NUMBER: Final = "1" * 5000
_UNHEARD: Final = "UNHEARD_OF"
_NEW_MEMBER: Final = "added_by_an_upgrade"
_MOST_TRIES: Final = 400


class _Token(str):
    """A number as it stands in JSON."""

    __slots__ = ()


class Drifter:
    """Writes events of a version so that each message shows one class of drift."""

    def __init__(self, version: Version, reading_options: ReadingOptions, drift: str) -> None:
        """Raise UsageError where there is no such class, or no message can show it."""
        if drift not in CLASSES:
            raise UsageError(f"`{drift}` is no class of drift", where="--drift", hint=", ".join((*_MADE, *CHANGED)))
        if drift not in _MADE:
            raise UsageError(
                f"{drift} is no drift of messages",
                where="--drift",
                hint="these can be made: " + ", ".join((*_MADE, *CHANGED)),
            )
        self.version = version
        self._drift = drift
        self._reading_options = reading_options
        self._renderer = Renderer(version, reading_options)
        self._scope = open_validation(version.catalogue, version.reference, reading_options)

    def render(self, event: Event) -> bytes | None:
        """Return a message of the event that shows the drift; None where none that was tried does."""
        for number, value in enumerate(_MADE[self._drift](self, event)):
            if self._shows(value):
                return value
            if number > _MOST_TRIES:
                break
        return None

    def _shows(self, value: bytes) -> bool:
        verdict = self._scope.judge(value).verdict
        return any(finding.name == self._drift for finding in verdict.findings)

    # --- what may be changed, the clearest first

    def _cut(self, event: Event) -> Iterator[bytes]:
        value = self._renderer.render(event)
        yield value[: len(value) * 2 // 3]

    def _other_version(self, event: Event) -> Iterator[bytes]:
        for other in self.version.catalogue.versions(self.version.subject):
            if other is not self.version:
                yield Renderer(other, self._reading_options).render(event)

    def _other_dialect(self, event: Event) -> Iterator[bytes]:
        for subject in self.version.catalogue.subjects():
            if subject == self.version.subject:
                continue
            try:
                yield Renderer(self.version.catalogue.versions(subject)[-1], self._reading_options).render(event)
            except UsageError:  # that dialect has no such op
                continue

    def _new_member(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        for at in (*self._objects(message), ()):
            yield from self._with(message, (*at, _NEW_MEMBER), "x")

    def _missing_member(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        for path, _ in reversed(list(_walk(message))):
            if path and not self._is_in_image(path):
                yield from self._with(message, path, _DROPPED)

    def _other_kind(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        for path, value in self._columns_first(message):
            if isinstance(value, bool):
                yield from self._with(message, path, "true")
            elif isinstance(value, _Token):
                yield from self._with(message, path, str(value))
            elif isinstance(value, str):
                yield from self._with(message, path, self._of_another_record(value) or _Token("7"))

    def _other_form(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        for path, value in self._columns_first(message):
            if isinstance(value, _Token):
                yield from self._with(message, path, _Token(f"{value}.5" if "." not in value else "-1"))
            elif isinstance(value, str):
                yield from self._with(message, path, value + "?")

    def _unheard_code(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        yield from self._with(message, split_pointer(self.version.meaning.envelope.op.at), _UNHEARD)

    def _misplaced_image(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        places = [split_pointer(pointer) for pointer in self.version.meaning.images.pointers()]
        for place in places:
            yield from self._with(message, place, None)
        held = next((value for place in places if (value := _get(message, place)) is not None), None)
        for place in places:
            if _get(message, place) is None:
                yield from self._with(message, place, held)
        for path, value in self._columns_first(message):
            if self._is_in_image(path):
                yield from self._with(message, (*path[:-1], f"{path[-1]}_renamed"), value)

    def _long_number(self, event: Event) -> Iterator[bytes]:
        message = self._message(event)
        for path, value in self._columns_first(message):
            if self._is_in_image(path):
                if isinstance(value, _Token):
                    yield from self._with(message, path, _Token(_LONG_NUMBER))
                elif isinstance(value, str):
                    head = value.partition(" ")[0] + " " if self._is_record else ""
                    yield from self._with(message, path, head + _LONG_NUMBER)

    # --- how it is changed

    def _message(self, event: Event) -> Any:
        text = self._wire.text_of(self._renderer.render(event))
        return json.loads(text, parse_int=_Token, parse_float=_Token)

    def _with(self, message: Any, path: Path, value: Any) -> Iterator[bytes]:
        """Yield the message with one place changed, where it can be written so."""
        changed = _put(message, path, value)
        if changed is _DROPPED:
            return
        try:
            yield self._wire.write(_write(changed))
        except (Unreadable, ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return  # no record holds it

    @cached_property
    def _wire(self) -> Any:
        return self._scope.wire

    @property
    def _is_record(self) -> bool:
        return self.version.meaning.transport != "json"

    def _of_another_record(self, value: str) -> str | None:
        """Return the same text in another record, where values say in which record they are."""
        if not self._is_record:
            return None
        record, _, rest = value.partition(" ")
        return f"{'Character' if record != 'Character' else 'Integer'} {rest}"

    def _is_in_image(self, path: Path) -> bool:
        places = (split_pointer(pointer) for pointer in self.version.meaning.images.pointers())
        return any(path[: len(place)] == place and len(path) > len(place) for place in places)

    def _columns_first(self, message: Any) -> list[tuple[Path, Any]]:
        found = [(path, value) for path, value in _walk(message) if path and not isinstance(value, dict | list)]
        return sorted(found, key=lambda place: not self._is_in_image(place[0]))

    def _objects(self, message: Any) -> list[Path]:
        return [path for path, value in _walk(message) if isinstance(value, dict) and path and
                not self._is_in_image((*path, ""))]  # fmt: skip


_MADE: Final[Mapping[str, Callable[[Drifter, Event], Iterator[bytes]]]] = {
    "malformed": Drifter._cut,  # noqa: SLF001
    "other-dialect": Drifter._other_dialect,  # noqa: SLF001
    "other-version": Drifter._other_version,  # noqa: SLF001
    "unknown-field": Drifter._new_member,  # noqa: SLF001
    "missing-field": Drifter._missing_member,  # noqa: SLF001
    "type-change": Drifter._other_kind,  # noqa: SLF001
    "value-form": Drifter._other_form,  # noqa: SLF001
    "unknown-enum": Drifter._unheard_code,  # noqa: SLF001
    "cross-field": Drifter._misplaced_image,  # noqa: SLF001
    "precision": Drifter._long_number,  # noqa: SLF001
}
"""The classes that one message can show, each with the way it is made."""
_DROPPED: Final = object()


def _walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in below:
        yield from _walk(one, (*path, key))


def _get(value: Any, path: Path) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _put(value: Any, path: Path, new: Any) -> Any:
    """Return a copy with another value in one place; _DROPPED where the way there ends early."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list) and isinstance(first, int):
        below = _put(value[first], tuple(rest), new)
        return _DROPPED if below is _DROPPED else [*value[:first], below, *value[first + 1 :]]
    if not isinstance(value, dict) or (rest and first not in value):
        return _DROPPED
    if not rest and new is _DROPPED:
        return {name: one for name, one in value.items() if name != first}
    below = _put(value.get(first), tuple(rest), new)
    return _DROPPED if below is _DROPPED else {**value, first: below}


def _write(value: Any) -> str:
    if isinstance(value, _Token):
        return str(value)
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{_write(one)}" for name, one in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
