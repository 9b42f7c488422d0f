"""Drift rule: the whole of one rule across fields, as one record in one file.

Everything else is derived from the record: what the fast path groups records by, the list of rules and their pages,
what coverage counts, the messages of `sample --drift`, and what `compat` asks where only one version has the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import rule_id
from cdc_contracts.registry.core.common.rule_modules import DRIFT_NOTES, DRIFT_RULES, find_records, refuse_duplicates
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.rule_inputs import DeclareReads, Reads, join_reads, read_nothing
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView

CROSS_FIELD: Final = "cross-field"
LAST: Final = 99
"""Where a rule is listed that says nothing of it."""

Edits = Mapping[tuple[str | int, ...], Any]
"""What to put where in a message, by the member names on the way; ABSENT takes the member out."""


def every_message(reading: Reading) -> bool:
    """Return True: the rule applies to every message."""
    return True


def no_edits(reading: Reading) -> Iterator[Edits]:
    """Yield nothing: no single message breaks the rule."""
    yield from ()


def no_places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield nothing: no member shows the rule more than another."""
    yield from ()


@dataclass(frozen=True, kw_only=True)
class DriftRule:
    """One rule across fields; `name` is that of its file and of the vocabulary.

    `check` yields where a message breaks the rule, `reads` says what it depends on (a check may look at nothing else),
    `without_rows` whether messages that hold no row are checked too. `exercised_by` says whether a message gives the
    rule something to look at. `breaks` yields how a conforming message is changed to break it, the clearest way first.
    `places` are the members to alter for a message that shows, between versions of which only one has the rule, that
    they differ. `per_column` says that its findings are one for each column of a table, which are reported as one.
    `listed_at` is the place of the rule in lists; those of one place are in the order of their ids.
    """

    name: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    check: Callable[[RuleView], Iterator[Breach]]
    breaks: Callable[[Reading], Iterator[Edits]]
    reads: DeclareReads = read_nothing
    without_rows: bool = False
    exercised_by: Callable[[Reading], bool] = every_message
    places: Callable[[Sequence[Meaning]], Iterable[str]] = no_places
    per_column: bool = False
    listed_at: int = LAST
    drift_class: str = CROSS_FIELD

    @property
    def id(self) -> str:
        """The stable id: that of the class, then the name."""
        return rule_id(self.drift_class, self.name)


@cache
def drift_rules() -> Mapping[str, DriftRule]:
    """Return every rule across fields by its name, in the order of lists."""
    found = refuse_duplicates(
        rule for package in (DRIFT_RULES, DRIFT_NOTES) for rule in find_records(package, DriftRule)
    )
    return MappingProxyType({rule.name: rule for rule in sorted(found, key=lambda rule: (rule.listed_at, rule.id))})


def rules_of(meaning: Meaning) -> tuple[DriftRule, ...]:
    """Return the rules and notes of a contract, in the order of lists."""
    named = {*meaning.rules, *meaning.notes}
    return tuple(rule for rule in drift_rules().values() if rule.name in named)


def reads_of(meaning: Meaning) -> Reads:
    """Return what the rules and notes of a contract read between them."""
    return join_reads(drift_rules()[name].reads(meaning) for name in (*meaning.rules, *meaning.notes))
