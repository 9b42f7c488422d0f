"""Topics for tests that switch from one version of a dialect to another mid-stream."""

from functools import cache

from record_batches import batch_of
from topics import CATALOGUE, WITH_TABLES, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

AT = 120
"""The offset of each partition from which on the second version is written."""


@cache
def switching(subject, tables, partitions=4, count=240, at=AT):
    """A topic whose partitions all turn from the first version to the second at one offset."""
    reading_options = WITH_TABLES if tables else ReadingOptions()
    records = []
    for partition in range(partitions):
        old, new = (
            rendered(f"{subject}@{number}", count, seed=partition + 1, reading_options=reading_options)
            for number in (1, 2)
        )
        records += [(partition, offset, (old if offset < at else new)[offset]) for offset in range(count)]
    return records


def audited(records, contract, reading_options, *, size=70):
    """The tally of records in the order given, cut into batches."""
    kernel, total = Kernel(open_validation(CATALOGUE, contract, reading_options)), Tally()
    for start in range(0, len(records), size):
        total.merge(kernel.audit(batch_of(records[start : start + size])))
    return total
