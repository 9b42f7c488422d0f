"""Measures what the driver does with the results of many tasks: seconds and memory for each, without Spark.

    python bench/driver.py [--results 1000 10000] [--partitions 1000] [--records 200] [--contract REF] [--work audit]
    python bench/driver.py --results 100000 --partitions 10000 --records 20 --job 1000 --work audit

Tasks are simulated: each reads some records of its own range, of a partition, by the kernel. What is measured is
another process that is given their pickled results and merges them, as a driver does after `collect`. Half of the
messages of every tenth task drift.

With --job the results of so many tasks are those of one Spark job. They are merged in tasks first, as the Spark engine
does, which is measured in a process of its own; the driver is given what these return, job by job.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

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
from cdc_contracts.spark_checks.tasks.task_shares import _MERGED_RESULTS as SHARES

OLD, NEW = "oms-community/canal@1", "oms-community/canal@2"
CHAINED = "dts/canal@2"
DRIFTS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--contract", nargs="+", default=[NEW, CHAINED])
    parser.add_argument("--work", nargs="+", choices=("audit", "decode"), default=["audit", "decode"])
    parser.add_argument("--job", type=int, default=0, help="tasks of one Spark job, whose results tasks merge first")
    parser.add_argument("--merge", type=Path, help="merge the results of this file and print what it took")
    parser.add_argument("--share", type=Path, nargs=2, help="merge those of a file in shares, into another file")
    options = parser.parse_args()
    if options.share is not None:
        share(*options.share, options.job)
        return
    if options.merge is not None:
        merge(options.merge, SHARES if options.job else 0)
        return
    print(f"{options.partitions:,} partitions, {options.records:,} messages a task\n")
    print(
        "| work | contract | tasks | KB each | merged in tasks: CPU ms each, MB "
        "| KB a result of these | driver: CPU s | MB above an idle driver |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for work, contract, results in itertools.product(options.work, options.contract, options.results):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results"
            size = simulate(file, work, contract, results, options.partitions, options.records)
            each, before = size / results / 1000, "-"
            merged, shares = each, [work, contract, f"{results:,}", f"{each:.1f}"]
            if options.job:
                after = Path(folder) / "merged"
                seconds, grown = run_again("--share", str(file), str(after), "--job", str(options.job))
                before, file = f"{1000 * seconds / results:.2f}, {grown:.0f}", after
                merged = after.stat().st_size / (SHARES * -(-results // options.job)) / 1000
            seconds, grown = run_again("--merge", str(file), "--job", str(options.job))
            row = [*shares, before, f"{merged:.1f}", f"{seconds:.1f}", f"{grown:.0f}"]
            print(f"| {' | '.join(row)} |", flush=True)


def run_again(*options: str) -> tuple[float, float]:
    """Return the CPU seconds and the MB that this program prints in another process."""
    command = [sys.executable, __file__, *options]
    seconds, grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(grown)


def simulate(file: Path, work: str, contract: str, results: int, partitions: int, records: int) -> int:
    """Write the pickled results of so many tasks to a file; returns their bytes."""
    catalogue, plain = shipped_catalogue(), ReadingOptions()
    kernel = Kernel(open_validation(catalogue, contract, plain))
    good = messages(contract, records)
    odd = messages(OLD, records // 2) + good[: records // 2]
    total, drifting, conforming = 0, Audited(kernel, odd), Audited(kernel, good)
    with file.open("wb") as out:
        for number in range(results):
            partition, turn = number % partitions, number // partitions
            if work == "audit":
                found = (drifting if number % DRIFTS == 0 else conforming).at(partition, turn)
            else:
                result = DecodeResult(Tally())
                for written in kernel.decode(
                    as_batch(odd if number % DRIFTS == 0 else good, partition, turn * records)
                ):
                    decode_tasks._note(result, written)  # noqa: SLF001  as `decode_work` does it
                path = f"run=0123456789abcdef/part-{number:05d}-{number}-0123456789abcdef.parquet"
                result.parts = tuple(FilePart(name, f"{name}/{path}", 1, 1) for name in ("changes", "quarantine"))
                found = pickle.dumps(result)
            total += len(found)
            pickle.dump(found, out)
    return total


class Audited:
    """The tally of some records, as that of the same records elsewhere: auditing 100,000 times would take hours.

    A pickle has the number of a partition, and offsets, in four bytes each if they are large.
    """

    _PARTITION = 0x7A5C3E01
    _TURN = 0x6B4D2F

    def __init__(self, kernel: Kernel, values: list[bytes]) -> None:
        if len(values) > 1 << 8:
            raise SystemExit("at most 256 messages a task")
        self._kernel, self._values = kernel, values
        self._tally = self._audit(self._PARTITION, self._TURN)
        if pickle.loads(self.at(3, 2)) != pickle.loads(self._audit(3, 2)):  # noqa: S301  our own bytes
            raise SystemExit("a tally cannot be moved")

    def _audit(self, partition: int, turn: int) -> bytes:
        return pickle.dumps(self._kernel.audit(as_batch(self._values, partition, turn << 8)))

    def at(self, partition: int, turn: int) -> bytes:
        """Return the pickled tally of the records in a partition, from the offset of a turn."""
        moved = self._tally.replace(self._PARTITION.to_bytes(4, "little"), partition.to_bytes(4, "little"))
        return moved.replace(self._TURN.to_bytes(3, "little"), turn.to_bytes(3, "little"))


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


def pickled(file: Path) -> Iterator[tuple[bytes]]:
    """Yield the rows of results in a file."""
    with file.open("rb") as given:
        while given.peek(1):
            yield (pickle.load(given),)  # noqa: S301  our own bytes


def share(file: Path, merged: Path, job: int) -> None:
    """Merge the results of each job in shares, and print the CPU seconds and MB that one task at a time takes."""
    before, seconds = peak_memory() or 0, 0.0
    rows = pickled(file)
    with merged.open("wb") as out:
        while chunk := list(itertools.islice(rows, job)):
            started = time.process_time()
            for number in range(SHARES):
                pickle.dump(pickle.dumps(add_up(None, read_results(chunk[number::SHARES]))), out)
            seconds += time.process_time() - started
    print(seconds, (peak_memory() or 0) - before)


def merge(file: Path, job: int) -> None:
    """Print the CPU seconds that merging took, and by how many MB this process has grown since it started.

    It is given the rows of one job at a time, or of all at once without jobs.
    """
    before, seconds, total = peak_memory() or 0, 0.0, None
    rows = pickled(file)
    while chunk := list(itertools.islice(rows, job or None)):
        started = time.process_time()
        total = add_up(total, read_results(chunk))
        seconds += time.process_time() - started
    print(seconds, (peak_memory() or 0) - before)


def add_up(total: Any, results: Iterable[Any]) -> Any:
    for result in results:
        if total is None:
            total = result
        else:
            total.merge(result)
    return total


if __name__ == "__main__":
    main()
