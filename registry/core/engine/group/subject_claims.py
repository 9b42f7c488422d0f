"""Subject claims: the other subjects that would accept messages without our discriminators, for many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.json_messages import Unreadable, kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.discriminators import Alike, asked_texts, may_hold, needed_texts, pointers_of
from cdc_contracts.registry.core.engine.group.batch_results import RecordGroup
from cdc_contracts.registry.core.engine.group.common_members import CommonMembers
from cdc_contracts.registry.core.engine.parse.schema_members import declared_kinds
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

_FEW: Final = 8
"""So few records are asked for one by one whether another subject claims them: most say no by their first member."""
_NONE: Final = np.zeros(0, np.int64)


class SubjectValidator(Protocol):
    """The validator of another subject."""

    validation: ValidationContext

    def claimed_values(self, values: MessageValues) -> NDArray[np.bool_]:
        """Say for each value whether the subject's discriminators hold and one of its versions finds no error."""
        ...


class Claims:
    """The claims of all other subjects on messages that a validation context does not recognise."""

    def __init__(
        self, validation: ValidationContext, validator_of: Callable[[ValidationContext], SubjectValidator]
    ) -> None:
        self._scope = validation
        self._validator_of = validator_of
        self._known: dict[str, SubjectValidator] = {}
        self._kinds: dict[Version, dict[str, frozenset[str]]] = {}

    @property
    def _versions(self) -> Iterator[Version]:
        """The versions of subjects with our transport."""
        return (version for validation in self._scope.kin for version in validation.validated)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The places that the discriminators of subjects with our transport look at."""
        return frozenset().union(*map(_places_of, self._versions))

    @cached_property
    def asked_texts(self) -> Mapping[str, frozenset[str]]:
        """The texts that they ask for, by place."""
        found: dict[str, frozenset[str]] = {}
        for version in self._versions:
            for at, texts in _texts_of(version).items():
                found[at] = found.get(at, frozenset()) | texts
        return found

    def candidates(self, message: dict[str, Any], common: CommonMembers) -> tuple[str, ...]:
        """Return the other subjects that may claim a message, or one that has the same in common."""
        return tuple(
            validation.subject
            for validation in self._scope.kin
            if any(
                version.meaning.claim is None
                and all(may_hold(test, message, common.alike) for test in version.meaning.discriminators)
                and not self._refuses_kinds(version, message, common)
                for version in validation.validated
            )
        )

    def _refuses_kinds(self, version: Version, message: dict[str, Any], common: CommonMembers) -> bool:
        """Return whether a version refuses the kind of a member that a message has in common with those like it."""
        if version not in self._kinds:
            self._kinds[version] = declared_kinds(version.written_schema)
        places = {
            at
            for at, kinds in self._kinds[version].items()
            if (found := follow(message, split_pointer(at))) is not ABSENT
            and kind_of(found) not in kinds
            and common.at(at) is not Alike.NOTHING
        }
        return bool(places) and any(
            finding.severity == ERROR and finding.name == "type-change" and finding.path in places
            for finding in self._scope.validator_of(version).validate(message).findings
        )

    def claimants(self, groups: Iterable[RecordGroup], values: MessageValues) -> Mapping[int, str]:
        """Return, for each value that other subjects claim, these subjects in catalogue order."""
        asked: dict[str, list[NDArray[np.int64]]] = {}
        for group in groups:
            for subject in group.cached_verdict.candidates:
                asked.setdefault(subject, []).append(group.numbers)
        return self._claimed({subject: np.concatenate(numbers) for subject, numbers in asked.items()}, values)

    def foreign(self, numbers: Sequence[int], values: MessageValues) -> Mapping[int, str]:
        """Return, for each value that we cannot read, the subjects of another transport that claim it."""
        closed = [number for number in numbers if not _opens(self._scope, values[number])] if self._unlike else []
        return self._claimed(dict.fromkeys(self._unlike, np.array(closed, np.int64)) if closed else {}, values)

    @cached_property
    def _unlike(self) -> tuple[str, ...]:
        """The subjects of another transport."""
        return tuple(other.subject for other in self._scope.others if other.transport != self._scope.transport)

    def _claimed(self, asked: Mapping[str, NDArray[np.int64]], values: MessageValues) -> dict[int, str]:
        """Return the subjects that claim values, of those asked for each."""
        found: dict[int, list[str]] = {}
        for validation in self._scope.others if asked else ():
            numbers = asked.get(validation.subject, _NONE)
            if len(numbers) <= _FEW:
                taken = [number for number in numbers.tolist() if validation.claims_value(values[number])]
            else:
                taken = numbers[self._validator_for(validation).claimed_values(values.take(numbers))].tolist()
            for number in taken:
                found.setdefault(number, []).append(validation.subject)
        return {number: ", ".join(subjects) for number, subjects in found.items()}

    def _validator_for(self, validation: ValidationContext) -> SubjectValidator:
        """Return the validator of another subject, made on first use."""
        if validation.subject not in self._known:
            self._known[validation.subject] = self._validator_of(validation)
        return self._known[validation.subject]


@lru_cache(maxsize=256)
def _places_of(version: Version) -> frozenset[str]:
    return frozenset(pointers_of(version.meaning.discriminators))


@lru_cache(maxsize=256)
def _texts_of(version: Version) -> Mapping[str, frozenset[str]]:
    return asked_texts(version.meaning.discriminators)


def may_be_of(validation: ValidationContext, values: MessageValues) -> NDArray[np.bool_]:
    """Return a mask, cheaply, of the values with all names and texts that some version of a subject requires.

    They may be written with escapes; such a value counts as well and has to be parsed.
    """
    if validation.transport != "json":
        return np.ones(len(values), np.bool_)
    may_be = np.zeros(len(values), np.bool_)
    for texts in {frozenset(needed_texts(validator.meaning.discriminators)) for validator in validation.validators}:
        held = np.ones(len(values), np.bool_)
        for text in texts:
            held &= values.hold(f'"{text}"'.encode())
        may_be |= held
    return may_be | values.hold(b"\\u")


def _opens(validation: ValidationContext, value: bytes | None) -> bool:
    if validation.transport == "json" and (value or b"").startswith(b"{"):
        return True  # mostly true; if not, the reference validator notices, so nothing is parsed twice
    try:
        validation.wire.open(value or b"")
    except Unreadable:
        return False
    return True
