"""Contract section: the comparison of one key of contracts: its facts, the rules for differences, and the question.

The record of a section is in the file that finds its differences, with the rules that these fall under.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.phrases import describe_place, text_of

if TYPE_CHECKING:
    from cdc_contracts.registry.core.common.findings import Finding
    from cdc_contracts.registry.core.contract.catalogue import Version

Key = tuple[str, ...]
Versions = tuple["Version", "Version"]

NEW_VERSION: Final = (
    "Leave the published version unchanged and create a new one, with the release or date it applies from."
)
ANY: Final = frozenset({"*"})
COLUMN: Final = "value"
"""The column that the message of a value form is about."""
ROWS: Final = ("update", "upsert", "insert", "delete", "snapshot", "update-after", "update-before")
IMAGE_FIELDS: Final = frozenset({"holds", "rows", "op", "before", "after", "changed", "before_complete", "update_part",
                                  "after_complete", "pair_id"})  # fmt: skip
COLUMN_FIELDS: Final = frozenset({"before", "after", "invalid"})


@dataclass(frozen=True, slots=True)
class ContractFact:
    """One thing that a contract says: its value as plain data, and in words."""

    value: Any
    words: str


@dataclass(frozen=True, slots=True)
class FactDifference:
    """One fact in which two contracts differ: the rule it falls under, and both sides; None if absent."""

    rule: CompatibilityRule
    key: Key
    old: ContractFact | None
    new: ContractFact | None

    @property
    def path(self) -> str:
        """The keys of the contract that lead there, as a JSON Pointer."""
        return join_pointer(*self.key)


@dataclass(frozen=True, slots=True)
class Question:
    """Which messages may show a difference, and which parts of the results are about it.

    `codes` are values to put at a place; `rules` and `members` say which refusals count, `fields` which members of what
    is decoded. Only the column is altered where there is a `column`: its source type. `named` is what it is called.
    """

    ops: tuple[str, ...]
    targets: tuple[str, ...] = ()
    codes: tuple[tuple[str, Any], ...] = ()
    rules: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    fields: frozenset[str] = frozenset()
    column: str | None = None
    named: str = COLUMN

    def counts(self, finding: Finding) -> bool:
        """Return whether a finding that refuses a message is about the difference."""
        if self.column is not None:
            return finding.path.endswith(join_pointer(self.named))
        if finding.rule in self.rules or "*" in self.rules:
            return True
        return any(finding.path == one or finding.path.startswith(one + "/") for one in self.members)

    def concerns(self, changed: Mapping[str, Any]) -> bool:
        """Return whether something that is decoded differently is about the difference."""
        return bool(changed) and ("*" in self.fields or not self.fields.isdisjoint(changed))


def ask_anything(difference: FactDifference, versions: Versions) -> Question:
    """Ask for any message, and for anything that is read otherwise."""
    return Question((*ROWS, "ddl", "heartbeat"), rules=ANY, fields=ANY)


def always(rule: CompatibilityRule) -> Callable[[Key, ContractFact | None, ContractFact | None], CompatibilityRule]:
    """Return that every difference of a section falls under one rule."""
    return lambda key, old, new: rule


ListFacts = Callable[[Any], Iterator[tuple[Key, ContractFact]]]
"""Yields the facts of a section."""


@dataclass(frozen=True, kw_only=True)
class ContractSection:
    """How one key of contracts is compared.

    `list_facts` yields the facts of its value, each with its keys below the section; `rule_of` returns the
    rule that a difference falls under, given its whole key and both sides; `ask` what a message has to show for it.
    `listed_at` is its place among the differences.
    """

    name: str
    list_facts: ListFacts
    rule_of: Callable[[Key, ContractFact | None, ContractFact | None], CompatibilityRule]
    ask: Callable[[FactDifference, Versions], Question] = ask_anything
    listed_at: int = 99


def describe_whole(value: Any) -> Iterator[tuple[Key, ContractFact]]:
    """Yield a section as one fact."""
    yield (), ContractFact(value, text_of(value))


def each_member(describe: Callable[[Any], str]) -> ListFacts:
    """Return what yields each member of a section as a fact, its value in words."""
    return lambda section: (((name,), ContractFact(value, describe(value))) for name, value in section.items())


def each_entry(describe: Callable[[Any], str]) -> ListFacts:
    """Return what yields each entry of a list as a fact, by its words."""
    return lambda section: (((describe(entry),), ContractFact(entry, describe(entry))) for entry in section)


describe_members: Final = each_member(text_of)
describe_names: Final = each_entry(str)


def describe_place_words(place: Mapping[str, Any]) -> str:
    """Return a place of the envelope in words."""
    said = [place.get("at", ""), describe_place(place)]
    said += [f"{name} {place[name]}" for name in ("member", "index", "size") if name in place]
    return ", ".join(part for part in said if part)


def values_of(difference: FactDifference) -> list[Any]:
    """Return what both sides of a difference say, where they say something."""
    return [fact.value for fact in (difference.old, difference.new) if fact is not None]


def parts_of(places: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the pointers in some places, each once."""
    return tuple(dict.fromkeys(place[part] for place in places for part in ("at", "index", "size") if part in place))
