"""Measures audit and decode against plain Spark and other tools, and a topic against bare readers of it, in one run.

    python bench/run.py [--messages 400000] [--rounds 5] [--no-kafka] [--data bench/data]
                        [--dialect debezium] [--price 0.05] [--datacontract PYTHON] [--flink PYTHON]

`--price` is that of a CPU hour, for the table of what 10^9 messages cost. The last two name the Python of an
environment that has datacontract-cli[duckdb], which reads Canal only, or apache-flink. Messages of Debezium are written
by the options that its connectors have by default, and read by the types of a table contract without any option.

Every way is run once to warm up and then once a round, in turn, so that a machine whose speed drifts is fair to all.
Figures are of the median round; CPU seconds are of the whole process tree: driver, JVM and Python workers. Ratios are
of CPU seconds within one round, which a busy machine changes least.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import peers
import pyarrow as pa
import pyarrow.parquet as pq
from dialects import OPTIONS, own_table
from processes import cpu_of_tree
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  as the whole world imports it
from pyspark.sql import types as T  # noqa: N812  as the whole world imports it

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.message.schema_validator import open_validator
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.demo_topic import PARTITIONS, produce
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.broker import running_broker
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.spark.spark_session import open_session

CANAL = "canal"
NEW = "oms-community/canal@2"
TOPIC = "bench"
CHUNK = 20_000
SCHEMA_SAMPLE = 5_000

FROM_JSON, TO_PARQUET = "Spark from_json, discarded", "Spark from_json -> Parquet, nothing validated"
AUDIT, DRIFTS = "audit of a capture, all values checked", "audit of a capture, every record drifts"
DECODE, TABLES = "decode of a capture, changes and typed tables", "decode --outputs tables of a capture"
COUNT, TOPIC_AUDIT = "Spark count of a Kafka topic", "audit of the same topic"
CONSUMER, COLD = "librdkafka consumer of the topic, cold", "audit topic --engine local, cold"
DUCKDB, DATACONTRACT = "DuckDB read_json -> Parquet, nothing validated", "datacontract-cli test of the lines, cold"
FLINK = "Flink's format, discarded, cold"
FOLDERS = {TO_PARQUET: "plain", DECODE: "decoded", TABLES: "tables"}
"""Where those that write do so."""
WANTED = [
    (AUDIT, FROM_JSON, 0.35), (DECODE, TO_PARQUET, 0.5), (TABLES, TO_PARQUET, 0.4), (TABLES, DUCKDB, None),
    (DRIFTS, AUDIT, 1.3), (TOPIC_AUDIT, COUNT, 2), (COLD, CONSUMER, 4),
]  # fmt: skip
"""Whose CPU seconds are compared with whose, and what the ratio should be at most."""


@dataclass(frozen=True)
class Dialect:
    """The messages to measure: their contract, one that refuses all of them, and the struct a user would write."""

    contract: str
    refusing: str
    struct: Callable[[], T.StructType]
    row: str
    members: tuple[str, ...]
    images: tuple[str, ...]
    flink: str
    reading_options: ReadingOptions = field(default_factory=ReadingOptions)
    written: Mapping[str, str] = field(default_factory=dict)

    def validation(self, reference: str) -> object:
        return open_validation(shipped_catalogue(), reference, self.reading_options)


def main() -> None:
    options = read_options()
    dialect = DIALECTS[options.dialect]
    captured = make_capture(options.data, options.messages, options.dialect)
    with ExitStack() as stack:
        session = open_session(kafka=not options.no_kafka, say=say)
        stack.callback(session.stop)
        out = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        ways = ways_over_files(session, captured, Path(out), dialect)
        ways |= ways_of_peers(options, captured, Path(out), dialect)
        if not options.no_kafka:
            ways |= ways_over_kafka(session, captured, stack, dialect)
        seconds, cpu = measure(ways, options.rounds)
        written = {name: size_of(Path(out) / folder) for name, folder in FOLDERS.items()}
    rate, per_record = judge_one_by_one(captured, dialect)
    print_table(options.messages, captured, seconds, cpu, rate, per_record)
    print_costs(options.messages, captured.stat().st_size, cpu, written, options.price)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-kafka", action="store_true")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--dialect", choices=[*DIALECTS], default=CANAL)
    parser.add_argument("--datacontract", type=Path)
    parser.add_argument("--flink", type=Path)
    parser.add_argument("--price", type=float, help="price of a CPU hour, in any currency")
    return parser.parse_args()


def make_capture(folder: Path, messages: int, name: str = CANAL) -> Path:
    """Write the messages as a capture of four partitions, once; the same seed makes the same bytes."""
    target, dialect = folder / f"{name}-{messages}.parquet", DIALECTS[name]
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    say(f"rendering {messages:,} messages ...")
    written = replace(dialect.reading_options, parameters=dialect.written)
    renderer = Renderer(shipped_catalogue().version(dialect.contract), written)
    aside = target.with_suffix(".part")
    with pq.ParquetWriter(aside, CAPTURE_SCHEMA, compression="none") as writer:
        for partition in range(PARTITIONS):
            values = renderer.render_all(row_stream(partition, messages // PARTITIONS))
            for start, chunk in enumerate(chunks(values, CHUNK)):
                writer.write_table(as_table(partition, start * CHUNK, chunk))
    aside.rename(target)
    return target


def chunks(values: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    while chunk := list(islice(values, size)):
        yield chunk


def as_table(partition: int, first: int, values: list[bytes]) -> pa.Table:
    total = len(values)
    return pa.table({
        "key": pa.nulls(total, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "topic": pa.array([TOPIC] * total),
        "partition": pa.array([partition] * total, pa.int32()),
        "offset": pa.array(range(first, first + total), pa.int64()),
        "timestamp": pa.array([0] * total, pa.timestamp("us", tz="UTC")),
        "timestampType": pa.array([0] * total, pa.int32()),
        "headers": pa.nulls(total, CAPTURE_SCHEMA.field("headers").type),
    }, schema=CAPTURE_SCHEMA)  # fmt: skip


def ways_over_files(
    session: SparkSession, captured: Path, out: Path, dialect: Dialect
) -> dict[str, Callable[[], object]]:
    """Plain Spark and ours over the same capture."""
    frame = session.read.parquet(str(captured)).select(F.col("value").cast("string").alias("value"))
    parsed = frame.select(F.from_json("value", dialect.struct()).alias("m"))
    after = {name: F.expr(f"m.{dialect.row}.`{name}`").cast("string") for name in ORDERS.types}
    mapped = parsed.select(
        *(f"m.{member}" for member in dialect.members),
        F.map_from_arrays(F.array(*map(F.lit, after)), F.array(*after.values())).alias("after"),
    )  # fmt: skip

    def audit(reference: str) -> object:
        return audit_input(SparkEngine(session), our_input(), dialect.validation(reference), fail_on="warning")

    def our_input() -> object:
        return read_files([captured], parse_range(), tasks=os.cpu_count() or 1)

    def decode(name: str, *, keeps_changes: bool) -> None:
        target = out / FOLDERS[name]
        shutil.rmtree(target, ignore_errors=True)
        output = Output(str(target), keeps_changes=keeps_changes)
        decode_input(SparkEngine(session), our_input(), dialect.validation(dialect.contract), output, fail_on="error")

    return {
        FROM_JSON: lambda: discard(parsed),
        AUDIT: lambda: audit(dialect.contract),
        DRIFTS: lambda: audit(dialect.refusing),
        TO_PARQUET: lambda: mapped.write.mode("overwrite").parquet(str(out / FOLDERS[TO_PARQUET])),
        DECODE: lambda: decode(DECODE, keeps_changes=True),
        TABLES: lambda: decode(TABLES, keeps_changes=False),
    }


def ways_of_peers(
    options: argparse.Namespace, captured: Path, out: Path, dialect: Dialect
) -> dict[str, Callable[[], object]]:
    """Other tools over the same messages, one a line."""
    lines, whole = peers.write_lines(captured), dialect.struct()
    read = {*(member.partition(".")[0] for member in dialect.members), *dialect.images}
    struct = T.StructType([field for field in whole if field.name in read])
    image = whole[dialect.images[0]].dataType
    row = image.elementType if isinstance(image, T.ArrayType) else image
    members = ('"' + member.replace(".", '"."') + '"' for member in dialect.members)  # `table` is a keyword of SQL
    chosen = ", ".join((*members, f"{dialect.row.replace('[0]', '[1]')} AS after"))  # SQL counts from one
    ways: dict[str, Callable[[], object]] = {
        DUCKDB: lambda: peers.write_by_duckdb(lines, out / "duckdb.parquet", struct, chosen, os.cpu_count() or 1)
    }
    if options.datacontract is not None and options.dialect == CANAL:
        ways[DATACONTRACT] = lambda: peers.check_by_datacontract(options.datacontract, lines, out, row)
    if options.flink is not None:
        ways[FLINK] = lambda: peers.run_flink(options.flink, dialect.flink, lines, row)
    return ways


def ways_over_kafka(
    session: SparkSession, captured: Path, stack: ExitStack, dialect: Dialect
) -> dict[str, Callable[[], object]]:
    """A bare count of a topic, and our audit of it."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-broker-")))
    broker = stack.enter_context(running_broker(folder, say=say))
    say("producing the messages ...")
    produce(session, broker, captured, TOPIC)
    reader = session.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)

    def audit() -> None:
        source = read_topics(SparkEngine(session), broker.bootstrap, [TOPIC], parse_range(), {}, headers=False)
        audit_input(SparkEngine(session), source, dialect.validation(dialect.contract), fail_on="warning")

    bytecode = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-bytecode-"))
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}  # compiled by the first round, as by an installation
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def call(*arguments: str) -> None:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([sys.executable, *arguments], check=True, env=environment, **silent)

    def audit_cold() -> None:
        told = ("audit", "topic", TOPIC, "-b", broker.bootstrap, "--contract", dialect.contract, "--engine", "local")
        call("-m", "cdc_contracts.cli", *told)

    return {
        COUNT: lambda: reader.option("subscribe", TOPIC).load().count(),
        TOPIC_AUDIT: audit,
        CONSUMER: lambda: call(str(Path(peers.__file__)), "consume", broker.bootstrap, TOPIC),
        COLD: audit_cold,
    }


