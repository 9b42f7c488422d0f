"""Topic samples: messages from the beginning, the middle and the end of every partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.detect.classifier import detect, place_versions
from cdc_contracts.registry.core.detect.detection import Detection
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.message.unwrapping import unwrap
from cdc_contracts.registry.core.records.file_plans import FilePlan, LineSlice, ParquetRowGroup, Slice
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow, read_slice_without_arrow
from cdc_contracts.registry.core.records.sample_windows import Window, share_windows
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext

if TYPE_CHECKING:
    import pyarrow as pa

ENOUGH: Final = 2_000
"""The default number of messages to read, which takes a second or two."""
_FREE_VALUES: Final = 100_000
_VALUES_EACH: Final = 250
"""Values of columns for each message of a sample: 20 columns with both images, read by several versions, are fewer."""


def sample_files(
    plan: FilePlan, most: int, within: Mapping[Source, Window] | None = None
) -> Iterator[pa.RecordBatch | RecordsWithoutArrow]:
    """Yield a sample of the messages in files, or of windows of them, rows of Parquet as batches.

    Raises UnavailableError if a file cannot be read.
    """
    following = dict(pairwise(plan.slices))
    for windows in share_windows(plan.limits if within is None else within, most):
        for one in plan.slices:
            if _touches(one, following.get(one), windows):
                if isinstance(one, ParquetRowGroup):
                    from cdc_contracts.registry.core.records.parquet_messages import read_row_group

                    yield from read_row_group(one, windows)
                else:
                    yield from read_slice_without_arrow(one, windows)


def _touches(one: Slice, following: Slice | None, windows: Mapping[Source, Window]) -> bool:
    """Return whether a slice may hold lines of a window, so that a long file is not read whole for a few lines."""
    if not isinstance(one, LineSlice):
        return True
    window = windows.get(Source(one.topic, one.partition))
    if window is None:
        return False
    if isinstance(following, LineSlice) and following.path == one.path and following.first <= window[0]:
        return False
    return window[1] > one.first


def find_validation(
    validation: ValidationContext | Undetected,
    sample: Callable[[], Iterable[pa.RecordBatch | RecordsWithoutArrow]],
    sample_within: Callable[[Mapping[Source, Window]], Iterable[pa.RecordBatch | RecordsWithoutArrow]] | None = None,
) -> tuple[ValidationContext | None, Detection | None]:
    """Return the validation context for the messages, and its detection if no contract was declared.

    If the producer has switched, more messages are read by `sample_within`, if it is given, until the place is known.
    The context is undetected if no contract was found. Raises what the functions given raise.
    """
    if isinstance(validation, ValidationContext):
        return validation, None
    accumulator = EvidenceAccumulator(validation.catalogue, validation.reading_options)
    add_batches(accumulator, sample(), ENOUGH)
    detection = detect(accumulator)
    if sample_within is not None:
        detection = _narrow(accumulator, detection, sample_within)
    return detection.open_validation(validation), detection


def _narrow(
    accumulator: EvidenceAccumulator,
    detection: Detection,
    sample_within: Callable[[Mapping[Source, Window]], Iterable[pa.RecordBatch | RecordsWithoutArrow]],
) -> Detection:
    """Return the detection with ranges between which everything was read, or nothing that is read proves a version."""
    before = None
    while detection.ranges is not None:
        gaps = accumulator.timeline.unread_gaps(detection.ranges)
        unread = sum(end - start for start, end in gaps.values())
        if not gaps or (before is not None and unread >= before):
            break
        before, more = unread, EvidenceAccumulator(accumulator.catalogue, accumulator.reading_options)
        add_batches(more, sample_within({Source(*place): gap for place, gap in gaps.items()}), ENOUGH)
        detection = place_versions(accumulator, detection, more)
    return detection


def add_batches(
    accumulator: EvidenceAccumulator, batches: Iterable[pa.RecordBatch | RecordsWithoutArrow], most: int
) -> None:
    """Add the messages of some batches to an accumulator, up to a number; records without a value are skipped.

    Of messages with many columns or rows some are skipped, evenly from the first to the last: a sample of them takes a
    few times as long as one of others, and not hundreds of times.
    Values are unwrapped as the reading options say, and stand behind the frames of their headers where schemas are
    given; a value without this wrapping, or whose headers cannot be read, is of no contract.
    """
    options = accumulator.reading_options
    most_values = accumulator.values + _FREE_VALUES
    for batch in batches:
        for topic, partition, offset, value, frame, key in _coordinates(batch, framed=options.schemas is not None):
            if accumulator.messages == most:
                return
            most_values += _VALUES_EACH
            if accumulator.values > most_values:
                continue
            place = RecordPlace(topic, partition, offset)
            try:
                message = value if options.wrapping is None else unwrap(value, options.wrapping)
            except Unreadable:
                accumulator.add_unreadable(place, value)
                continue
            if message is None:
                accumulator.pass_over(place)
            elif frame is None:
                accumulator.add_unreadable(place, value)
            else:
                accumulator.add(place, frame + message, key)


def _coordinates(
    batch: pa.RecordBatch | RecordsWithoutArrow, *, framed: bool
) -> Iterator[tuple[str, int, int, Any, bytes | None, bytes | None]]:
    """Yield topic, partition, offset and value of records, the frame of their headers, None if unreadable, and key."""
    if isinstance(batch, RecordsWithoutArrow):
        for offset, value in zip(batch.offsets, batch.values, strict=True):
            yield batch.topic, batch.partition, offset, value, b"", None
        return
    from cdc_contracts.registry.core.records.framed_columns import header_frames  # only here: it imports Arrow

    frames = header_frames(batch, "value").frames if framed else None
    columns = [batch.column(name).to_pylist() for name in ("topic", "partition", "offset", "value")]
    keys = batch.column("key").to_pylist() if "key" in batch.schema.names else [None] * len(batch)
    yield from zip(*columns, [b""] * len(batch) if frames is None else frames.to_pylist(), keys, strict=True)
