"""Every column of typed tables, fast path against reference, for every version.

The reference says which texts an image has and which of them do not have their form; what a type holds of a text is
read once more here, value by value and with nothing of ours.
"""

from __future__ import annotations

import base64
import math
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from mutations import replaced, to_json
from output_rows import ReferenceRow, by_reference, records_of
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.core.validate.validation_context import open_validation

VERSIONS = list(CATALOGUE.all_versions())
TERMS = ReadingOptions(tables=WITH_TABLES.tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
ALL = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
"""Otherwise each column of an image is given half of the times that do not exist, the next one the other half."""
TIMES = ("day", "at", "made", "seen")
NO_TIMES = (
    "0000-00-00", "0000-00-00 00:00:00", "2020-02-30", "2020-02-30 10:00:00", "2020-02-30T10:00", "25:61:61",
    "Date 2020-02-30", "DateTime 2020-02-30", "DateTime 0000-00-00 00:00:00", "Timestamp -9223372022400",
)  # fmt: skip
"""Dates and times that do not exist, as the dialects write them, and one where a time stands for none."""
WITHOUT_INVALID_VALUES = {
    "dataworks/streamx", "dts/shareplex", "oms-community/debezium", "oms/debezium", "oms/debezium-flatten",
    "oms/debezium-smt",
    "debezium/flat", "debezium/flat-schema", "debezium/json", "debezium/json-schema", "debezium/mongodb",
    "debezium/mongodb-schema",
    "aws-dms/json", "flink-cdc/canal-json", "flink-cdc/debezium-json", "goldengate/json", "goldengate/json-row",
    "ticdc/avro", "ticdc/debezium", "ticdc/debezium-payload",
}  # fmt: skip
"""Dialects that write every time as a number, or dates as any other text: nothing in them is a date that is none."""


def stream(version, count: int) -> list[bytes]:
    return rendered(version.reference, count, seed=9, snapshot=4, reading_options=TERMS)


def with_times_that_do_not_exist(version) -> Iterator[bytes]:
    """Yield an update, with a time that does not exist in one image, where the other image has one that does."""
    wire, images = open_transport(version, TERMS), [split_pointer(at) for at in version.meaning.images.pointers()]
    messages = [wire.open(value) for value in stream(version, 40)]
    whole = [message for message in messages if all(rows_at(message, image) for image in images)] or messages
    for side, image in enumerate(images):
        row = rows_at(whole[-1], image)
        for number, name in enumerate(TIMES if row else (), side):
            for text in NO_TIMES if ALL else NO_TIMES[number % 2 :: 2]:
                at = (*row, name)
                try:
                    yield wire.write(to_json(replaced(whole[-1], at, text)))
                except Exception:  # noqa: BLE001  whatever keeps a message from being a record
                    continue


def rows_at(message: Any, image: tuple[str, ...]) -> tuple[str | int, ...]:
    """Return the place of the first row of an image; empty where it holds none, or is the message itself."""
    found = follow(message, image)
    if isinstance(found, list):
        return (*image, 0) if found and isinstance(found[0], dict) else ()
    return image if isinstance(found, dict) and found else ()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_write_the_same_into_every_column_of_typed_tables(version, part):
    validation = open_validation(CATALOGUE, version.reference, TERMS)
    records = records_of(
        [*part(samples(version), 9), *part(stream(version, 24), 9), *with_times_that_do_not_exist(version)]
    )
    observed, changes = ObservedColumns(), []
    for written in Kernel(validation).decode(records):
        observed.merge(written.observed)
        changes += pa.Table.from_batches([written.changes]).to_batches()
    layouts = resolve_layouts({}, TableContracts(()), observed, {})
    told: dict[TableName, list[ReferenceRow]] = {}
    for one in by_reference(validation, records)["changes"]:
        told.setdefault(TableName(one.row.database, one.row.schema, one.row.table or ""), []).append(one)

    whole = pa.Table.from_batches(changes, CHANGES_SCHEMA).combine_chunks().to_batches()[0]
    tables = {name: type_rows(rows, layouts[name])[0] for name, rows in split_by_table(whole)}

    assert tables.keys() == told.keys()
    for name, rows in tables.items():
        expected = [typed_row(one, layouts[name]) for one in told[name]]
        for field in layouts[name].arrow:
            found = rows.column(field.name).to_pylist()
            if field.name == "_raw":
                found = list(map(dict, found))
            for mine, wanted, one in zip(found, expected, told[name], strict=True):
                assert comparable(mine) == comparable(wanted[field.name]), (name, field.name, one.record["value"])
    one_sided = [one for rows in told.values() for one in rows if is_one_sided(one)]
    assert bool(one_sided) == (version.subject not in WITHOUT_INVALID_VALUES)


def is_one_sided(told: ReferenceRow) -> bool:
    """Say whether a row has a value that does not exist beside one of the same column that does."""
    return any(
        name in (told.row.before or ()) and name in (told.row.after or ())
        and len({f"before.{name}", f"after.{name}"} & set(told.row.invalid_values)) == 1
        for name in told.row.invalid
    )  # fmt: skip


# --- a typed row, from what the reference says


def typed_row(told: ReferenceRow, layout: TableLayout) -> dict[str, Any]:
    change, kept_as_text = told.row, set(told.row.invalid_values)
    row = {f"_{name}": getattr(change, name) for name in UNCHANGED}
    row |= {f"_{name}": instant(getattr(change, name)) for name in ("event_time", "process_time")}
    row |= {f"_{name}": told.record[name] for name in ("topic", "partition", "offset")}
    row |= {
        "_row_index": told.index, "_contract": told.contract, "_undecided": told.validated.verdict.undecided,
        "_absent": [], "_raw": {},
    }  # fmt: skip
    for side in ("before", "after"):
        image, values = getattr(change, side), {}
        for column in layout.columns if image is not None else ():
            path, text = f"{side}.{column.name}", image.get(column.name)
            if column.name not in image:
                row["_absent"].append(path)
            as_text = path in kept_as_text or (
                pa.types.is_binary(column.type) and column.name not in (change.column_types or {})
            )
            values[column.name] = None if text is None or as_text else read(text, column.type)
            if text is not None and values[column.name] is None:
                row["_raw"][path] = text
        known = {column.name for column in layout.columns}
        row["_raw"] |= {f"{side}.{name}": text for name, text in (image or {}).items() if name not in known}
        if layout.columns:
            row[side] = None if image is None else values
    return row


UNCHANGED = ("op", "tenant", "event_time_text", "position", "transaction", "update_part", "pair_id", "changed")


def instant(micros: int | None) -> datetime | None:
    return None if micros is None else pa.scalar(micros, pa.timestamp("us", tz="UTC")).as_py()


def read(text: str, type_: pa.DataType) -> Any:
    """Return the value that a type holds of a canonical text; None where it does not hold it exactly."""
    told = next(reader for holds, reader in READERS if holds(type_))
    try:
        return told(text, type_)
    except ValueError:
        return None


def read_whole(text: str, type_: pa.DataType) -> int | None:
    value = int(text) if re.fullmatch("0|-?[1-9][0-9]*", text, re.ASCII) else None
    return value if value is not None and -(2**63) <= value < 2**63 else None


def read_year(text: str, type_: pa.DataType) -> int | None:
    return int(text) if re.fullmatch("[0-9]{4}", text, re.ASCII) else None


def read_decimal(text: str, type_: pa.DataType) -> Decimal | None:
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?", text, re.ASCII):
        return None
    value = Decimal(text)
    whole, _, fraction = text.lstrip("-").partition(".")
    fits = len(whole.lstrip("0")) <= type_.precision - type_.scale and len(fraction.rstrip("0")) <= type_.scale
    return value if fits else None


def read_float(text: str, type_: pa.DataType) -> float | None:
    if text in ("NaN", "Infinity", "-Infinity"):
        return float(text)
    if not re.fullmatch(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]+)?(e[+-][1-9][0-9]{0,2})?", text, re.ASCII):
        return None
    value, digits = float(text), Decimal(text).normalize().as_tuple().digits
    kept = math.isfinite(value) and len(digits) <= 17 and (value != 0 or digits == (0,))
    return value if kept else None


