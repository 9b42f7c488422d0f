from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.relations import relation_of_index
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.related_members import check_relation, has_relation, reads_relation


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with an index that no transaction of its size has."""
    relation = relation_of_index(reading.meaning)
    if relation is not None:
        yield {split_pointer(relation.places[0]): "7/0"}


RULE = DriftRule(
    name="idx-is-seq-of-size", severity=WARNING,
    says="The index within a transaction is the message's sequence number, a slash and the transaction size.",
    action="Check whether messages were changed in transit; nothing is read from the index.",
    good='"idx": "3/11" with "seq": 3 and "size": 11', bad='"idx": "2/11" with "seq": 3 and "size": 11',
    check=check_relation(relation_of_index, "place/size"), reads=reads_relation(relation_of_index),
    exercised_by=has_relation(relation_of_index), breaks=breaks, listed_at=14,
)  # fmt: skip