def validation(reference: str) -> object:
    """Return what messages of Canal are validated in."""
    return DIALECTS[CANAL].validation(reference)


def discard(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def canal_schema() -> T.StructType:
    """The struct a user would write for this table."""
    kinds = {
        "id": T.DecimalType(20, 0), "total": T.DecimalType(20, 2), "rate": T.DoubleType(), "quantity": T.IntegerType(),
    }  # fmt: skip
    row = T.StructType([T.StructField(name, kinds.get(name, T.StringType())) for name in ORDERS.types])
    names = T.MapType(T.StringType(), T.StringType())
    return T.StructType([
        T.StructField("database", T.StringType()), T.StructField("table", T.StringType()),
        T.StructField("type", T.StringType()), T.StructField("isDdl", T.BooleanType()),
        T.StructField("es", T.LongType()), T.StructField("ts", T.LongType()), T.StructField("sql", T.StringType()),
        T.StructField("pkNames", T.ArrayType(T.StringType())), T.StructField("mysqlType", names),
        T.StructField("sqlType", T.MapType(T.StringType(), T.IntegerType())),
        T.StructField("data", T.ArrayType(row)), T.StructField("old", T.ArrayType(row)),
    ])  # fmt: skip


def debezium_schema() -> T.StructType:
    """The same for Debezium's messages, as its connector for MySQL writes this table by default."""
    kinds = {
        "id": T.LongType(), "rate": T.DoubleType(), "quantity": T.IntegerType(), "day": T.IntegerType(),
        "at": T.LongType(), "made": T.LongType(),
    }  # fmt: skip
    row = T.StructType([T.StructField(name, kinds.get(name, T.StringType())) for name in ORDERS.types])
    source = T.StructType([
        T.StructField("version", T.StringType()), T.StructField("connector", T.StringType()),
        T.StructField("db", T.StringType()), T.StructField("table", T.StringType()),
        T.StructField("ts_ms", T.LongType()), T.StructField("file", T.StringType()),
        T.StructField("pos", T.LongType()), T.StructField("snapshot", T.StringType()),
    ])  # fmt: skip
    return T.StructType([
        T.StructField("before", row), T.StructField("after", row), T.StructField("source", source),
        T.StructField("op", T.StringType()), T.StructField("ts_ms", T.LongType()),
    ])  # fmt: skip


DIALECTS = {
    CANAL: Dialect(
        NEW, "oms-community/canal@1", canal_schema, "data[0]", ("type", "database", "table", "es"),
        ("data", "old"), "canal-json",
    ),
    "debezium": Dialect(
        "debezium/json@4", "debezium/json@3", debezium_schema, "after", ("op", "source.db", "source.table", "ts_ms"),
        ("after", "before"), "debezium-json", ReadingOptions(tables=own_table(), table="shop.orders"), OPTIONS,
    ),
}  # fmt: skip


def measure(
    ways: dict[str, Callable[[], object]], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Run every way once to warm up, then in turn; returns wall and CPU seconds per round."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, run in ways.items():
            started, used = time.perf_counter(), cpu_of_tree()
            run()
            wall, work = time.perf_counter() - started, cpu_of_tree() - used
            say(f"{'warm-up' if number == 0 else f'round {number}'}: {name}: {wall:.2f} s, {work:.2f} CPU s")
            if number:
                seconds[name].append(wall)
                cpu[name].append(work)
    return seconds, cpu


def judge_one_by_one(captured: Path, dialect: Dialect) -> tuple[float, int]:
    """Records a second of `jsonschema` alone, message by message, without values or rules."""
    values = pq.ParquetFile(captured).read_row_group(0, columns=["value"]).column("value").to_pylist()[:SCHEMA_SAMPLE]
    validator = open_validator(shipped_catalogue().version(dialect.contract).schema)
    started = time.perf_counter()
    for value in values:
        list(validator.iter_errors(parse_message(value)))
    return len(values) / (time.perf_counter() - started), len(values)


def print_table(
    messages: int,
    captured: Path,
    seconds: dict[str, list[float]],
    cpu: dict[str, list[float]],
    rate: float,
    sample: int,
) -> None:
    sizes = pq.ParquetFile(captured).read_row_group(0, columns=["value"]).column("value")
    mean = sum(map(len, sizes.to_pylist())) / len(sizes)
    rounds = len(next(iter(seconds.values())))
    print(f"\n{machine()}\n{messages:,} messages of {mean:.0f} bytes, 12 typed columns, median of {rounds} rounds\n")
    print("| method | records/s | wall s | CPU s (range) | CPU µs a record |\n|---|---|---|---|---|")
    for name, times in cpu.items():
        wall, work = statistics.median(seconds[name]), statistics.median(times)
        spread, each = f"{work:.2f} ({min(times):.2f} to {max(times):.2f})", work / messages * 1e6
        print(f"| {name} | {messages / wall:,.0f} | {wall:.2f} | {spread} | {each:.1f} |")
    print(f"| jsonschema message by message, envelope only ({sample:,} messages, one core) | {rate:,.0f} | | | |")
    print("\n| ratio of CPU seconds | per round | median | goal |\n|---|---|---|---|")
    for ours, base, bound in WANTED:
        if ours in cpu and base in cpu:
            print_ratio(f"{ours} / {base}", cpu[ours], cpu[base], bound)
    if COUNT in seconds:
        print_ratio(f"{TOPIC_AUDIT} / {COUNT}, wall time", seconds[TOPIC_AUDIT], seconds[COUNT], 1.4)


def print_costs(
    messages: int, read: int, cpu: dict[str, list[float]], written: Mapping[str, int], price: float | None
) -> None:
    """Print what 10^9 such messages take, as CPU seconds and bytes grow with their number."""
    print("\n| 10^9 messages | CPU hours | GB read | GB written |" + ("" if price is None else " price |"))
    print("|---|---|---|---|" + ("" if price is None else "---|"))
    for name, times in cpu.items():
        hours = statistics.median(times) / messages * 1e9 / 3600
        out = f"{written[name] / messages:,.0f}" if name in written else ""
        cost = "" if price is None else f" {hours * price:.2f} |"
        print(f"| {name} | {hours:.2f} | {read / messages:,.0f} | {out} |{cost}")


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def print_ratio(title: str, ours: list[float], base: list[float], bound: float | None) -> None:
    ratios = [mine / theirs for mine, theirs in zip(ours, base, strict=True)]
    wanted = "" if bound is None else f"at most {bound}"
    print(f"| {title} | {', '.join(f'{ratio:.2f}' for ratio in ratios)} | {statistics.median(ratios):.2f} | {wanted} |")


def machine() -> str:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr.splitlines()[0]
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {java}"
    )


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
