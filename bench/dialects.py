"""How fast the kernel is for each family of dialects, in one process and without Spark: `python bench/dialects.py`.

Records a second of a stream of inserts, updates and deletes over twelve columns, audited (every value checked) and
decoded (canonical texts as well), and rows a second typed for tables, in CPU time. `audit/parse` and `decode/parse` are
the time of a record over that of one `msgspec` parse of the same bytes into raw columns; of Avro, for which there is no
such parse, `audit/canal` and `decode/canal` are over the time of a record of CANAL, and of records framed for a schema
registry `audit/avro` and `decode/avro` over that of a record of AVRO. `audit/byte` is the time of a byte over that of a
byte of the same. All take turns, so the ratios hold where the speed of the machine drifts.
`CDC_CONTRACTS_NATIVE=off` measures the kernel without its native part. `--updates` measures streams of updates only.

Where options of the producer decide how values are written, the streams are written under OPTIONS; the kernel is told
of none, as with a topic that nobody knows.

`--single` measures messages that come one at a time, as a consumer polls them: the CPU microseconds of `check` and
`decode` of the Python interface and of one `json.loads`, each on messages that it has not seen, after some others. The
median of the rounds, and their range.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median
from typing import Any

import msgspec
import pyarrow as pa
from framed_streams import change_stream
from framed_streams import row_stream as framed_rows
from msgspec import UNSET, Raw, UnsetType

import cdc_contracts as cdc
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.core.validate.validation_context import open_validation

FAMILIES = (
    "oms-community/canal@2", "oms-community/default@2", "oms-community/default-extend-column-type@2",
    "oms-community/dataworks@2", "oms-community/shareplex@2", "oms/debezium@1", "oms/debezium-smt@1", "drs/json@2",
    "dts/canal@2", "dts/shareplex@1", "dataworks/streamx@1", "dts/avro@1", "canal/flat@3", "debezium/json@4",
    "debezium/json-schema@4", "debezium/flat@2", "debezium/flat-schema@2", "maxwell/json@2", "ticdc/canal-json@2",
    "ticdc/debezium@1", "flink-cdc/canal-json@2", "flink-cdc/debezium-json@1", "aws-dms/json@1", "goldengate/json@1",
    "goldengate/json-row@1", "debezium/mongodb@1", "debezium/mongodb-schema@1", "debezium/json-schema@4 framed",
    "ticdc/avro@1 framed",
)  # fmt: skip
BATCH = 10_000
WARMING, EACH = 1_000, 400
"""Messages that come first, one at a time, and messages of a round."""
SINGLE = ("check", "decode", "json.loads")
CANAL, AVRO = "oms-community/canal@2", "dts/avro@1"
FRAMED = " framed"
"""Behind a dialect: its messages are records of Avro with the id of their schema."""
FRAMED_STREAMS = {"debezium/json-schema@4": change_stream, "ticdc/avro@1": framed_rows}
OPTIONS = {
    "decimal.handling.mode": "precise", "bigint.unsigned.handling.mode": "long",
    "time.precision.mode": "adaptive_time_microseconds", "binary.handling.mode": "bytes",
}  # fmt: skip
COLUMNS = {
    "bytes": 7, "audit/s": 10, "decode/s": 10, "typed/s": 10, "audit/parse": 13, "decode/parse": 13, "audit/canal": 13,
    "decode/canal": 13, "audit/avro": 12, "decode/avro": 12, "audit/byte": 12,
}  # fmt: skip
"""What is shown, and how wide."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--messages", type=int, default=40_000)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--updates", action="store_true", help="of each message both images")
    asked.add_argument("--single", action="store_true", help="messages that come one at a time")
    asked.add_argument("dialects", nargs="*")
    options = asked.parse_args()
    if options.single:
        measure_single(options.dialects or FAMILIES, options.rounds)
        return
    print(f"fast validator: {describe_native()}")
    titles = (f"{name:>{width}}" for name, width in COLUMNS.items())
    print(f"{'dialect':<44}{''.join(titles)}")
    for reference in options.dialects or FAMILIES:
        found = measure(reference, options.messages, options.rounds, updates=options.updates)
        shown = (
            show(name, found[name]).rjust(width) if name in found else " " * width for name, width in COLUMNS.items()
        )
        print(f"{reference:<44}{''.join(shown)}", flush=True)


