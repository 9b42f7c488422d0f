"""Topic conversion: the records of a range converted into another topic, with the same partitions and order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cdc_contracts.registry.core.common.atomic_files import put_whole
from cdc_contracts.registry.core.common.errors import CdcContractsError, UnavailableError, UsageError
from cdc_contracts.registry.core.records.conversion.converted_records import REFUSED_SCHEMA, Counts, convert_batch
from cdc_contracts.registry.core.records.conversion.converter import Conversion
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.kafka.consumer import open_reader
from cdc_contracts.spark_checks.kafka.producer import open_writer
from cdc_contracts.spark_checks.tasks.spark_tasks import Work, as_result, attempt_name, read_results
from cdc_contracts.spark_checks.topic_capture import join_parts


@dataclass
class _Result:
    """The result of one task: its counts, the files of the records it refused, and its error, if any."""

    counts: Counts = field(default_factory=Counts)
    parts: list[str] = field(default_factory=list)
    failure: CdcContractsError | None = None


def check_topic(source: TopicInput, topic: str) -> None:
    """Make sure that the other topic has the partitions that the records come from.

    Raises UsageError if it is the same topic, UnavailableError if it or one of the partitions does not exist.
    """
    if topic in source.selected:
        raise UsageError("a topic cannot be converted into itself", where=topic, hint="Name another --output-topic.")
    with open_reader(source.bootstrap, source.properties) as reader:
        there = reader.limits(topic).keys()
    needed = {partition for partitions in source.selected.values() for partition in partitions}
    if missing := sorted(needed - there):
        raise UnavailableError(
            f"topic {topic} has {len(there)} partitions, and partition {missing[-1]} is needed",
            where=source.bootstrap,
            hint="Create it with as many partitions as the source topic: records keep their partition.",
        )


def convert_topic(
    engine: Engine, source: TopicInput, topic: str, conversion: Conversion, quarantine: Path | None = None
) -> Counts:
    """Convert every record of the range into another topic; refused records go to a capture, if one is named.

    Returns the counts of the conversion.
    Raises UnavailableError if records cannot be read or written: records already written stay in the topic.
    """
    one_task_each = replace(source, tasks=None)  # two tasks per partition would not keep its order
    with ExitStack() as stack:
        folder = None
        if quarantine is not None:
            folder = Path(tempfile.mkdtemp(prefix=f".{quarantine.name}-", dir=quarantine.absolute().parent))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        work = _work(conversion, source.bootstrap, source.properties, topic, None if folder is None else str(folder))
        results: list[_Result] = list(read_results(engine.run(one_task_each, work)))
        for result in results:
            if result.failure is not None:
                raise result.failure
        if quarantine is not None:
            parts = [Path(part) for result in results for part in result.parts]
            with put_whole(quarantine) as aside:
                join_parts(parts, aside, REFUSED_SCHEMA)
    counts = Counts()
    for result in results:
        counts.merge(result.counts)
    return counts


def _work(
    conversion: Conversion, bootstrap: str, properties: Mapping[str, str], topic: str, folder: str | None
) -> Work:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        result = _Result()
        try:
            _convert(batches, result)
        except CdcContractsError as error:  # returned as a value: Spark would report it as a traceback
            result.failure = error
        yield as_result(result)

    def _convert(batches: Iterable[pa.RecordBatch], result: _Result) -> None:
        convert = conversion.open()
        with ExitStack() as stack:
            writer = stack.enter_context(open_writer(bootstrap, topic, properties))
            refused: pq.ParquetWriter | None = None
            for batch in batches:
                converted = convert_batch(batch, convert)
                writer.write(converted.records)
                result.counts.note(converted)
                if folder is not None and converted.refused.num_rows:
                    if refused is None:
                        path = f"{folder}/part-{attempt_name()}.parquet"
                        refused = stack.enter_context(pq.ParquetWriter(path, REFUSED_SCHEMA, compression="zstd"))
                        result.parts.append(path)
                    refused.write_batch(converted.refused)
            writer.finish()

    return work
