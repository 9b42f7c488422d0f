"""Where the CPU time of an audit and of a decode goes, stage by stage, in one process: `python bench/stages.py`.

The capture of `bench/run.py` is read, validated, typed and written by the function that a task of Spark runs. Each
stage counts without the stages inside it. Figures are microseconds per record, the median of some rounds in which
audit, decode and tables alone take turns.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from run import NEW, make_capture, validation

from cdc_contracts.registry.core.engine import fast_validator, kernel
from cdc_contracts.registry.core.engine.write import change_rows
from cdc_contracts.spark_checks.files import file_sinks
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.tables import decode_tasks, typed_files
from cdc_contracts.spark_checks.tables.decode_tasks import DecodePlan, decode_work
from cdc_contracts.spark_checks.tasks.spark_tasks import Work, audit_work, describe_validation

READ, REST = "read the capture", "all else"
STAGES: dict[str, tuple[Any, str]] = {
    "scan messages": (fast_validator.BatchSorter, "sort"),
    "values by form": (fast_validator, "pool_columns"),
    "check values, write texts": (fast_validator.ValueColumns, "validate"),
    "flags of values": (fast_validator.FastValidator, "_flags"),
    "group records": (fast_validator, "group_records"),
    "decide verdicts": (fast_validator.FastValidator, "validate"),
    "count": (kernel.Kernel, "_count"),
    "rows: images, facts, columns": (kernel, "decode_rows"),
    "maps and columns of changes/ alone": (change_rows, "make_changes"),
    "type rows": (typed_files, "type_rows"),
    "note tables and positions": (decode_tasks, "_note"),
    "write Parquet": (file_sinks.TableWriter, "flush"),
    "finish files": (file_sinks.TableWriter, "close"),
}  # fmt: skip


ORDER = [READ, *STAGES, REST]


class Stages:
    """The CPU seconds of each stage, without those of the stages inside it."""

    def __init__(self) -> None:
        self.seconds = Counter[str]()
        self._inside: list[float] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time until the end of a block."""
        start = time.process_time()
        self._inside.append(0)
        try:
            yield
        finally:
            taken = time.process_time() - start
            self.seconds[name] += taken - self._inside.pop()
            if self._inside:
                self._inside[-1] += taken

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts as a stage; writing counts by what is written."""

        def run(*given: Any, **named: Any) -> Any:
            called = f"{name}: {_output(given[0])}" if isinstance(given[0], file_sinks.TableWriter) else name
            with self.stage(called):
                found = function(*given, **named)
                return iter(list(found)) if isinstance(found, Iterator) else found

        return run

    def read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches, counting what it takes to read them."""
        while True:
            with self.stage(READ):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--messages", type=int, default=400_000)
    asked.add_argument("--batches", type=int, default=10, help="how many row groups of 20,000 messages are read")
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--data", type=Path, default=Path(__file__).parent / "data")
    options = asked.parse_args()
    captured = make_capture(options.data, options.messages)
    with tempfile.TemporaryDirectory(prefix="bench-") as out:
        found = measure(captured, Path(out), options.batches, options.rounds)
    names = sorted({name for one in found.values() for name in one}, key=lambda name: ORDER.index(_stage(name)))
    print(f"| stage | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
    for name in names:
        print(f"| {name} | {' | '.join(f'{one[name]:.2f}' if name in one else '' for one in found.values())} |")
    print(f"| together | {' | '.join(f'{sum(one.values()):.2f}' for one in found.values())} |")


def measure(captured: Path, out: Path, batches: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return the microseconds per record of each stage of each work."""
    spec, source = describe_validation(validation(NEW)), read_files([captured], parse_range())
    plain = {name: getattr(*at) for name, at in STAGES.items()}
    seen: dict[str, list[dict[str, float]]] = {"audit": [], "decode": [], "--outputs tables": []}
    for number in range(rounds + 1):
        for name, found in seen.items():
            plan = DecodePlan(
                SinkPlace(str(out), f"{number}", name), typed_above="tables", keeps_changes=name == "decode"
            )
            work: Work = audit_work(spec) if name == "audit" else decode_work(spec, plan)
            stages, records = Stages(), 0
            for one, (holder, attribute) in STAGES.items():
                setattr(holder, attribute, stages.timed(one, plain[one]))

            def counted(read: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                nonlocal records
                for batch in read:
                    records += batch.num_rows
                    yield batch

            with stages.stage(REST):
                for _ in work(counted(stages.read(islice(source.batches(), 2 * batches)))):
                    pass
            if number:
                found.append({stage: taken / records * 1e6 for stage, taken in stages.seconds.items()})
    return {
        name: {stage: statistics.median(one.get(stage, 0) for one in found) for stage in found[0]}
        for name, found in seen.items()
    }


def _output(writer: Any) -> str:
    return "changes/" if writer._table == "changes" else "tables/" if "." in writer._table else "others"  # noqa: SLF001


def _stage(name: str) -> str:
    return name.partition(": ")[0] if name.startswith(("write", "finish")) else name


if __name__ == "__main__":
    main()
