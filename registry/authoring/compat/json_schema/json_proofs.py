"""JSON proofs: a message that the writer may send and the reader refuses, searched and checked by two validators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice, product
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import BundledSchema
from cdc_contracts.registry.authoring.compat.json_schema.closing import ClosedSchema
from cdc_contracts.registry.authoring.compat.json_schema.containment import find_rest
from cdc_contracts.registry.authoring.compat.json_schema.instances import (
    GENERIC,
    build_values,
    gather_arrays,
    gather_values,
    repair,
)
from cdc_contracts.registry.authoring.compat.json_schema.pattern_languages import names_beside
from cdc_contracts.registry.authoring.compat.json_schema.pattern_texts import finds, write_text
from cdc_contracts.registry.authoring.compat.json_schema.place_descriptions import find_ways
from cdc_contracts.registry.authoring.compat.json_schema.schema_differences import (
    ELEMENT,
    MEMBER,
    OTHER_MEMBER,
    SchemaDifference,
    Way,
)
from cdc_contracts.registry.authoring.compat.json_schema.sent_members import holds_only_named
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS

CHECKED_BY: Final = "jsonschema, jsonschema-rs"
_CANDIDATES: Final = 60
_WAYS: Final = 8
_OTHERS: Final = "additionalProperties"
_PLACES: Final = 60
_MOST_KINDS: Final = 250
_MOST_REPAIRED: Final = 60
_KINDS: Final[tuple[Any, ...]] = (None, "", 0, True, [], {}, {"other": 0}, "a", 7)
_EFFORT: Final = 60_000_000
"""How many characters of schema are validated against: a large schema gets fewer proofs, not more time."""
_SLOW: Final = 6
"""How many times a schema is validated against in the time of the slow validators."""
_LONGEST_REFUSAL: Final = 300


class JsonProver:
    """Searches messages of `sent` that `taken` refuses, and checks them with the validators of both documents.

    `sent` is what the writer's messages are taken to be, and `taken` what the reader is taken to accept; for the
    policy cdc both differ from the documents as they are written, and the message has to show it by both. `cost` is how
    many characters the schemas have.
    """

    def __init__(
        self, writer: BundledSchema, reader: BundledSchema, sent: BundledSchema, taken: BundledSchema, cost: int
    ) -> None:
        self._accepts = [one.validator for one in _distinct(writer, sent)]
        self._refuses = [one.validator for one in _distinct(reader, taken)]
        self._writer, self._reader = writer, reader
        self._sent, self._taken = sent, taken
        self._slow: list[Any] = []
        self._cost = cost
        self._left = _EFFORT

    def prove(self, difference: SchemaDifference) -> tuple[Any, str] | None:
        """Return a message that shows a difference and what the reader says of it; None if none was found."""
        if self._left < self._cost:
            return None
        for way, value in islice(_guesses_for(difference), _CANDIDATES):
            found = self._try(_wrap(value, way), way)
            if found is not None:
                return found
        way = next(_ways_of(difference))
        if difference.name.startswith("REQUIRED") or not way:
            return self._try({}, (*way, difference.member)) if difference.member else None
        return None

    def find_accepted(self, difference: SchemaDifference) -> Any:
        """Return a message that both sides accept and that has the value of the difference; None if none was found."""
        for way, value in islice(_guesses_for(difference), _CANDIDATES):
            try:
                message = self._repair(_wrap(value, way), way)
            except ValueError:
                continue
            accepted = all(validator.is_valid(message) for validator in (*self._accepts, *self._refuses))
            if accepted and self._is_sent(message) and self._agree(message, accepts=True):
                return message
        return None

    def prove_by_examples(self) -> tuple[Any, str] | None:
        """Return a message among the writer's own `examples` that the reader refuses."""
        result = self._writer.value.get("examples") if isinstance(self._writer.value, dict) else None
        for message in result if isinstance(result, list) else ():
            refusal = self.check(message)
            if refusal is not None:
                return message, refusal
        return None

    def prove_any(self) -> tuple[Any, str] | None:
        """Return any message of the writer that the reader refuses."""
        if self._cost > 200_000:  # noqa: PLR2004  what is left of two large schemas is larger than both
            return None
        rest = find_rest(self._sent, self._taken)
        if rest is None:
            return None
        left: Any = rest.to_json_schema()
        try:
            validator = VALIDATORS[self._sent.draft](left, offline=True, validate_formats=False)
        except (ValueError, jsonschema_rs.ReferencingError):
            return None
        for guess in (*islice(build_values(left), _CANDIDATES), *GENERIC):
            try:
                message = repair(guess, validator)
            except (ValueError, RecursionError):
                continue
            refusal = self.check(message)
            if refusal is not None:
                return message, refusal
        return None

    def prove_anywhere(self) -> tuple[Any, str] | None:
        """Return a message that the reader refuses for a value of some kind, wherever that lies."""
        ways = (way for one in (self._reader, self._writer) for way in islice(find_ways(one.value), _PLACES))
        guesses = list(islice(product(dict.fromkeys(ways), _KINDS), _MOST_KINDS))
        for way, value in guesses:
            message = _complete(_wrap(value, way), self._plain, way)
            refusal = self.check(message)
            if refusal is not None:
                return message, refusal
        for way, value in guesses[:_MOST_REPAIRED]:
            found = self._try(_wrap(value, way), way)
            if found is not None or self._left < self._cost:
                return found
        return None

    def check(self, message: Any) -> str | None:
        """Return how the reader refuses a message that the writer sends; None if not all validators agree."""
        if not all(validator.is_valid(message) for validator in self._accepts):
            return None
        if any(validator.is_valid(message) for validator in self._refuses) or not self._is_sent(message):
            return None
        try:
            self._refuses[0].validate(message)
        except jsonschema_rs.ValidationError as error:  # the first of perhaps thousands
            refusal = error
        return _describe(refusal) if self._agree(message, accepts=False) else None

    def _is_sent(self, message: Any) -> bool:
        """Return whether the writer's producer sends a message of its schema: all of it but by the policy cdc."""
        sent = self._sent
        return not isinstance(sent, ClosedSchema) or holds_only_named(self._writer, message, sent.reopened)

    def _agree(self, message: Any, *, accepts: bool) -> bool:
        """Return whether the slow validators say that the writer accepts a message, and what the reader says of it."""
        if not self._slow:
            self._slow = [self._writer.slow_validator, self._reader.slow_validator]
        self._left -= _SLOW * self._cost
        try:
            return bool(self._slow[0].is_valid(message) and self._slow[1].is_valid(message) is accepts)
        except Exception:  # noqa: BLE001  a reference that leads elsewhere, and what else a validator dislikes
            return False

    def _try(self, guess: Any, kept: Way) -> tuple[Any, str] | None:
        try:
            message = self._repair(guess, kept)
        except ValueError:
            return None
        refusal = self.check(message)
        return None if refusal is None else (message, refusal)

    @cached_property
    def _plain(self) -> Any:
        """Any message of the writer: each guess would else have to find the members that are required anew."""
        try:
            return self._repair({}, ())
        except ValueError:
            return None

    def _repair(self, guess: Any, kept: Way) -> Any:
        """Return a message of the writer with the value of a guess at `kept`. Raises ValueError if none is found."""
        self._left -= self._cost
        if self._left < 0:
            raise ValueError("too much was tried")
        with suppress(RecursionError, KeyError, IndexError, TypeError):
            return repair(_complete(guess, self._plain, kept) if kept else guess, self._accepts[-1], kept)
        raise ValueError("no message was found")


