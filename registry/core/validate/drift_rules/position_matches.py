from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Members with a pattern of their own match it."""
    for pointer, pattern in view.reading.meaning.patterns.items():
        value = view.reading.at(pointer)
        if isinstance(value, str) and not compile_pattern(pattern)(value):
            yield Breach(pointer, pattern, "another text")


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a position of another product."""
    for pointer in reading.meaning.patterns:
        yield {split_pointer(pointer): "another position"}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the members that have a pattern."""
    for meaning in meanings:
        yield from meaning.patterns


RULE = DriftRule(
    name="position-matches", severity=ERROR,
    says="The log position has the documented format.",
    action="Another product or source may have written the message: compare it with `show`.",
    good='"pos": "553132@1668496109"', bad='"pos": "mysql-bin.000042"',
    check=check, reads=lambda meaning: Reads(patterns=tuple(meaning.patterns.items())),
    exercised_by=lambda reading: any(isinstance(reading.at(pointer), str) for pointer in reading.meaning.patterns),
    breaks=breaks, places=places, listed_at=16,
)  # fmt: skip
