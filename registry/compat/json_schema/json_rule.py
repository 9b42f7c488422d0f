"""JSON rule: one way in which JSON Schemas differ, and the differences that fall under it.

A rule is worded from the side that reads: at BACKWARD that is the new version, at FORWARD the old one. Its record is in
the file that finds the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule


@dataclass(frozen=True, slots=True)
class JsonRule(CompatibilityRule):
    """A rule and the names of its differences, by what the policies of Confluent's registry make of them.

    `breaks` break by both, `breaks_strictly` by the strict one; what the lenient one lets pass there it pardons.
    `passed_over` are those that its registry has no name for. `pardoned` and `pardoned_leniently` are let pass on
    purpose by both, or by the lenient one, although a message may be refused. A reader that meets one of `harmless`
    refuses no message; what Confluent calls those is `confluent`.
    """

    breaks: tuple[str, ...] = ()
    breaks_strictly: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    pardoned: tuple[str, ...] = ()
    pardoned_leniently: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()

    @property
    def differences(self) -> tuple[str, ...]:
        """The names of all differences that fall under the rule."""
        own = (*self.passed_over, *self.pardoned, *self.pardoned_leniently)
        return tuple(dict.fromkeys((*self.breaks, *self.breaks_strictly, *own, *self.harmless)))
