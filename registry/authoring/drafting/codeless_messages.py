"""Codeless messages: those without an op code, what they are, and the tests of members that tell them apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Parts, SampleMessage, words_of
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.discriminators import all_hold
from cdc_contracts.registry.core.values import Number

_STATES: Final = MappingProxyType({"BEGIN": "begin", "COMMIT": "commit", "END": "commit", "ROLLBACK": "rollback"})
_STATE_NAMES: Final = frozenset({"status", "state", "type", "kind", "event", "action"})


@dataclass
class CodelessKind:
    """One kind of messages without an op code: the tests that hold for it alone, and the op that it has."""

    tests: list[dict[str, Any]]
    means: str
    why: str
    """What shows the op; a question says it where that is not certain."""
    messages: list[SampleMessage]
    is_certain: bool = True

    def __post_init__(self) -> None:
        self._tests = [Test.model_validate(test) for test in self.tests]

    def holds(self, message: SampleMessage) -> bool:
        """Return whether a message is of this kind."""
        return all_hold(self._tests, message.content)

    @property
    def compared(self) -> set[str]:
        """The members that have to have one value, by pointer."""
        return {test["equals"] for test in self.tests if "equals" in test}

    @property
    def mark(self) -> dict[str, Any]:
        """The test that a discriminator has beside that of the op code."""
        return next((test for test in self.tests if {"present", "equals"} & test.keys()), self.tests[-1])


@dataclass
class _Group:
    """Messages with the same members, and what these say."""

    members: frozenset[Parts]
    held: frozenset[Parts]
    """Those of the members that are not null in any of the messages."""
    state: tuple[Parts, str] | None
    messages: list[SampleMessage]


def find_codeless(
    messages: Iterable[SampleMessage], at: Parts, images: Collection[Parts], columns: Collection[str]
) -> list[CodelessKind]:
    """Return the kinds of messages without an op code, which would be `at` a place."""
    groups = list(_group(messages, at[:-1]))
    found = [_kind(group, [one for one in groups if one is not group], at, images, columns) for group in groups]
    alike: dict[str, CodelessKind] = {}
    for kind in found:  # the same tests hold for messages that differ in members which say nothing of the op
        first = alike.setdefault(repr(kind.tests), kind)
        if first is not kind:
            first.messages += kind.messages
    return list(alike.values())


def find_codeless_rows(
    messages: Iterable[SampleMessage], at: Parts, before: Parts | None, after: Parts
) -> list[CodelessKind]:
    """Return the kinds of messages with rows that never have an op code: by the images that hold a row."""
    kinds = [("upsert", after, before), ("delete", before, after), ("update", before, None)]
    code, found = {"absent": join_pointer(*at)}, []
    for means, held, unset in kinds:
        if held is None:
            continue
        tests: list[dict[str, Any]] = [code, {"present": join_pointer(*held)}]
        tests += [{"unset": join_pointer(*unset)}] if unset is not None else []
        tests += [{"present": join_pointer(*after)}] if means == "update" else []
        others = f" and {join_pointer(*after)}" if means == "update" else ""
        why = f"the row is at {join_pointer(*held)}{others}"
        kind = CodelessKind(tests, means, why, [], is_certain=False)
        kind.messages = [message for message in messages if kind.holds(message)]
        found += [kind] if kind.messages else []
    return found


def _group(messages: Iterable[SampleMessage], holder: Parts) -> Iterator[_Group]:
    groups: dict[tuple[frozenset[Parts], tuple[Parts, str] | None], list[SampleMessage]] = {}
    for message in messages:
        members = frozenset(_members(message, holder))
        groups.setdefault((members, _state_of(message, members)), []).append(message)
    for (members, state), found in groups.items():
        held = frozenset(parts for parts in members if all(one.at(parts) is not None for one in found))
        yield _Group(members, held, state, found)


def _members(message: SampleMessage, holder: Parts) -> Iterator[Parts]:
    """Yield the members beside the place of the op code, or at the top of a message that has no such place."""
    beside = message.at(holder)
    place, members = (holder, beside) if isinstance(beside, dict) else ((), message.content)
    yield from ((*place, name) for name in members)


def _state_of(message: SampleMessage, members: frozenset[Parts]) -> tuple[Parts, str] | None:
    """Return the member that says the state of a transaction, and what it says."""
    for parts in sorted(members):
        value = message.at(parts)
        if isinstance(value, str) and value.upper() in _STATES and {*words_of(parts[-1])} & _STATE_NAMES:
            return parts, value
    return None


def _kind(
    group: _Group, others: list[_Group], at: Parts, images: Collection[Parts], columns: Collection[str]
) -> CodelessKind:
    absent: list[dict[str, Any]] = [{"absent": join_pointer(*at)}]
    if group.state is not None:
        parts, value = group.state
        tests = [*absent, {"equals": join_pointer(*parts), "value": value}]
        why = f"{join_pointer(*parts)} is {value}"
        return CodelessKind(tests, _STATES[value.upper()], why, group.messages)
    statement = next((parts for parts in sorted(group.held) if "ddl" in words_of(parts[-1])), None)
    if statement is not None:
        tests = [*absent, {"present": join_pointer(*statement)}]
        return CodelessKind(tests, "ddl", f"{join_pointer(*statement)} is present", group.messages)
    tests = [*absent, *_tests(group, others, images, columns)]
    if _beats(group):
        return CodelessKind(tests, "heartbeat", "they hold times and numbers only", group.messages, is_certain=False)
    return CodelessKind(tests, "mark", "they have no op code and no row", group.messages, is_certain=False)


def _beats(group: _Group) -> bool:
    """Return whether messages say nothing but that their producer is alive."""
    if any("heartbeat" in words_of(name) for parts in group.members for name in parts):
        return True
    return all(isinstance(one.at(parts), Number) for one in group.messages for parts in group.held)


def _tests(
    group: _Group, others: list[_Group], images: Collection[Parts], columns: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield tests that hold for a group and for no other: of a member of its own, else of those that it lacks."""
    own = [parts for parts in group.held if not any(parts in other.members for other in others)]
    if own:
        yield {"present": join_pointer(*min(own, key=lambda parts: (parts[-1] in columns, parts)))}
        return
    without = {*images}
    for other in others:
        only = other.members - group.members
        without |= {min(only)} if only and not only & without else set()
    yield from ({"absent": join_pointer(*parts)} for parts in sorted(without))
    yield from ({"present": join_pointer(*parts)} for parts in sorted(group.held)[:1])
