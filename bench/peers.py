"""What others do with the messages of `bench/run.py`: DuckDB, jsonschema, datacontract-cli, Flink and a bare consumer.

`python bench/peers.py consume BOOTSTRAP TOPIC` reads a topic to its end with librdkafka and keeps nothing.
`python bench/peers.py flink MESSAGES OUT` reads lines by Flink's `canal-json`, in an environment that has PyFlink.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CHUNK = 10_000
PATIENCE_SECONDS = 1

IMAGE = {
    "id": "DECIMAL(20,0)", "total": "DECIMAL(20,2)", "rate": "DOUBLE", "quantity": "INTEGER",
}  # fmt: skip
"""The columns that messages hold as numbers; all others hold texts."""


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


def write_by_duckdb(lines: Path, out: Path, columns: list[str], threads: int) -> None:
    """Read lines with the struct that a user would write for this table, and write its after images as Parquet."""
    import duckdb

    image = ", ".join(f'"{name}" {IMAGE.get(name, "VARCHAR")}' for name in columns)
    members = {
        "type": "VARCHAR", "database": "VARCHAR", "table": "VARCHAR", "es": "BIGINT",
        "data": f"STRUCT({image})[]", "old": f"STRUCT({image})[]",
    }  # fmt: skip
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {threads}")
        connection.execute(
            f'COPY (SELECT type, database, "table", es, data[1] AS after '  # noqa: S608  names of our own
            f"FROM read_json('{lines}', "
            f"format = 'newline_delimited', columns = {members!r})) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
        )
    out.unlink()


def check_by_datacontract(python: Path, lines: Path, out: Path, columns: list[str]) -> None:
    """Test lines against a data contract that names the members and the types of the columns."""
    image = "\n".join(f"            - {{name: {name}, logicalType: {_contract_type(name)}}}" for name in columns)
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


def _contract_type(name: str) -> str:
    kinds = {"DOUBLE": "number", "INTEGER": "integer"}
    return kinds.get(IMAGE.get(name, ""), "number" if name in IMAGE else "string")


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


def read_by_flink(lines: str, out: str) -> None:
    """Read lines as a changelog by `canal-json` and let it go: the wheel has no format for Parquet."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("parallelism.default", "2")
    columns = ", ".join(f"`{name}` {kind}" for name, kind in _flink_columns(out))
    read = f"'connector' = 'filesystem', 'path' = '{lines}', 'format' = 'canal-json'"
    environment.execute_sql(f"CREATE TABLE source ({columns}) WITH ({read})")
    environment.execute_sql(f"CREATE TABLE sink ({columns}) WITH ('connector' = 'blackhole')")
    environment.execute_sql("INSERT INTO sink SELECT * FROM source").wait()


def _flink_columns(names: str) -> list[tuple[str, str]]:
    kinds = {"VARCHAR": "STRING"}
    return [(name, kinds.get(kind := IMAGE.get(name, "VARCHAR"), kind)) for name in names.split(",")]


def run_flink(python: Path, lines: Path, columns: list[str]) -> None:
    """Run `read_by_flink` by the Python that has PyFlink."""
    subprocess.run([python, __file__, "flink", str(lines), ",".join(columns)], check=True, stdout=subprocess.DEVNULL)


def has(python: Path | None, command: str) -> bool:
    """Return whether a Python is given whose environment has a command."""
    return python is not None and shutil.which(command, path=str(python.parent)) is not None


if __name__ == "__main__":
    if sys.argv[1] == "consume":
        print(consume(*sys.argv[2:]))
    else:
        read_by_flink(*sys.argv[2:])