def show(name: str, figure: float) -> str:
    return f"{figure:,.0f}" if name.endswith(("/s", "bytes")) else f"{figure:.2f}"


def measure(reference: str, total: int, rounds: int, *, updates: bool = False) -> dict[str, float]:
    """Return bytes a message, records a second audited and decoded, rows a second typed, and times over one parse.

    Where there is no such parse the times are over those of CANAL. Each is the best of some rounds after a warm one.
    """
    catalogue, reading_options = shipped_catalogue(), ReadingOptions(tables=own_table(), table="shop.orders")
    kernel, values, batches = open_stream(reference, total, updates=updates)
    total = len(values)
    written = [part for batch in batches for part in kernel.decode(batch)]
    observed = ObservedColumns()
    for part in written:
        observed.merge(part.observed)
    layouts = resolve_layouts({}, reading_options.tables, observed, {})
    tables = [(rows, layouts[name]) for part in written for name, rows in split_by_table(part.rows.source)]

    def type_all() -> None:
        for rows, layout in tables:
            type_rows(rows, layout)

    works = {**make_works(kernel, batches), "typed": type_all}
    other, named = (AVRO, "avro") if reference.endswith(FRAMED) else (CANAL, "canal")
    beside_it, of_other, batches_of_other = open_stream(other, total, updates=updates and other == AVRO)
    works |= {f"other {name}": work for name, work in make_works(beside_it, batches_of_other).items()}
    if reference.endswith(FRAMED) or catalogue.version(reference).meaning.transport == "avro":
        beside = {named: ("other audit", "other decode")}
    else:
        beside = {"parse": ("parse", "parse")}
        works["parse"] = make_parser(values, catalogue.version(reference).meaning.images.pointers())
    seconds = best_of(works, rounds)
    rows = sum(len(part.changes) for part in written)
    found = {
        "bytes": sum(map(len, values)) / len(values),
        "audit/s": total / seconds["audit"],
        "decode/s": total / seconds["decode"],
        "typed/s": rows / seconds["typed"],
    }
    for name, (audited, decoded) in beside.items():
        found[f"audit/{name}"] = seconds["audit"] / seconds[audited]
        found[f"decode/{name}"] = seconds["decode"] / seconds[decoded]
    sizes = sum(map(len, values)) / len(values) / (sum(map(len, of_other)) / len(of_other))
    found["audit/byte"] = seconds["audit"] / seconds["other audit"] / sizes
    return found


def measure_single(references: Sequence[str], rounds: int) -> None:
    """Print what one message costs; of each dialect the messages are some inserts, updates and deletes of ORDERS."""
    print(f"{'dialect':<44}{'bytes':>7}" + "".join(f"{name:>24}" for name in SINGLE))
    for reference in references:
        reading_options = ReadingOptions(tables=own_table(), table="shop.orders")
        renderer = Renderer(shipped_catalogue().version(reference), reading_options)
        values = list(renderer.render_all(row_stream(5, WARMING + rounds * EACH)))
        columns = {name: {"type": told} for name, told in ORDERS.types.items()}
        opened = cdc.contract(reference, tables={"table": "shop.orders", "columns": columns}, table="shop.orders")
        works: dict[str, Callable[[bytes], Any]] = {
            "check": opened.check, "decode": opened.decode, "json.loads": _load,
        }  # fmt: skip
        shown = ""
        for name in SINGLE:
            work, taken = works[name], []
            for value in values[:WARMING]:
                work(value)
            for start in range(WARMING, len(values), EACH):
                began = time.process_time()
                for value in values[start : start + EACH]:
                    work(value)
                taken.append((time.process_time() - began) / EACH * 1e6)
            shown += f"{median(taken):.0f} ({min(taken):.0f} to {max(taken):.0f})".rjust(24)
        print(f"{reference:<44}{sum(map(len, values)) / len(values):>7.0f}{shown}", flush=True)