def _guesses_for(difference: SchemaDifference) -> Iterator[tuple[Way, Any]]:
    """Yield places and values to try where the difference lies."""
    ways = list(islice(_ways_of(difference), _WAYS))
    in_array = bool(difference.route) and difference.route[-1][0] == ELEMENT
    for value in islice(_values_for(difference), _CANDIDATES // 2 if in_array else _CANDIDATES):
        yield from ((way, value) for way in ways)
    if in_array:
        yield from ((ways[0][:-1], one) for one in gather_arrays([difference.reader.schema, difference.writer.schema]))


def _values_for(difference: SchemaDifference) -> Iterator[Any]:
    """Yield values to try where the difference lies."""
    schemas = [difference.reader.schema, difference.writer.schema]
    last = difference.route[-1] if difference.route else None
    if last == (MEMBER, difference.member):
        yield from gather_values(_inside(schema, "properties", difference.member) for schema in schemas)
        return
    if last is not None and last == (OTHER_MEMBER, difference.member):
        yield from gather_values(
            _inside(schema, word, difference.member) for schema in schemas for word in ("patternProperties", _OTHERS)
        )
        return
    if difference.member:
        for value in ("", 0, None, True):
            yield {difference.member: value}
    yield from gather_values(schemas)


def _inside(schema: Any, word: str, name: str) -> Any:
    found = schema.get(word) if isinstance(schema, dict) else None
    return found.get(name) if isinstance(found, dict) and word != _OTHERS else found


def _ways_of(difference: SchemaDifference) -> Iterator[Way]:
    """Yield places in a message where the difference lies: one, unless it lies with members of any name."""
    if difference.way:
        yield difference.way
        return
    way: list[str | int] = []
    for kind, name in difference.route[:-1]:
        if kind == MEMBER:
            way.append(name)
        elif kind == ELEMENT:
            way.append(int(name))
        else:
            way.append(next(_names_like(name)))
    if not difference.route:
        yield ()
        return
    kind, name = difference.route[-1]
    if kind == MEMBER:
        yield (*way, name)
    elif kind == ELEMENT:
        yield (*way, int(name))
    else:
        yield from ((*way, one) for one in dict.fromkeys(_names_for(difference, name)))


def _names_like(pattern: str) -> Iterator[str]:
    """Yield names for members that no schema names, or that a pattern does."""
    yield from write_text(pattern) if pattern else ()
    yield "other"


def _names_for(difference: SchemaDifference, pattern: str) -> Iterator[str]:
    """Yield names that the schemas may treat differently: for a pattern, those that match it and others besides."""
    schemas = [one.schema for one in (difference.reader, difference.writer) if isinstance(one.schema, dict)]
    asked = [schema["propertyNames"] for schema in schemas if isinstance(schema.get("propertyNames"), dict)]
    patterns = {key for schema in schemas for key in schema.get("patternProperties", {})}
    patterns |= {one["pattern"] for one in asked if isinstance(one.get("pattern"), str)}
    listed = dict.fromkeys(name for schema in schemas for name in schema.get("properties", {}))
    beside = names_beside(patterns, listed) or []
    if difference.name == "PROPERTY_NAMES_CHANGED":
        refusing = [one["pattern"] for one in asked[:1] if isinstance(one.get("pattern"), str)]
        yield from (name for name in (*listed, *beside) if not all(finds(one, name) for one in refusing))
        yield from (name for name in gather_values(asked) if isinstance(name, str))
    elif not patterns - {pattern}:
        yield from _names_like(pattern)
    yield from (name for name in beside if not pattern or finds(pattern, name))
    yield from _names_like(pattern)


def _complete(guess: Any, message: Any, way: Way) -> Any:
    """Return a guess with the members that a message has beside the way."""
    if not way or not isinstance(guess, dict) or not isinstance(message, dict):
        return guess
    name = way[0]
    inside = {name: _complete(guess[name], message.get(name), way[1:])} if name in guess else {}
    return {**inside, **{other: held for other, held in message.items() if other != name}}


def _wrap(value: Any, way: Way) -> Any:
    for part in reversed(way):
        value = [None] * part + [value] if isinstance(part, int) else {part: value}
    return value


def _distinct(document: BundledSchema, meant: BundledSchema) -> Iterable[BundledSchema]:
    return (document,) if meant is document else (document, meant)


def _describe(refusal: jsonschema_rs.ValidationError) -> str:
    where = "".join(f"/{part}" for part in refusal.instance_path)
    said = refusal.message if len(refusal.message) <= _LONGEST_REFUSAL else refusal.message[:_LONGEST_REFUSAL] + "…"
    return f"refused: {said}" + (f" (at {where})" if where else "")
