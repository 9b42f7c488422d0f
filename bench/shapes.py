"""What the kernel costs for topics of other shapes than the usual one: `python bench/shapes.py [DIALECT...]`.

CPU nanoseconds for each byte, audited and decoded, and how many times that of the standard topic: one table of twelve
columns in one partition. The topics take turns in rounds, each with the median of its rounds and their range. A new
table or column in every message is one that no batch before has had either; with a new column nothing is of a known
shape.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from statistics import median

import pyarrow as pa
from dialects import BATCH

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.canonical_changes import Image
from cdc_contracts.registry.core.validate.validation_context import open_validation

NUMBER = "0000000"
"""Stands in the name of the table for the number of one, so that a message is rendered once for all of them."""
COLUMN = "9999999"
"""The same in the name of a column."""
AGAIN = 25
"""So often each of the twelve columns is there in a wide table."""
DIALECTS = ["oms-community/canal@2", "debezium/json@4", "oms-community/default@2"]
STRUCTURE = "STRUCTURE"
"""Stands in a column for an array or object."""
LONG, LONG_TEXT = b"LONG", "ein längerer Text, ".encode() * 50_000


@dataclass(frozen=True)
class Topic:
    """How a topic differs from the standard one; `tables` 0 stands for a new one in every message.

    With `fresh` every message has a column of its own, with `own` every table. With `sparse` each row lacks half of its
    columns, other ones than the next. A `structure` is in place of the texts of one column; dialects of values without
    arrays and objects have only drift there.
    """

    messages: int = 20_000
    tables: int = 1
    partitions: int = 1
    wide: bool = False
    long: bool = False
    fresh: bool = False
    own: bool = False
    sparse: bool = False
    structure: bytes = b""


TOPICS = {
    "standard": Topic(),
    "2,000 tables": Topic(tables=2_000),
    "a new table in every message": Topic(tables=0),
    "200 partitions": Topic(partitions=200),
    "300 columns": Topic(messages=1_000, wide=True),
    "1 MB values": Topic(messages=24, long=True),
    "new tables, 200 partitions": Topic(tables=0, partitions=200),
    "new tables, 200 partitions, 300 columns": Topic(messages=1_000, tables=0, partitions=200, wide=True),
    "a new column in every message": Topic(messages=1_000, fresh=True),
    "8 tables, each with a column of its own": Topic(messages=60_000, tables=8, own=True),
    "100 tables, each with a column of its own": Topic(messages=60_000, tables=100, own=True),
    "1,000 tables, each with a column of its own": Topic(messages=60_000, tables=1_000, own=True),
    "an array in a column": Topic(structure=b'["c%d","b"]'),
    "an object in a column": Topic(structure=b'{"x":%d.5,"y":2.0,"srid":null}'),
    "half of the columns left out, at random": Topic(sparse=True),
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--topics", default=",".join(map(str, range(len(TOPICS)))), help="their numbers from 0")
    asked.add_argument("--row-columns", choices=["all", "some"], help="the parameter row_columns")
    asked.add_argument("dialects", nargs="*", default=DIALECTS)
    options = asked.parse_args()
    wanted = [[*TOPICS][int(number)] for number in options.topics.split(",")]
    print(f"fast validator: {describe_native()}")
    for reference in options.dialects:
        print(f"\n{reference:<42}{'audit, ns a byte':>26}{'x':>7}{'decode, ns a byte':>26}{'x':>7}")
        found = measure(reference, wanted, options.rounds, options.row_columns)
        for name in wanted:
            shown = ""
            for way in ("audit", "decode"):
                times, usual = found[name, way], median(found[wanted[0], way])
                shown += f"{median(times):>10.2f} ({min(times):.2f} to {max(times):.2f})".rjust(26)
                shown += f"{median(times) / usual:7.2f}"
            print(f"{name:<42}{shown}", flush=True)


def measure(
    reference: str, wanted: list[str], rounds: int, row_columns: str | None = None
) -> dict[tuple[str, str], list[float]]:
    """Return the nanoseconds a byte of each topic, audited and decoded, of each round after a warm one."""
    parameters = {} if row_columns is None else {"row_columns": row_columns}
    catalogue = shipped_catalogue()
    reading_options = ReadingOptions(table=f"shop.orders_{NUMBER}", parameters=parameters)
    renderer = Renderer(catalogue.version(reference), reading_options)
    kernels = {name: Kernel(open_validation(catalogue, reference, reading_options)) for name in wanted}
    values = {name: render(renderer, TOPICS[name]) for name in wanted}
    found: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for name in wanted:
            for way in ("audit", "decode"):
                batches = list(make_batches(TOPICS[name], values[name], number * 2 + (way == "decode")))
                size = sum(batch.column("value").nbytes for batch in batches)
                start = time.process_time_ns()
                for batch in kernels[name].gather(batches):
                    run(kernels[name], way, batch)
                if number:
                    found.setdefault((name, way), []).append((time.process_time_ns() - start) / size)
    return found


def run(kernel: Kernel, way: str, batch: pa.RecordBatch) -> None:
    if way == "audit":
        kernel.audit(batch)
    else:
        for written in kernel.decode(batch):
            _ = written.changes  # made when it is asked for


def render(renderer: Renderer, topic: Topic) -> list[bytes]:
    """Return the messages of a topic, all of the table 0."""
    events = row_stream(5, topic.messages, table=table_of(topic))
    if topic.structure:
        events = change_rows(events, lambda row: row | {"customer": STRUCTURE})
        token = f'"{STRUCTURE}"'.encode()
        each = enumerate(renderer.render_all(events))
        return [value.replace(token, topic.structure % (number % 1_000)) for number, value in each]
    if topic.sparse:
        draw = Random(5)  # noqa: S311
        events = change_rows(events, lambda row: leave_out(row, draw))
    if topic.long:
        events = change_rows(events, lambda row: row | {"note": f"{row['note']}{LONG.decode()}"})
    return [value.replace(LONG, LONG_TEXT) for value in renderer.render_all(events)]


def change_rows(events: Iterator[Event], change: Callable[[Image], Image]) -> Iterator[Event]:
    for event in events:
        before, after = (row and change(row) for row in (event.before, event.after))
        yield replace(event, before=before, after=after)


def leave_out(row: Image, draw: Random) -> Image:
    """Return a row without half of its columns; the first one is its key."""
    return {name: value for at, (name, value) in enumerate(row.items()) if at == 0 or draw.getrandbits(1)}


def table_of(topic: Topic) -> SourceTable:
    types = ORDERS.types
    if topic.wide:
        types = {f"{name}_{again}" if again else name: type_ for again in range(AGAIN) for name, type_ in types.items()}
    if topic.fresh or topic.own:
        types = {f"customer_{COLUMN}" if name == "customer" else name: type_ for name, type_ in types.items()}
    return replace(ORDERS, name=f"orders_{NUMBER}", types=types)


def make_batches(topic: Topic, values: list[bytes], turn: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a topic; in another turn, a topic of a new table in every message has others."""
    first = turn * len(values)
    named = [
        value.replace(
            NUMBER.encode(), f"{(number % topic.tables if topic.tables else first + number):07}".encode()
        ).replace(COLUMN.encode(), f"{number % topic.tables if topic.own else first + number:07}".encode())
        for number, value in enumerate(values)
    ]
    for start in range(0, len(named), BATCH):
        values, numbers = named[start : start + BATCH], range(start, min(start + BATCH, len(named)))
        yield pa.RecordBatch.from_pydict({
            "value": pa.array(values, pa.binary()),
            "topic": pa.array(["bench"] * len(values)),
            "partition": pa.array([number % topic.partitions for number in numbers], pa.int32()),
            "offset": pa.array([number // topic.partitions for number in numbers], pa.int64()),
        })  # fmt: skip


if __name__ == "__main__":
    main()
