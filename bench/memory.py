"""Measures the most memory that an audit and a decode hold, for some messages and for ten times as many.

    python bench/memory.py [--messages 400000] [--times 10] [--master local[2]] [--data bench/data] [--scratch DIR]

The larger capture is the smaller one so many times, each copy in partitions of its own; it is removed afterwards. Each
command is a process of its own. Shown is the peak memory of each kind of process (`VmHWM`): the driver, its JVM,
and the largest Python worker.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from processes import peak_memory
from run import NEW, PARTITIONS, make_capture

from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA

LOOK_SECONDS = 0.2
KINDS = ("driver", "JVM", "largest worker")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=400_000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--scratch", type=Path, help="where the larger capture and the output lie meanwhile")
    options = parser.parse_args()
    small = make_capture(options.data, options.messages)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.scratch) as scratch:
        large = Path(scratch) / "large.parquet"
        repeat(small, large, options.times)
        print(f"| work | messages | seconds | {', MB | '.join(KINDS)}, MB |\n|---|---|---|---|---|---|")
        for work in ("audit", "decode"):
            found = {}
            for capture, messages in ((small, options.messages), (large, options.messages * options.times)):
                to = ["--to", f"{scratch}/out-{messages}"] if work == "decode" else []
                arguments = [work, "file", str(capture), "--contract", NEW, "--master", options.master, *to]
                seconds, held = run(arguments)
                found[messages] = held
                cells = " | ".join(f"{held[kind]:,.0f}" for kind in KINDS)
                print(f"| {work} | {messages:,} | {seconds:.0f} | {cells} |", flush=True)
            before, after = found.values()
            ratios = " | ".join(f"{after[kind] / before[kind]:.2f}" for kind in KINDS)
            print(f"| {work} | ratio | | {ratios} |", flush=True)


def repeat(small: Path, large: Path, times: int) -> None:
    """Write a capture so many times, each copy in partitions of its own."""
    source = pq.ParquetFile(small)
    with pq.ParquetWriter(large, CAPTURE_SCHEMA, compression="none") as writer:
        for copy in range(times):
            for group in range(source.num_row_groups):
                table = source.read_row_group(group)
                partition = [one + copy * PARTITIONS for one in table.column("partition").to_pylist()]
                place = table.schema.get_field_index("partition")
                writer.write_table(table.set_column(place, "partition", pa.array(partition, pa.int32())))


def run(arguments: list[str]) -> tuple[float, dict[str, float]]:
    """Return how long a command took, and the most MB that each kind of its processes held."""
    held = dict.fromkeys(KINDS, 0.0)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "cdc_contracts.cli", *arguments], stdout=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None:
        for kind, size in look(process.pid):
            held[kind] = max(held[kind], size)
        time.sleep(LOOK_SECONDS)
    if process.returncode not in {0, 1}:
        raise SystemExit(f"exit {process.returncode}: {' '.join(arguments)}")
    return time.perf_counter() - started, held


def look(session: int) -> list[tuple[str, float]]:
    """Return the kind and the peak memory, in MB, of each process of a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) != session:
                continue
            name, peak = (folder / "comm").read_text().strip(), peak_memory(folder)
        except OSError:
            continue
        if peak is not None:
            kind = "driver" if int(folder.name) == session else "JVM" if name == "java" else "largest worker"
            found.append((kind, peak))
    return found


if __name__ == "__main__":
    main()
