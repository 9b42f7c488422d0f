"""Drift in what distinguishes a subject: messages whose op code or discriminating members are not as documented."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from mutations import DROP, Token, get, replaced, written

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.message import transport
from cdc_contracts.registry.core.message.transport import Transport
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import Number

Edit = Callable[[Any], Any]
GONE = {"null": None, "no member": DROP}
OTHERS = {"another text": "zz_other", "a number": Number("7"), **GONE}
"""What stands where a message has to have a certain value."""


def drifts_of(version: Version) -> dict[str, Edit]:
    """Return the edits of messages of a version that break its op code, or one test of its discriminators."""
    op = version.meaning.envelope.op.at
    edits: dict[str, Edit] = {f"op is {what}": put(op, value) for what, value in OTHERS.items()}
    for test in _tests_of(version):
        edits |= {f"{how} {at} is {what}": edit for how, at, what, edit in _broken(test)}
    return edits


def texts_of_others(version: Version, versions: Iterable[Version]) -> list[Edit]:
    """Return the edits that put each text which another subject asks for, and one that none does, in its place."""
    asked: dict[str, dict[str, None]] = {}
    for other in versions:
        for test in _tests_of(other) if other.subject != version.subject else ():
            place = test.get("equals") or test.get("in") or test.get("not-in")
            if place is not None:
                texts = test.get("values") or [test["value"]]
                asked.setdefault(place, {"zz_other": None}).update(dict.fromkeys(texts))
    return [put(at, text) for at, texts in asked.items() for text in texts]


def _tests_of(version: Version) -> list[dict[str, Any]]:
    return [one for test in version.resolved["discriminators"] for one in test.get("any", [test])]


def _broken(test: dict[str, Any]) -> Iterator[tuple[str, str, str, Edit]]:
    [(how, at)] = [item for item in test.items() if item[0] not in ("value", "values", "at", "then", "trailing-bytes")]
    if how in ("present", "alone", "equals", "in"):
        broken = GONE if how in ("present", "alone") else OTHERS
        yield from ((how, at, what, put(at, value)) for what, value in broken.items())
    elif how in ("absent", "unset"):
        yield from ((how, at, what, put(at, value)) for what, value in {"text": "x", "object": {"a": "x"}}.items())
        if how == "alone":
            yield how, at, "not the only member", put(join_pointer(*split_pointer(at)[:-1], "zz_other"), Number("1"))
    elif how == "not-in":
        yield from ((how, at, value, put(at, value)) for value in test["values"])
    elif how == "prefix-of":
        yield how, at, "another text", put(at, "zz_other")
    elif how == "not-prefix-of":
        yield how, at, "that text", partial(_begin_with, at, split_pointer(test["at"]), test["then"])


def _begin_with(at: str, head: tuple[str, ...], then: str, message: Any) -> Any:
    return put(at, f"{get(message, head)}{then}1")(message)


def put(at: str, value: Any) -> Edit:
    """Return the edit that sets a member where it stands in an object; other messages stay as they are."""
    parts = split_pointer(at)

    def edit(message: Any) -> Any:
        return replaced(message, parts, value) if isinstance(get(message, parts[:-1]), dict) else message

    return edit


def with_escapes(message: Any) -> Any:
    """Return a message whose names and texts all begin with an escape that JSON does not need."""
    if isinstance(message, dict):
        return {_escaped(name): with_escapes(value) for name, value in message.items()}
    if isinstance(message, list):
        return [with_escapes(value) for value in message]
    return _escaped(message) if isinstance(message, str) else message


def _escaped(text: str) -> Token:
    first, rest = text[:1], json.dumps(text[1:])[1:]
    return Token(f'"\\u{ord(first):04x}{rest}' if first and first.isascii() else json.dumps(text))


def edited(wire: Transport, values: list[bytes], *edits: Edit) -> list[bytes]:
    """Return values with each of their messages edited; what no record can hold stays as it was."""
    found = []
    for value in values:
        message = wire.open(value)
        for edit in edits:
            message = edit(message)
        found.append(written(wire, partial(lambda one: one, message)) or value)
    return found


def count_looks(monkeypatch):
    """Count the messages that subjects examine together, those that are parsed one by one, and those validated so."""
    looks = Counter()

    def counted(owner, name, count_of):
        whole = getattr(owner, name)

        def counting(*args, **options):
            what, count = count_of(args)
            looks[what] += count
            return whole(*args, **options)

        monkeypatch.setattr(owner, name, counting)

    counted(FastValidator, "_examine", lambda args: ("examined", len(args[1])))
    counted(transport, "parse_message", lambda args: ("parsed", 1))
    counted(ReferenceValidator, "_begin", lambda args: ("validated", 1))
    return looks
