"""Rolling totals of a stream: the merged results of all batches since its beginning, kept across restarts."""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from cdc_contracts import __version__
from cdc_contracts.registry.core.detect.detection import Detection
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report, check_ledger
from cdc_contracts.registry.core.report.report_model import RepeatedRows, Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.kafka.offsets import bounds_of, by_topic
from cdc_contracts.spark_checks.runs.repeats import NO_REPEATS, add_repeats

_OWN: Final = "cdc_contracts.registry."


@dataclass
class Rolling:
    """The ranges read of each partition, and the results, in bounded size. `batches` are counted since `first`.

    `repeats` is the summary of repeated rows for reports, None if no rows are written.
    """

    spans: dict[Source, Span] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    batches: int = 0
    first: int | None = None
    repeats: RepeatedRows | None = None

    def add(self, number: int, tally: Tally, spans: Mapping[Source, Span], repeats: RepeatedRows | None = None) -> None:
        """Add a batch. Raises LedgerError if its counts do not add up."""
        check_ledger(tally, spans)
        self.first = number if self.first is None else self.first
        self.batches += 1
        self.tally.merge(deepcopy(tally))  # merging keeps parts of what it is given, and adds to them later
        for source, span in spans.items():
            known = self.spans.get(source, span)
            self.spans[source] = Span(known.start, span.end)
        if repeats is not None:
            self.repeats = add_repeats(self.repeats or NO_REPEATS, repeats)

    def report(
        self, source: TopicInput, validation: ValidationContext, detection: Detection | None, fail_on: str
    ) -> Report:
        """Return the report over all batches, as that of one run over the same range."""
        selected = by_topic(bounds_of(dict(sorted(self.spans.items()))))
        whole = TopicInput(source.bootstrap, selected, source.properties)
        report = build_report(
            self.tally,
            AppliedContract(validation.catalogue, validation.declared, detection, validation),
            ReadRange(whole.describe(self.tally, self.spans), self.spans),
            fail_on=fail_on,
            show_values=validation.reading_options.show_values,
            profiled=validation.reading_options.profiled,
        )
        return report if self.repeats is None else replace(report, repeats=self.repeats)


def write_rolling(rolling: Rolling) -> bytes:
    """Return the totals as bytes that this release can read."""
    repeats = msgspec.to_builtins(rolling.repeats)
    return pickle.dumps((__version__, rolling.spans, rolling.tally, rolling.batches, rolling.first, repeats))


def read_rolling(data: bytes) -> Rolling | None:
    """Return the totals; None if another release has written them, or the bytes hold anything else."""
    try:
        version, spans, tally, batches, first, written = _Reader(io.BytesIO(data)).load()
        repeats = msgspec.convert(written, RepeatedRows | None)
    except (pickle.UnpicklingError, ValueError, TypeError, EOFError, AttributeError, ImportError):
        return None
    return Rolling(spans, tally, batches, first, repeats) if version == __version__ else None


class _Reader(pickle.Unpickler):
    """Unpickles only the types that tallies consist of, so that a checkpoint cannot run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "Counter"):
            return Counter
        if module.startswith(_OWN) and "." not in name:
            found = super().find_class(module, name)
            plain = isinstance(found, type) and found.__module__ == module
            if plain and (is_dataclass(found) or issubclass(found, (tuple, msgspec.Struct))):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a known ledger type")
