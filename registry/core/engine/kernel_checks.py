"""Kernel checks: Arrow batches validated by the kernel, with the findings of every single record."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.engine.group.observed_shapes import findings_by_record
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidationContext


class KernelChecks:
    """Validates record batches and tallies them."""

    def __init__(self, validation: ValidationContext) -> None:
        self.validation = validation
        self._kernel = Kernel(validation)
        self._tally = Tally()

    def check(self, records: pa.RecordBatch) -> list[tuple[Source, int, Sequence[Finding]]]:
        """Return the records that have findings, with partition and offset, in order of their offsets."""
        found: list[tuple[Source, int, Sequence[Finding]]] = []
        for parts, tally in self._kernel.check(records):
            self._tally.merge(tally)
            found += [
                (batch.source(number), int(batch.offsets[number]), findings)
                for batch, result in parts
                for number, findings in findings_by_record(result, values=self.validation.reading_options.show_values)
            ]
        return sorted(found, key=lambda one: one[:2])

    def finish(self) -> Tally:
        """Return the tally of all records; nothing is checked afterwards."""
        return self._tally
