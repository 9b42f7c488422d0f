from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.validate.drift_rule import DriftRule
from cdc_contracts.registry.core.validate.partial_images import (
    has_partial_row,
    partial_keys_in_full,
    rename_changed_column,
)
from cdc_contracts.registry.core.validate.rule_inputs import Reads, columns_of_images, compared_images
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """The same of `old` and `data`; where versions exchange the two, `data` holds the whole row if either does."""
    yield from partial_keys_in_full(view)
    reading, types = view.reading, view.reading.types
    if not types or not _are_exchanged(reading.meaning):
        return
    for side in view.sides():
        below = reading.rows(side.completed_from) if side.completed_from else None
        pairs = zip(reading.rows(side.at) or (), below or (), strict=False)
        if any(types.keys() <= row.keys() and not types.keys() <= full.keys() for row, full in pairs):
            yield Breach(side.completed_from or "", "the whole row", "changed columns")


def reads(meaning: Meaning) -> Reads:
    """Declare that images are compared; those that versions exchange also where rows may lack columns."""
    return columns_of_images(meaning) if _are_exchanged(meaning) else compared_images(meaning)


def _are_exchanged(meaning: Meaning) -> bool:
    return any(entry.key_chain for entry in meaning.version_evidence)


RULE = DriftRule(
    name="old-keys-in-data", severity=WARNING,
    says="An image of changed columns has no column that the full image lacks. If versions of the subject swap the "
    "two images, it is an error when the image of changed columns holds the whole row and the full image does not.",
    action="Check for a column filter that affects only one of the images. Where the producer leaves out columns that "
    "are NULL, `--parameter row_columns=some` says so, if the contract has that parameter.",
    good='"old": [{"total": "1"}] with "data": [{"id": "7", "total": "2"}]',
    bad='"old": [{"sum": "1"}] with "data": [{"id": "7", "total": "2"}]',
    check=check, reads=reads, exercised_by=has_partial_row, breaks=rename_changed_column,
    listed_at=6,
)  # fmt: skip
