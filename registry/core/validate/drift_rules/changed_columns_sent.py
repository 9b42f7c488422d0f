from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import ERROR, WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.partial_images import has_partial_row
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Every row of changed columns has one: without any, the row before would be taken for the row after.

    An image that is missing altogether says nothing wrong of the row before (a warning).
    """
    for side in view.sides():
        rows = view.reading.rows(side.at)
        if side.completed_from is None:
            continue
        if rows is None and side.optional:
            yield Breach(side.at, "the columns that changed", "no row", WARNING)
        elif any(not row for row in rows or ()):
            yield Breach(side.at, "the columns that changed", "a row without columns")


def reads(meaning: Meaning) -> Reads:
    """Declare that images of changed columns are read by whether a row of them has none."""
    sides = (side for op in ROW_OPS if (sides := meaning.images.of(op)) for side in (sides.before, sides.after) if side)
    return Reads(empty_rows=tuple(dict.fromkeys(side.at for side in sides if side.completed_from is not None)))


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message without the columns that changed."""
    for side in reading.sides:
        rows = reading.rows(side.at) if side.completed_from else None
        if rows:
            yield {split_pointer(side.at): [{} for _ in rows]}
            if side.optional:
                yield {split_pointer(side.at): None}


RULE = DriftRule(
    name="changed-columns-sent", severity=ERROR,
    says="An UPDATE has the former value of a column that it changed in every row; one without the image of changed "
    "columns is a warning.",
    action="Check whether the log of the database holds whole rows: partial ones lack changed columns, and keys.",
    good='"old": [{"total": "1"}] with "data": [{"id": "7", "total": "2"}]',
    bad='"old": [{}] with "data": [{"total": "2"}]',
    check=check, reads=reads, exercised_by=has_partial_row, breaks=breaks, listed_at=7,
)  # fmt: skip
