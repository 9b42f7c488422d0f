from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading, may_hold_rows
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_view import IMAGE_PRESENT, Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Sides named for the op hold rows; the other images are null or absent.

    A member of another JSON kind is not checked here: its kind is the finding. That there are as many rows in each
    image is checked without this rule too, under its id: rows are paired by index.
    """
    reading, named = view.reading, set[str]()
    for side in view.sides():
        named |= {at for at in (side.at, side.completed_from, side.either) if at is not None}
        source = reading.source(side)
        if source is not None:
            if side.either is not None and source == side.at and reading.rows(side.either) is not None:
                yield Breach(side.either, "no row", "a row")
        elif not side.optional and may_hold_rows(reading, side.at):
            yield Breach(side.at, "a row", "no row")
    ddl = reading.meaning.ddl if reading.op == "ddl" else None
    for pointer in reading.meaning.images.pointers():
        if pointer in named or (ddl is not None and ddl.stands_at(pointer)):
            continue
        if reading.rows(pointer) is not None:
            yield Breach(pointer, "no row", "a row")


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with an image taken away, and with one where none belongs."""
    places = [(split_pointer(pointer), reading.at(pointer)) for pointer in reading.meaning.images.pointers()]
    for place, _ in places:
        yield {place: None}
    held = next((value for _, value in places if value is not None and value is not ABSENT), None)
    for place, value in places:
        if value is None or value is ABSENT:
            yield {place: held}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the images of all contracts."""
    for meaning in meanings:
        yield from meaning.images.pointers()


RULE = DriftRule(
    name=IMAGE_PRESENT, severity=ERROR,
    says="The images that an op requires hold the same number of rows; all others are null or absent.",
    action="Check for a filter between product and topic, or another version of the product: the row may be in "
    "another image. Null behind a schema may be a deletion: --parameter null_values=deletion reads it, if the contract "
    "has such deletions.",
    good='an UPDATE with a row in "data" and in "old"', bad='an UPDATE with "old": null',
    check=check, without_rows=True, exercised_by=lambda reading: reading.holds_rows, breaks=breaks, places=places,
    listed_at=1,
)  # fmt: skip
