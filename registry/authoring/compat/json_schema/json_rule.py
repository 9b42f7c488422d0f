"""JSON rule: one way in which JSON Schemas differ, and the differences that fall under it.

A rule is worded from the side that reads: at BACKWARD that is the new version, at FORWARD the old one. Its record is in
the file that finds the differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from cdc_contracts.registry.authoring.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.authoring.compat.levels import Policy
from cdc_contracts.registry.core.common.rule_modules import JSON_RULES, find_records


@dataclass(frozen=True, slots=True)
class JsonRule(CompatibilityRule):
    """A rule and the names of its differences, by what the policies of Confluent's registry make of them.

    `breaks` break by both, `breaks_strictly` by the strict one; the lenient one tolerates those.
    `passed_over` are those that the registry has no name for. `tolerated` and `tolerated_leniently` are accepted on
    purpose by both, or by the lenient one, although a message may be refused. A reader that meets one of `harmless`
    refuses no message; what Confluent calls those is `confluent`.
    """

    breaks: tuple[str, ...] = ()
    breaks_strictly: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()
    tolerated_leniently: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        """The names of all differences that fall under the rule."""
        own = (*self.passed_over, *self.tolerated, *self.tolerated_leniently)
        return tuple(dict.fromkeys((*self.breaks, *self.breaks_strictly, *own, *self.harmless)))


@cache
def json_rules() -> tuple[JsonRule, ...]:
    """Return every rule in the order of the ids."""
    return tuple(sorted(find_records(JSON_RULES, JsonRule), key=lambda rule: rule.id))


@cache
def rules_by_difference() -> Mapping[str, JsonRule]:
    """Return the rule of each difference."""
    return MappingProxyType({name: rule for rule in json_rules() for name in rule.differences})


@cache
def harmful_differences() -> frozenset[str]:
    """Return the differences for which a reader may refuse a message."""
    harmless = {name for rule in json_rules() for name in rule.harmless}
    return frozenset(rules_by_difference().keys() - harmless)


@cache
def counted_differences(policy: Policy) -> frozenset[str]:
    """Return the differences that break by a policy."""
    if policy is Policy.CDC:
        return harmful_differences()
    lenient = {name for rule in json_rules() for name in rule.breaks}
    strict = {name for rule in json_rules() for name in rule.breaks_strictly}
    return frozenset(lenient if policy is Policy.CONFLUENT_LENIENT else lenient | strict)


@cache
def tolerated_differences(policy: Policy) -> frozenset[str]:
    """Return the differences that a policy accepts on purpose, although a message may be refused."""
    if policy is Policy.CDC:
        return frozenset()
    both = {name for rule in json_rules() for name in rule.tolerated}
    lenient = {name for rule in json_rules() for name in (*rule.breaks_strictly, *rule.tolerated_leniently)}
    return frozenset(both | lenient if policy is Policy.CONFLUENT_LENIENT else both)


def confluent_name_of(name: str) -> str | None:
    """Return what Confluent's registry calls a difference; None if it has no name for it."""
    rule = rules_by_difference().get(name)
    if rule is None:
        return None
    if name in rule.harmless:
        return rule.confluent
    return name if name in (*rule.breaks, *rule.breaks_strictly, *rule.tolerated) else None
