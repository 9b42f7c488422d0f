from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.relations import relation_of_row
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.related_members import check_relation, has_relation, reads_relation


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with the id of a row of another table."""
    relation = relation_of_row(reading.meaning)
    if relation is not None:
        yield {split_pointer(relation.places[0]): "renamed-1"}


RULE = DriftRule(
    name="rowid-starts-with-table", severity=WARNING,
    says="The row id starts with the table name and a hyphen.",
    action="Check whether tables were renamed in transit; the row is still read.",
    good='"rowid": "shop.orders-17" with "table": "shop.orders"',
    bad='"rowid": "shop.visits-17" with "table": "shop.orders"',
    check=check_relation(relation_of_row, "the table, then -"), reads=reads_relation(relation_of_row),
    exercised_by=has_relation(relation_of_row), breaks=breaks, listed_at=15,
)  # fmt: skip
