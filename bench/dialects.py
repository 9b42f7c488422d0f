"""How fast the kernel is for each family of dialects, in one process and without Spark: `python bench/dialects.py`.

Records a second of a stream of inserts, updates and deletes over twelve columns, judged (every value checked) and
decoded (canonical texts as well), and rows a second typed for tables. What counts are the ratios of one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import pyarrow as pa

from cdc_contracts.registry.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.engine.kernel import Kernel
from cdc_contracts.registry.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.generate.rendering import Renderer
from cdc_contracts.registry.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.validate.validation_context import open_validation

FAMILIES = (
    "oms-community/canal@2", "oms-community/default@2", "oms-community/default-extend-column-type@2",
    "oms-community/dataworks@2", "oms-community/shareplex@2", "oms/debezium@1", "oms/debezium-smt@1", "drs/json@2",
    "dts/canal@2", "dts/shareplex@1", "dataworks/streamx@1", "dts/avro@1",
)  # fmt: skip
BATCH = 10_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--messages", type=int, default=40_000)
    asked.add_argument("--rounds", type=int, default=3)
    options = asked.parse_args()
    print(f"{'dialect':<44}{'bytes':>7}{'audit/s':>10}{'decode/s':>10}{'ratio':>7}{'typed/s':>10}")
    first = 0.0
    for reference in FAMILIES:
        size, audit, decode, typed = measure(reference, options.messages, options.rounds)
        first = first or decode
        print(f"{reference:<44}{size:>7,.0f}{audit:>10,.0f}{decode:>10,.0f}{decode / first:>7.2f}{typed:>10,.0f}")


def measure(reference: str, total: int, rounds: int) -> tuple[float, float, float, float]:
    """Return bytes a message, records a second audited and decoded, and rows a second typed.

    Each is the best of some rounds after a warm one.
    """
    catalogue, reading_options = shipped_catalogue(), ReadingOptions(tables=own_table(), table="shop.orders")
    values = list(Renderer(catalogue.version(reference), reading_options).render_all(row_stream(5, total)))
    batches = [batch_of(values[start : start + BATCH], start) for start in range(0, len(values), BATCH)]
    kernel = Kernel(open_validation(catalogue, reference, reading_options))

    def audit() -> None:
        for batch in batches:
            kernel.audit(batch)

    def decode() -> None:
        for batch in batches:
            for _ in kernel.decode(batch):
                pass

    written = [part for batch in batches for part in kernel.decode(batch)]
    sightings = ObservedColumns()
    for part in written:
        sightings.merge(part.sightings)
    layouts = resolve_layouts({}, reading_options.tables, sightings, {})
    tables = [(rows, layouts[name]) for part in written for name, rows in split_by_table(part.changes)]

    def type_all() -> None:
        for rows, layout in tables:
            type_rows(rows, layout)

    size, rows = sum(map(len, values)) / len(values), sum(len(part.changes) for part in written)
    return size, speed(audit, total, rounds), speed(decode, total, rounds), speed(type_all, rows, rounds)


def speed(work: Callable[[], None], total: int, rounds: int) -> float:
    work()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return total / min(taken)


def own_table() -> TableContracts:
    columns = {name: {"type": told} for name, told in ORDERS.types.items()}
    return TableContracts([parse_table_contract({"table": "shop.orders", "columns": columns}, "bench")])


def batch_of(values: list[bytes], start: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({
        "value": pa.array(values, pa.binary()),
        "topic": pa.array(["bench"] * len(values)),
        "partition": pa.array([0] * len(values), pa.int32()),
        "offset": pa.array(range(start, start + len(values)), pa.int64()),
    })  # fmt: skip


if __name__ == "__main__":
    main()
