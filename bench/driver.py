"""Measures what the driver does with the results of many tasks: seconds and memory for each, without Spark.

    python bench/driver.py [--results 1000 10000] [--partitions 1000] [--records 200] [--contract REF]

Tasks are simulated: each reads some records of its own range, of a partition, by the kernel. What is measured is
another process that is given their pickled results and merges them, as a driver does after `collect`. Half of the
messages of every tenth task drift.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from processes import peak_memory

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.files.file_sinks import FilePart
from cdc_contracts.spark_checks.tables import decode_tasks
from cdc_contracts.spark_checks.tables.decode_tasks import DecodeResult
from cdc_contracts.spark_checks.tasks.spark_tasks import read_results

OLD, NEW = "oms-community/canal@1", "oms-community/canal@2"
CHAINED = "dts/canal@2"
DRIFTS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--contract", nargs="+", default=[NEW, CHAINED])
    parser.add_argument("--merge", type=Path, help="merge the results of this file and print what it took")
    options = parser.parse_args()
    if options.merge is not None:
        merge(options.merge)
        return
    print(f"{options.partitions:,} partitions, {options.records:,} messages a task\n")
    print("| work | contract | tasks | KB each | CPU ms each | MB above an idle driver |")
    print("|---|---|---|---|---|---|")
    for work in ("audit", "decode"):
        for contract in options.contract:
            for results in options.results:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "results"
                    size = simulate(file, work, contract, results, options.partitions, options.records)
                    command = [sys.executable, __file__, "--merge", str(file)]
                    taken = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                    each = f"{size / results / 1000:.1f} | {1000 * float(taken[0]) / results:.2f} | {taken[1]}"
                    print(f"| {work} | {contract} | {results:,} | {each} |", flush=True)


def simulate(file: Path, work: str, contract: str, results: int, partitions: int, records: int) -> int:
    """Write the pickled results of so many tasks to a file; returns their bytes."""
    catalogue, plain = shipped_catalogue(), ReadingOptions()
    kernel = Kernel(open_validation(catalogue, contract, plain))
    good = messages(contract, records)
    odd = messages(OLD, records // 2) + good[: records // 2]
    total = 0
    with file.open("wb") as out:
        for number in range(results):
            partition, first = number % partitions, number // partitions * records
            batch = as_batch(odd if number % DRIFTS == 0 else good, partition, first)
            result = DecodeResult(Tally())
            if work == "audit":
                result.tally.merge(kernel.audit(batch))
            else:
                for written in kernel.decode(batch):
                    decode_tasks._note(result, written)  # noqa: SLF001  as `decode_work` does it
                path = f"run=0123456789abcdef/part-{number:05d}-{number}-0123456789abcdef.parquet"
                result.parts = tuple(FilePart(name, f"{name}/{path}", 1, 1) for name in ("changes", "quarantine"))
            found = pickle.dumps(result.tally if work == "audit" else result)
            total += len(found)
            pickle.dump(found, out)
    return total


def messages(contract: str, records: int) -> list[bytes]:
    return list(Renderer(shipped_catalogue().version(contract), ReadingOptions()).render_all(row_stream(1, records)))


def as_batch(values: list[bytes], partition: int, first: int) -> pa.RecordBatch:
    total = len(values)
    return pa.RecordBatch.from_pydict({
        "key": pa.nulls(total, pa.binary()), "value": pa.array(values, pa.binary()),
        "topic": pa.array(["t"] * total), "partition": pa.array([partition] * total, pa.int32()),
        "offset": pa.array(range(first, first + total), pa.int64()),
        "timestamp": pa.array([1_700_000_000_000_000] * total, pa.timestamp("us", tz="UTC")),
        "timestampType": pa.array([0] * total, pa.int32()), "headers": pa.nulls(total, pa.string()),
    })  # fmt: skip


def merge(file: Path) -> None:
    """Print the CPU seconds that merging took, and by how many MB this process has grown since it had the bytes."""
    before = peak_memory() or 0
    rows = []
    with file.open("rb") as given:
        while given.peek(1):
            rows.append((pickle.load(given),))  # noqa: S301  our own bytes
    started = time.process_time()
    results = read_results(rows)
    total = next(results)
    for result in results:
        total.merge(result)
    seconds = time.process_time() - started
    print(seconds, (peak_memory() or 0) - before)


if __name__ == "__main__":
    main()
