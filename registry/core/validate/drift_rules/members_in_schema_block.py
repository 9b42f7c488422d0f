from collections.abc import Iterator, Sequence
from typing import Any

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.schema_block_types import block_of, fields_of, holder_of, is_described
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """The members beside a schema block are the fields that it describes; of a row, those that are no columns."""
    reading, types = view.reading, block_of(view.reading.meaning)
    if types is None:
        return
    block, holder = reading.at(types.at or ""), holder_of(reading.meaning)
    members = reading.at(holder)
    if not isinstance(block, dict) or not isinstance(members, dict):
        return  # other findings say so
    described = fields_of(block)
    for name in members:
        if name not in described and is_described(reading.meaning, name):
            yield Breach(holder + join_pointer(name), f"a field in {types.at}", "not described")
    for name in described:
        if name not in members and is_described(reading.meaning, name):
            yield Breach(holder + join_pointer(name), "present", "absent")


def reads(meaning: Meaning) -> Reads:
    """Declare that the object beside the block is read by which members it has."""
    return Reads(objects=(holder_of(meaning),))


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a member that its block does not have, then without one that it has."""
    holder, others = split_pointer(holder_of(reading.meaning)), reading.meaning.images.members_beside_columns
    members: Any = reading.at(join_pointer(*holder))
    if isinstance(members, dict):
        unsent = (name for name in sorted(others) if name not in members and is_described(reading.meaning, name))
        unlisted = next(unsent, "undescribed")
        yield {(*holder, unlisted): None}
        own = [name for name, value in members.items() if value is None and is_described(reading.meaning, name)]
        yield {(*holder, name): ABSENT for name in own[:1]}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield where blocks are."""
    for meaning in meanings:
        types = block_of(meaning)
        if types is not None and types.at is not None:
            yield types.at


RULE = DriftRule(
    name="members-in-schema-block", severity=ERROR,
    says="The members beside a schema block are the fields that it describes, no more and no fewer.",
    action="The block is of another release or product, or was cut: check who writes to the topic.",
    good='"schema": {"fields": [{"field": "op", "type": "string"}]} with "payload": {"op": "c"}',
    bad='"payload": {"op": "c", "ts_us": 1} with the same block',
    check=check, reads=reads, without_rows=True, breaks=breaks, places=places, listed_at=3,
)  # fmt: skip
