"""Relatives: products outside the catalogue whose messages resemble those of one in it (`relatives.yaml`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.discriminators import holds
from cdc_contracts.registry.core.contract.document_model import At, Document
from cdc_contracts.registry.core.values import Number

FILE: Final = "relatives.yaml"
_NAME: Final = re.compile(r"[A-Za-z]+")


class RelativeTest(Document):
    """One test on a message: a discriminator test, or a test of the spelling of types in a map of columns.

    `parameters` holds if some type has parameters (`varchar(32)`), `capitals` if some type is in capitals, `not-bare`
    if none of `types` occurs without parameters, `at-most` if an integer is at most `value`.
    """

    parameters: At | None = None
    capitals: At | None = None
    not_bare: At | None = Field(default=None, alias="not-bare")
    types: tuple[str, ...] = ()
    at_most: At | None = Field(default=None, alias="at-most")
    value: int | None = None
    plain: Test | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_plain_tests(cls, given: Any) -> Any:
        own = {"parameters", "capitals", "not-bare", "at-most"}
        return given if not isinstance(given, dict) or own & given.keys() else {"plain": given}

    def holds(self, message: dict[str, Any]) -> bool:
        """Return whether the test holds for a parsed message."""
        if self.plain is not None:
            return holds(self.plain, message)
        if self.parameters is not None:
            return any("(" in result for result in _types(message, self.parameters))
        if self.capitals is not None:
            return any(result != result.lower() for result in _types(message, self.capitals))
        if self.not_bare is not None:
            return not any(
                _name_of(result) in self.types and "(" not in result for result in _types(message, self.not_bare)
            )
        number = follow(message, split_pointer(self.at_most or ""))
        return isinstance(number, Number) and number.token.isdigit() and int(number.token) <= (self.value or 0)


class Relative(Document):
    """A product outside the catalogue: tests that all its messages pass, and tests that only they pass.

    `repeats` is a member with the same value in a whole batch of messages, which other products number one by one.
    `until_contract` is the subject that describes the product: where a catalogue has it, the product is not outside,
    and what its messages show is evidence for that subject. `advice` says how its messages can be read nevertheless.
    """

    name: str
    until_contract: str | None = None
    near: tuple[str, ...]
    could_be: tuple[RelativeTest, ...]
    marks: tuple[RelativeTest, ...] = ()
    repeats: At | None = None
    reads: Literal["same", "other"]
    advice: str | None = None

    def __hash__(self) -> int:
        return hash(self.name)

    def is_outside(self, catalogue: Catalogue) -> bool:
        """Return whether a catalogue has no contract for the product."""
        return self.until_contract is None or self.until_contract not in catalogue.subjects()

    def described_by(self, versions: Iterable[Version]) -> tuple[Version, ...]:
        """Return those of the versions that accept a message of the product which describe it.

        These are all that are not merely near it, such as a contract that a user wrote for the product.
        """
        return tuple(version for version in versions if version.subject not in self.near)

    def may_be(self, message: dict[str, Any]) -> bool:
        """Return whether a message could be of this product."""
        return all(test.holds(message) for test in self.could_be)

    def marked(self, message: dict[str, Any]) -> bool:
        """Return whether a message that could be of this product differs from all contracts near it."""
        return any(test.holds(message) for test in self.marks)


class RelativesFile(Document):
    """The list in a file, under a name that the file does not have."""

    relatives: tuple[Relative, ...]


def read_relatives(catalogue: Catalogue) -> list[Relative]:
    """Return the relatives in all folders of a catalogue. Raises ContractError if a file is invalid."""
    found: list[Relative] = []
    for root in catalogue.roots:
        file = root.joinpath(FILE)
        if file.is_file():
            found += RelativesFile.checked(yaml_documents.read_list(file, "relatives"), str(file)).relatives
    return found


def _types(message: dict[str, Any], pointer: str) -> Iterator[str]:
    """Yield the types in a map of columns."""
    found = follow(message, split_pointer(pointer))
    result: Iterable[Any] = found.values() if isinstance(found, dict) else ()
    yield from (one for one in result if isinstance(one, str))


def _name_of(source_type: str) -> str:
    found = _NAME.match(source_type)
    return found.group().lower() if found else ""
