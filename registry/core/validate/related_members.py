"""Related members: common parts of rules about the texts of several members."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.relations import Relation
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.rule_inputs import DeclareReads, Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView

RelationOf = Callable[[Meaning], Relation | None]
"""Which members a contract has related, if any."""


def check_relation(relation_of: RelationOf, expected: str) -> Callable[[RuleView], Iterator[Breach]]:
    """Return the check that the members are related (a warning: nothing is read from it)."""

    def check(view: RuleView) -> Iterator[Breach]:
        relation = relation_of(view.reading.meaning)
        if relation is not None and relation.holds(*map(view.reading.at, relation.places)) is False:
            yield Breach(relation.places[0], expected, "another text", WARNING)

    return check


def reads_relation(relation_of: RelationOf) -> DeclareReads:
    """Return the declaration of a rule that reads how the members are related."""

    def declare(meaning: Meaning) -> Reads:
        found = relation_of(meaning)
        return Reads(relations=(found,) if found is not None else ())

    return declare


def has_relation(relation_of: RelationOf) -> Callable[[Reading], bool]:
    """Return whether a message holds the members, so that they can be compared."""

    def has(reading: Reading) -> bool:
        relation = relation_of(reading.meaning)
        return relation is not None and relation.holds(*map(reading.at, relation.places)) is not None

    return has
