"""What others do with the messages of `bench/run.py`: DuckDB, jsonschema, datacontract-cli, Flink and a bare consumer.

`python bench/peers.py consume BOOTSTRAP TOPIC` reads a topic to its end with librdkafka and keeps nothing.
`python bench/peers.py flink FORMAT MESSAGES COLUMNS` reads lines by a format of Flink, where PyFlink is installed.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the Python of a peer has no Spark
    from pyspark.sql import types as T  # noqa: N812  as the whole world imports it

CHUNK = 10_000
PATIENCE_SECONDS = 1

SQL_TYPES = {"string": "VARCHAR", "bigint": "BIGINT", "int": "INTEGER"}
"""The types that SQL names otherwise than Spark."""


def write_lines(captured: Path) -> Path:
    """Write the messages of a capture as lines, once."""
    import pyarrow.parquet as pq

    target = captured.with_suffix(".jsonl")
    if not target.exists():
        aside = target.with_suffix(".part")
        with aside.open("wb") as lines:
            for batch in pq.ParquetFile(captured).iter_batches(CHUNK, columns=["value"]):
                lines.writelines(value + b"\n" for value in batch.column(0).to_pylist())
        aside.rename(target)
    return target


def sql_type(kind: T.DataType) -> str:
    """Return a type of Spark as DuckDB names it."""
    if kind.typeName() == "struct":
        return "STRUCT(" + ", ".join(f'"{field.name}" {sql_type(field.dataType)}' for field in kind) + ")"
    if kind.typeName() == "array":
        return f"{sql_type(kind.elementType)}[]"
    return SQL_TYPES.get(kind.simpleString(), kind.simpleString().upper())


def write_by_duckdb(lines: Path, out: Path, struct: T.StructType, chosen: str, threads: int) -> None:
    """Read lines with the struct that a user would write for this table, and write its after images as Parquet."""
    import duckdb

    members = {field.name: sql_type(field.dataType) for field in struct}
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {threads}")
        connection.execute(
            f"COPY (SELECT {chosen} FROM read_json('{lines}', "  # noqa: S608  names of our own
            f"format = 'newline_delimited', columns = {members!r})) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
        )
    out.unlink()


def check_by_datacontract(python: Path, lines: Path, out: Path, row: T.StructType) -> None:
    """Test lines against a data contract that names the members and the types of the columns."""
    image = "\n".join(f"            - {{name: {one.name}, logicalType: {_contract_type(one)}}}" for one in row)
    contract = out / "datacontract.yaml"
    contract.write_text(
        "apiVersion: v3.0.2\nkind: DataContract\nid: bench\nname: bench\nversion: 1.0.0\nstatus: active\n"
        f"servers:\n  - {{server: local, type: local, path: '{lines}', format: json, delimiter: new_line}}\n"
        "schema:\n  - name: messages\n    logicalType: object\n    physicalType: table\n    properties:\n"
        "      - {name: type, logicalType: string, required: true}\n"
        "      - {name: database, logicalType: string, required: true}\n"
        "      - {name: table, logicalType: string, required: true}\n"
        "      - {name: es, logicalType: integer, required: true}\n"
        "      - name: data\n        logicalType: array\n        items:\n          logicalType: object\n"
        f"          properties:\n{image}\n"
    )
    with (out / "datacontract.log").open("wb") as log:
        subprocess.run([python.with_name("datacontract"), "test", contract], check=False, stdout=log, stderr=log)


def _contract_type(field: T.StructField) -> str:
    kinds = {"string": "string", "int": "integer"}
    return kinds.get(field.dataType.simpleString(), "number")


def consume(bootstrap: str, topic: str) -> int:
    """Read a topic to the ends of its partitions; returns the number of records."""
    from confluent_kafka import Consumer, KafkaError

    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False,
        "auto.offset.reset": "earliest", "enable.partition.eof": True,
    })  # fmt: skip
    consumer.subscribe([topic])
    read, ended = 0, set()
    while not ended or len(ended) < len(consumer.assignment()):
        for message in consumer.consume(CHUNK, PATIENCE_SECONDS):
            error = message.error()
            if error is None:
                read += 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                ended.add(message.partition())
    consumer.close()
    return read


def read_by_flink(name: str, lines: str, columns: str) -> None:
    """Read lines as a changelog by a format of Flink and let it go: the wheel has no format for Parquet.

    The JVM is waited for, which PyFlink leaves alone, so that its CPU seconds count as those of this process.
    """
    from py4j.protocol import Py4JError
    from pyflink.java_gateway import get_gateway
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("parallelism.default", "2")
    read = f"'connector' = 'filesystem', 'path' = '{lines}', 'format' = '{name}'"
    environment.execute_sql(f"CREATE TABLE source ({columns}) WITH ({read})")
    environment.execute_sql(f"CREATE TABLE sink ({columns}) WITH ('connector' = 'blackhole')")
    environment.execute_sql("INSERT INTO sink SELECT * FROM source").wait()
    logging.disable()  # py4j tells at length that the JVM is gone
    with suppress(Py4JError):
        get_gateway().jvm.System.exit(0)
    os.wait()
    os._exit(0)  # objects of Java would look for their JVM


def run_flink(python: Path, name: str, lines: Path, row: T.StructType) -> None:
    """Run `read_by_flink` by the Python that has PyFlink."""
    kinds = {"VARCHAR": "STRING"}
    columns = ", ".join(f"`{one.name}` {kinds.get(kind := sql_type(one.dataType), kind)}" for one in row)
    subprocess.run([python, __file__, "flink", name, str(lines), columns], check=True, stdout=subprocess.DEVNULL)


def has(python: Path | None, command: str) -> bool:
    """Return whether a Python is given whose environment has a command."""
    return python is not None and shutil.which(command, path=str(python.parent)) is not None


if __name__ == "__main__":
    if sys.argv[1] == "consume":
        print(consume(*sys.argv[2:]))
    else:
        read_by_flink(*sys.argv[2:])
