"""Discriminators: the tests on one message that distinguish a subject from all others. All have to hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from itertools import repeat
from typing import Any, Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.json_messages import Record
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.relations import starts_with

StatedValue = str | bool | int | None
"""A value that a contract asks for."""
_MAY_BE_ESCAPED: Final = re.compile(r'["\\/\x00-\x1f]')


class Alike(IntEnum):
    """What messages that are alike have in common at a place: nothing, the JSON kind of the member, or its value."""

    NOTHING = 0
    KIND = 1
    VALUE = 2


def all_hold(tests: Iterable[Test], message: dict[str, Any]) -> bool:
    """Return whether every test holds for a parsed message."""
    return all(map(holds, tests, repeat(message)))


def holds(test: Test, message: dict[str, Any]) -> bool:
    """Return whether one test holds for a parsed message."""
    if test.any is not None:
        return any(holds(one, message) for one in test.any)
    for presence in (test.present, test.absent, test.unset, test.alone):
        if presence is not None:
            return _is_present_as(test, message, presence)
    if test.equals is not None:
        return is_value(_at(message, test.equals), test.value)
    if test.within is not None:
        return _is_one_of(_at(message, test.within), test.values)
    if test.outside is not None:
        return not _is_one_of(_at(message, test.outside), test.values)
    if test.prefix_of is not None:
        return _starts(message, test.prefix_of, test) is True
    if test.not_prefix_of is not None:
        return _starts(message, test.not_prefix_of, test) is not True
    return test.avro_decodes is not None and isinstance(message, Record)


def _is_present_as(test: Test, message: dict[str, Any], pointer: str) -> bool:
    found = _at(message, pointer)
    if test.absent is not None:
        return found is ABSENT
    if test.unset is not None:
        return found is ABSENT or found is None
    beside = follow(message, split_pointer(pointer)[:-1]) if test.alone is not None else ()
    return found is not ABSENT and found is not None and len(beside) <= 1


def is_value(found: Any, wanted: StatedValue) -> bool:
    """Return whether a parsed member has a value of a contract; a number is one however it is written."""
    return type(found) is _parsed_as(wanted) and found == wanted


def _parsed_as(wanted: StatedValue) -> type:
    """Return what the strict parser makes of a value of a contract."""
    return Number if type(wanted) is int else type(wanted)


def may_hold(test: Test, message: dict[str, Any], alike: Callable[[Test], Alike]) -> bool:
    """Return whether a test may hold for some message that is like this one.

    `alike` says what such messages have in common at the places that a test looks at.
    """
    if test.any is not None:
        return any(may_hold(one, message, alike) for one in test.any)
    common = alike(test)
    if common is Alike.NOTHING or holds(test, message):
        return True
    if common is Alike.VALUE:
        return False
    if test.outside is not None or test.not_prefix_of is not None:
        return True
    wanted = str if test.equals is None else _parsed_as(test.value)
    compared = (test.equals or test.within or test.prefix_of, test.at)  # other tests depend on the kind alone
    return compared[0] is not None and all(type(_at(message, at)) is wanted for at in compared if at is not None)


def needed_texts(tests: Iterable[Test]) -> set[str]:
    """Return the names and values without which not all of the tests can hold.

    None of them is a text that JSON may write with a backslash, but for a letter as its code, which the caller allows.
    """
    tests = tuple(tests)
    needed = (test.present or test.alone or test.equals or test.within or test.prefix_of for test in tests)
    names = {name for pointer in needed if pointer for name in split_pointer(pointer)}
    values = {test.value for test in tests if test.equals and isinstance(test.value, str)}
    return names | {value for value in values if not _MAY_BE_ESCAPED.search(value)}


def asked_texts(tests: Iterable[Test]) -> dict[str, frozenset[str]]:
    """Return the texts that tests compare a member with, by its place."""
    found: dict[str, frozenset[str]] = {}
    for test in tests:
        at = test.equals or test.within or test.outside
        texts = test.values or ((test.value,) if isinstance(test.value, str) else ())
        if at is not None and texts:
            found[at] = found.get(at, frozenset()).union(texts)
        for place, below in asked_texts(test.any or ()).items():
            found[place] = found.get(place, frozenset()) | below
    return found


def valued_tests(tests: Iterable[Test]) -> Iterator[Test]:
    """Yield the tests, alone or in an `any`, that compare a member with values; others depend on its kind alone."""
    for test in tests:
        yield from (one for one in (test, *(test.any or ())) if one.equals or one.within or one.outside)


def pointers_of(tests: Iterable[Test]) -> tuple[str, ...]:
    """Return every place that some test looks at, in order of first mention."""
    places: dict[str, None] = {}
    for test in tests:
        for at in (test.present, test.absent, test.unset, test.alone, test.equals, test.within, test.outside,
                   test.prefix_of, test.not_prefix_of, test.at):  # fmt: skip
            if at is not None:
                places[at] = None
        places |= dict.fromkeys(pointers_of(test.any or ()))
    return tuple(places)


def _at(message: dict[str, Any], pointer: str) -> Any:
    return follow(message, split_pointer(pointer))


def _is_one_of(value: Any, values: tuple[str, ...] | None) -> bool:
    return isinstance(value, str) and value in (values or ())


def _starts(message: dict[str, Any], pointer: str, test: Test) -> bool | None:
    return starts_with(_at(message, pointer), _at(message, test.at or ""), test.then or "")
