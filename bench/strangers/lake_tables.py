"""lake_tables.py TOOL FOLDER: make the table of each folder with one tool, load what decode wrote, and read it back."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

OWN = ("_op", "_topic", "_partition", "_offset", "_row_index")


def columns_of(rows: pa.Table) -> dict[str, list[object]]:
    """Return the values of the columns that are compared: coordinates, and the key and amount of the image after."""
    found = {name: rows.column(name).to_pylist() for name in OWN}
    if "after" in rows.column_names:
        images = rows.column("after").to_pylist()
        return {**found, **{name: [image and image[name] for image in images] for name in ("id", "amount")}}
    return {**found, **{name: rows.column(name).to_pylist() for name in ("id", "amount")}}


def clickhouse(here: Path, files: list[Path]) -> str | None:
    """Make the table in ClickHouse and load the files into it."""
    from chdb import session

    with tempfile.TemporaryDirectory() as place, session.Session(place) as database:
        database.query("CREATE DATABASE shop")
        database.query((here / "orders.clickhouse").read_text(encoding="utf-8"))
        for path in files:
            database.query(f"INSERT INTO shop.orders SELECT * FROM file('{path}', Parquet)")  # noqa: S608
        nested = "before" in pq.read_schema(files[0]).names
        read = ("after.id", "after.amount") if nested else ("id", "amount")
        wanted = ", ".join([*OWN, *(f"{one} AS {one.removeprefix('after.')}" for one in read)])
        query = f"SELECT {wanted} FROM shop.orders ORDER BY _topic, _partition, _offset, _row_index"  # noqa: S608
        found = pa.ipc.open_file(pa.py_buffer(database.query(query, "Arrow").bytes())).read_all()
    given = columns_of(pa.concat_tables([pq.read_table(path, partitioning=None) for path in files]))
    order = sorted(range(len(given["_offset"])), key=lambda at: [given[name][at] for name in OWN[1:]])
    for name, values in given.items():
        mine = [_text(one) for one in found.column(name).to_pylist()]
        if mine != [_text(values[at]) for at in order]:
            return f"{name} differs"
    return None


def iceberg(here: Path, files: list[Path]) -> str | None:
    """Read the schema with pyiceberg, and compare the columns it gives with those of the files."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyiceberg.schema import Schema

    text = (here / "orders.iceberg").read_text(encoding="utf-8")
    found = schema_to_pyarrow(Schema.model_validate_json(text), include_field_ids=False)
    held = pq.read_schema(files[0])
    for mine, theirs in zip(held, found, strict=True):
        if _plain(mine.type) != _plain(theirs.type) or theirs.name.lstrip("_") != mine.name.lstrip("_"):
            return f"{theirs} for {mine}"
        if mine.nullable != theirs.nullable:
            return f"{theirs} may be null, or not"
    return None


def delta(here: Path, files: list[Path]) -> str | None:
    """Make the table with deltalake, append the files and read them back."""
    from deltalake import DeltaTable, Schema, write_deltalake

    schema = Schema.from_json((here / "orders.delta").read_text(encoding="utf-8"))
    rows = pa.concat_tables([pq.read_table(path, partitioning=None) for path in files])
    with tempfile.TemporaryDirectory() as place:
        DeltaTable.create(place, schema)
        write_deltalake(place, rows, mode="append")
        found = DeltaTable(place).to_pyarrow_table()
    return None if columns_of(found) == columns_of(rows) else "other values"


def _text(value: object) -> str | None:
    return None if value is None else value.decode() if isinstance(value, bytes) else str(value)


def _plain(type_: pa.DataType) -> str:
    """Return a type as text, without the names of the parts of lists and maps, and of texts by their contents alone."""
    return re.sub(r" \('\w+'\)|large_", "", str(type_)).replace("<element: ", "<item: ").replace(" not null", "")


def main() -> int:
    tool, folder = {"clickhouse": clickhouse, "iceberg": iceberg, "delta": delta}[sys.argv[1]], Path(sys.argv[2])
    problems, found = [], sorted(folder.iterdir())
    for here in found:
        files = sorted(here.glob("tables/*/*/*.parquet"))
        try:
            problem = tool(here, files) if files else "no file"
        except Exception as error:  # noqa: BLE001  whatever a tool refuses
            problem = f"{type(error).__name__}: {str(error)[:400]}"
        if problem:
            problems.append(f"{here.name}: {problem}")
    print(json.dumps({"schemas": len(found), "compiled": len(found) - len(problems), "problems": problems}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
