"""What messages cost in batches of few: `python bench/small_batches.py [TREE ...]`.

CPU microseconds of a message in `check_batch` and `decode_batch` of the Python interface, and in one `json.loads`, for
batches of some sizes, over a stream of inserts, updates and deletes of twelve columns. `spread` has every message of a
batch from a partition of its own. A tree is a checkout of this repository; without one it is this. Trees take turns in
processes of their own, so that their ratios hold on a machine whose speed drifts. The median of the rounds, and their
range.
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
SIZES = {10: 100, 100: 20, 1_000: 4}
"""How many messages a batch has, and how many batches are measured of each round."""
WORKS = ("check", "decode", "check, spread", "json.loads")
WARM = 20
"""Batches that come first."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--dialects", nargs="+", default=DIALECTS)
    asked.add_argument("--measure", metavar="DIALECT", help=argparse.SUPPRESS)
    asked.add_argument("trees", nargs="*", type=Path, default=[HERE], metavar="TREE")
    options = asked.parse_args()
    if options.measure:
        json.dump(measure_batches(options.measure), sys.stdout)
        return
    for dialect in options.dialects:
        found: dict[Path, list[dict[str, float]]] = {}
        for _ in range(options.rounds):
            for tree in options.trees:
                found.setdefault(tree, []).append(measure_tree(tree.resolve(), dialect))
        show(dialect, found)


def show(dialect: str, found: dict[Path, list[dict[str, float]]]) -> None:
    print(f"| {dialect} |" + "".join(f" {tree.resolve().name} |" for tree in found))
    print("|---|" + "---|" * len(found))
    for name in next(iter(found.values()))[0]:
        cells = []
        for rounds in found.values():
            taken = [one[name] for one in rounds]
            cells.append(f" {median(taken):.1f} ({min(taken):.1f} to {max(taken):.1f}) |")
        print(f"| {name} |" + "".join(cells), flush=True)


def measure_tree(tree: Path, dialect: str) -> dict[str, float]:
    """Return what a message costs in each work and batch, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree / ".src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", dialect]
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(found.stdout))


def measure_batches(dialect: str) -> dict[str, float]:
    """Return the CPU microseconds of a message in each work, in batches of each size."""
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
    works: dict[str, Callable[[list[bytes]], Any]] = {
        "check": opened.check_batch,
        "decode": opened.decode_batch,
        "check, spread": lambda batch: opened.check_batch(_spread(batch)),
        "json.loads": lambda batch: [json.loads(value) for value in batch],
    }
    opened.check_batch(values[:20_000])
    fresh, found = values[20_000:], {}
    for size, total in SIZES.items():
        for name in WORKS:
            found[f"{name}, batches of {size:,}"] = _measure(works[name], fresh, size, total)
    return found


def batch_ratios(dialect: str) -> dict[str, float]:
    """Return the time of a message in `check_batch` over that of its `json.loads`, for batches of each size."""
    found = measure_batches(dialect)
    return {
        f"check {size}/loads": found[f"check, batches of {size:,}"] / found[f"json.loads, batches of {size:,}"]
        for size in SIZES
    }


def _measure(work: Callable[[list[bytes]], Any], values: Sequence[bytes], size: int, total: int) -> float:
    batches = [list(values[start : start + size]) for start in range(0, len(values) - size + 1, size)]
    chosen = (batches * total)[:total]
    for batch in (batches * WARM)[:WARM]:
        work(batch)
    began = time.process_time()
    for batch in chosen:
        work(batch)
    return (time.process_time() - began) / (size * total) * 1e6


def _spread(values: Sequence[bytes]) -> Any:
    import pyarrow as pa

    partitions = pa.array(range(len(values)), pa.int32())
    topic, offsets = pa.array(["bench"] * len(values)), pa.array([7] * len(values), pa.int64())
    names = ["value", "topic", "partition", "offset"]
    return pa.RecordBatch.from_arrays([pa.array(values, pa.binary()), topic, partitions, offsets], names)


if __name__ == "__main__":
    main()