def _load(value: bytes) -> Any:
    try:
        return json.loads(value)
    except ValueError:  # Avro
        return None


def open_stream(
    reference: str, total: int, *, updates: bool = False
) -> tuple[Kernel, list[bytes], list[pa.RecordBatch]]:
    """Return a kernel for a dialect, and the messages of a stream in it, also as batches."""
    catalogue, reading_options = shipped_catalogue(), ReadingOptions(tables=own_table(), table="shop.orders")
    if reference.endswith(FRAMED):
        subject = reference.removesuffix(FRAMED)
        schemas, values, keys = FRAMED_STREAMS[subject](total, updates=updates)
        validation = open_validation(catalogue, subject, ReadingOptions(schemas=schemas))
        return Kernel(validation), values, _in_batches(values, keys)
    version = catalogue.version(reference)
    written = replace(reading_options, parameters=OPTIONS)
    events = row_stream(5, total * 3 if updates else total)
    chosen = islice((event for event in events if not updates or event.op == "update"), total)
    values = list(Renderer(version, written).render_all(chosen))
    return Kernel(open_validation(catalogue, reference, reading_options)), values, _in_batches(values)


def _in_batches(values: list[bytes], keys: list[bytes] | None = None) -> list[pa.RecordBatch]:
    batches = [batch_of(values[start : start + BATCH], start) for start in range(0, len(values), BATCH)]
    if keys is None:
        return batches
    parts = (keys[start : start + BATCH] for start in range(0, len(keys), BATCH))
    return [one.append_column("key", pa.array(part, pa.binary())) for one, part in zip(batches, parts, strict=True)]


def make_works(kernel: Kernel, batches: Sequence[pa.RecordBatch]) -> dict[str, Callable[[], None]]:
    """Return an audit and a decode of all batches, as a task runs them."""

    def audit() -> None:
        tally = Tally()
        for batch in batches:
            tally.merge(kernel.audit(batch, ceiling=tally.chains.ceiling))

    def decode() -> None:
        tally = Tally()
        for batch in batches:
            for written in kernel.decode(batch, ceiling=tally.chains.ceiling):
                _ = written.changes  # made when it is asked for
                tally.merge(written.tally)

    return {"audit": audit, "decode": decode}


def best_of(works: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of each work, the best of some rounds in which all take turns."""
    best: dict[str, float] = {}
    for number in range(rounds + 1):
        for name, work in works.items():
            start = time.process_time()
            work()
            taken = time.process_time() - start
            if number:
                best[name] = min(taken, best.get(name, taken))
    return best


def make_parser(values: Sequence[bytes], images: Iterable[str]) -> Callable[[], None]:
    """Return a parse of all messages by msgspec: every member and every column of a row as its token."""
    decode = msgspec.json.Decoder(raw_type([json.loads(value) for value in values[:500]], "", tuple(images))).decode

    def parse() -> None:
        for start in range(0, len(values), BATCH):
            [decode(value) for value in values[start : start + BATCH]]

    return parse


def raw_type(found: Sequence[Any], at: str, images: tuple[str, ...]) -> Any:
    """Return the type of some values at one place: structs down to the rows of images, and tokens in them."""
    rows = [row for one in found for row in (one if isinstance(one, list) else [one]) if isinstance(row, dict)]
    if not rows or not any(image == at or image.startswith(f"{at}/") for image in images):
        return Raw
    names = list(dict.fromkeys(name for row in rows for name in row))
    fields = []
    for place, name in enumerate(names):
        below = raw_type([row[name] for row in rows if name in row], at + join_pointer(name), images)
        fields.append((f"f{place}", below | UnsetType, UNSET))
    struct = msgspec.defstruct("Raws", fields, rename=lambda field: names[int(field[1:])], gc=False)
    return (list[struct] if any(isinstance(one, list) for one in found) else struct) | None


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
