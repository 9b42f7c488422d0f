"""Topics for tests that turn from one version of a dialect to another in mid-stream."""

from functools import cache

from record_batches import batch_of
from topics import CATALOGUE, WITH_TABLES, rendered

from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.scope import open_scope
from cdc_contracts.registry.tally import Tally
from cdc_contracts.registry.terms import Terms

AT = 120
"""The offset of each partition from which on the second version is written."""


@cache
def switching(subject, tables, partitions=4, count=240, at=AT):
    """A topic whose partitions all turn from the first version to the second at one offset."""
    terms = WITH_TABLES if tables else Terms()
    records = []
    for partition in range(partitions):
        old, new = (rendered(f"{subject}@{number}", count, seed=partition + 1, terms=terms) for number in (1, 2))
        records += [(partition, offset, (old if offset < at else new)[offset]) for offset in range(count)]
    return records


def audited(records, contract, terms, *, size=70):
    """The tally of records in the order given, cut into batches."""
    kernel, total = Kernel(open_scope(CATALOGUE, contract, terms)), Tally()
    for start in range(0, len(records), size):
        total.merge(kernel.audit(batch_of(records[start : start + size])))
    return total
