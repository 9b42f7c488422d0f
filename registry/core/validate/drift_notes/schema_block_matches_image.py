from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.connect_schemas import described_columns, differs_from_block
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """The schema block names the columns of the images with the kinds of their values (a note, E48)."""
    schema_block = view.reading.meaning.columns.schema_block
    block = view.reading.at(schema_block.at) if schema_block else ABSENT
    if schema_block is None or not isinstance(block, dict) or not block:  # an empty block says nothing
        return
    described = described_columns(block)
    for side in view.sides():
        known = described.get(split_pointer(side.at)[-1], {})
        for row in view.reading.rows(side.at) or ():
            if any(differs_from_block(known, name, kind_of(value)) for name, value in row.items()):
                yield Breach(schema_block.at, "the columns of the image", "other columns or types", INFO)


def reads(meaning: Meaning) -> Reads:
    """Declare that the agreement of the block with the columns is read."""
    return Reads(blocks=(meaning.columns.schema_block.at,) if meaning.columns.schema_block else ())


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a block that describes images without a column."""
    schema_block = reading.meaning.columns.schema_block
    if schema_block is not None:
        images = [split_pointer(pointer)[-1] for pointer in reading.meaning.images.pointers()]
        described = [{"type": "struct", "field": image, "fields": []} for image in images]
        yield {split_pointer(schema_block.at): {"type": "struct", "fields": described}}


RULE = DriftRule(
    name="schema-block-matches-image", severity=INFO,
    says="The schema block of a message names the columns of its images and the types of their values.",
    action="Nothing: the block is never used to read the row.",
    good='field "qty" of type int32 with "qty": 10', bad='field "qty" of type string with "qty": 10',
    check=check, reads=reads, breaks=breaks, listed_at=22,
)  # fmt: skip
