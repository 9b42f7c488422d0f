"""What messages cost in batches of few: `python bench/small_batches.py [TREE ...]`.

CPU microseconds of a message in `check_batch` and `decode_batch` of the Python interface, and in one `json.loads`, for
batches of some sizes, over a stream of inserts, updates and deletes of twelve columns. `spread` has every message of a
batch from a partition of its own. A tree is a checkout of this repository; without one it is this. Each tree has a
process, and they take turns of milliseconds: a machine whose speed drifts does so for all of them, and the ratio of
neighbouring turns holds. Said are the least and the median of a tree, and the median ratio to the first tree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parents[1]
DIALECTS = ("oms-community/canal@2", "debezium/json@4")
SIZES = {10: 20, 100: 5, 1_000: 2}
"""How many messages a batch has, and how many batches a turn has."""
WORKS = ("check", "decode", "check, spread", "json.loads")
TURNS = 41


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--turns", type=int, default=TURNS)
    asked.add_argument("--dialects", nargs="+", default=DIALECTS)
    asked.add_argument("--measure", metavar="DIALECT", help=argparse.SUPPRESS)
    asked.add_argument("trees", nargs="*", type=Path, default=[HERE], metavar="TREE")
    options = asked.parse_args()
    if options.measure:
        answer_turns(options.measure)
        return
    for dialect in options.dialects:
        trees = {tree: start_tree(tree.resolve(), dialect) for tree in options.trees}
        print(f"| {dialect} |" + "".join(f" {tree.resolve().name} |" for tree in trees))
        print("|---|" + "---|" * len(trees))
        for size in SIZES:
            for work in WORKS:
                show(f"{work}, batches of {size:,}", *take_turns(list(trees.values()), work, size, options.turns))
        for process in trees.values():
            process.communicate()


def show(name: str, first: list[float], *others: list[float]) -> None:
    cells = [f"{min(first):.1f} ({median(first):.1f})"]
    for taken in others:
        ratio = median(one / other for one, other in zip(taken, first, strict=True))
        cells.append(f"{min(taken):.1f} ({median(taken):.1f}), {ratio:.2f}")
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def take_turns(processes: list[subprocess.Popen[str]], work: str, size: int, turns: int) -> list[list[float]]:
    """Return what a message cost in each turn, by process."""
    taken: list[list[float]] = [[] for _ in processes]
    for _ in range(turns):
        for process, found in zip(processes, taken, strict=True):
            print(json.dumps([work, size]), file=process.stdin, flush=True)
            found.append(float(process.stdout.readline()))
    return taken


def start_tree(tree: Path, dialect: str) -> subprocess.Popen[str]:
    """Start the process of a tree, and wait until its messages are made."""
    environment = {**os.environ, "PYTHONPATH": str(tree / ".src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", dialect]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def answer_turns(dialect: str) -> None:
    """Take a turn for each line of the input: a work and the size of its batches."""
    works, values = make_works(dialect)
    print("ready", flush=True)
    for line in sys.stdin:
        work, size = json.loads(line)
        print(_measure(works[work], values, size, SIZES[size]), flush=True)


def make_works(dialect: str) -> tuple[dict[str, Callable[[list[bytes]], Any]], list[bytes]]:
    """Return what is measured, by its name, and the messages it is given."""
    import cdc_contracts as cdc
    from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
    from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
    from cdc_contracts.registry.core.generate.rendering import Renderer

    document = {"table": "shop.orders", "columns": {name: {"type": told} for name, told in ORDERS.types.items()}}
    tables = TableContracts([parse_table_contract(document, "bench")])
    renderer = Renderer(shipped_catalogue().version(dialect), ReadingOptions(tables=tables, table="shop.orders"))
    values = list(renderer.render_all(row_stream(5, 24_000)))
    opened = cdc.contract(dialect, tables=document, table="shop.orders")
    opened.check_batch(values[:20_000])
    works: dict[str, Callable[[list[bytes]], Any]] = {
        "check": opened.check_batch,
        "decode": opened.decode_batch,
        "check, spread": lambda batch: opened.check_batch(_spread(batch)),
        "json.loads": lambda batch: [json.loads(value) for value in batch],
    }
    return works, values[20_000:]


def batch_ratios(dialect: str) -> dict[str, float]:
    """Return the time of a message in `check_batch` over that of its `json.loads`, for batches of each size."""
    works, values = make_works(dialect)
    found = {}
    for size, batches in SIZES.items():
        taken = [
            [_measure(works[work], values, size, batches) for work in ("check", "json.loads")] for _ in range(TURNS)
        ]
        found[f"check {size}/loads"] = median(check / loads for check, loads in taken[1:])
    return found


def _measure(work: Callable[[list[bytes]], Any], values: Sequence[bytes], size: int, batches: int) -> float:
    every = [list(values[start : start + size]) for start in range(0, len(values) - size + 1, size)]
    chosen = (every * batches)[:batches]
    began = time.process_time()
    for batch in chosen:
        work(batch)
    return (time.process_time() - began) / (size * batches) * 1e6


def _spread(values: Sequence[bytes]) -> Any:
    import pyarrow as pa

    partitions = pa.array(range(len(values)), pa.int32())
    topic, offsets = pa.array(["bench"] * len(values)), pa.array([7] * len(values), pa.int64())
    names = ["value", "topic", "partition", "offset"]
    return pa.RecordBatch.from_arrays([pa.array(values, pa.binary()), topic, partitions, offsets], names)


if __name__ == "__main__":
    main()