def read_bool(text: str, type_: pa.DataType) -> bool | None:
    return {"true": True, "false": False}.get(text)


def read_bytes(text: str, type_: pa.DataType) -> bytes | None:
    data = base64.b64decode(text, validate=True)
    return data if base64.b64encode(data).decode() == text else None


def read_date(text: str, type_: pa.DataType) -> date | None:
    return date.fromisoformat(text) if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) else None


def read_moment(text: str, type_: pa.DataType) -> datetime | None:
    pattern = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?" + ("Z" if type_.tz else "")
    if not re.fullmatch(pattern, text, re.ASCII):
        return None
    whole, _, fraction = text.removesuffix("Z").partition(".")
    moment = datetime.fromisoformat(whole).replace(microsecond=int(fraction.ljust(6, "0")))
    return moment.replace(tzinfo=UTC) if type_.tz else moment


READERS: list[tuple[Callable[[pa.DataType], bool], Callable[[str, pa.DataType], Any]]] = [
    (pa.types.is_string, lambda text, _: text), (pa.types.is_int64, read_whole), (pa.types.is_int32, read_year),
    (pa.types.is_decimal, read_decimal), (pa.types.is_floating, read_float), (pa.types.is_boolean, read_bool),
    (pa.types.is_binary, read_bytes), (pa.types.is_date, read_date), (pa.types.is_timestamp, read_moment),
]  # fmt: skip


def comparable(value: Any) -> Any:
    """Return a value in which no number is unlike itself."""
    if isinstance(value, dict):
        return {name: comparable(one) for name, one in value.items()}
    return "NaN" if isinstance(value, float) and math.isnan(value) else value
