from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def absent_members(meaning: Meaning) -> tuple[str, ...]:
    """Return the members whose absence distinguishes a version, as its discriminators say."""
    return tuple(test.absent for test in meaning.discriminators if test.absent is not None)


def check(view: RuleView) -> Iterator[Breach]:
    """No member is there that only other versions or products have."""
    for at in absent_members(view.reading.meaning):
        if view.reading.at(at) is not ABSENT:
            yield Breach(at, "absent", "present")


def reads(meaning: Meaning) -> Reads:
    """Declare that members are read by whether they are there."""
    return Reads(filled=absent_members(meaning))


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a member that the version does not have."""
    for at in absent_members(reading.meaning):
        yield {split_pointer(at): "1"}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the members that some version lacks."""
    for meaning in meanings:
        yield from absent_members(meaning)


RULE = DriftRule(
    name="members-of-version", severity=ERROR,
    says="A member that only other versions or products have, as the discriminators say, is absent.",
    action="The product was upgraded, or another one writes to the topic: check the messages with `detect`.",
    good='no "gtid" in a version with {absent: /gtid}', bad='"gtid": "" in it',
    check=check, reads=reads, without_rows=True, breaks=breaks, places=places, listed_at=18,
)  # fmt: skip
