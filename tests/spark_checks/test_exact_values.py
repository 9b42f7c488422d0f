"""Values that Hypothesis makes go through broker, Spark and tables, and are read back as they were.

`CDC_EXACT_VALUES=1 pytest tests/spark_checks/test_exact_values.py` is the long form: in Delta and Iceberg as many
as in Parquet.
"""

import base64
import os
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import duckdb
import pytest
from canonical_outputs import read_table, table_files
from changelogs import REFERENCE
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.tables.lakehouse.lakehouse_tables import open_lakehouse
from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import HISTORY

DIGITS = 38
WHOLE = "CDC_EXACT_VALUES" in os.environ
ROWS = 260 if WHOLE else 80
"""Each row has a decimal of every scale, and as many wall-clock times, instants and byte strings: 10,140 of each, or 3,120."""
SCALES_OF_A_LAKEHOUSE = range(DIGITS + 1) if WHOLE else (0, 19, 38)
ROWS_OF_A_LAKEHOUSE = ROWS if WHOLE else 30

TYPES = {
    f"{kind}_{number}": reported.format(number)
    for number in range(DIGITS + 1)
    for kind, reported in (("exact", f"decimal({DIGITS},{{}})"), ("wall", "datetime(6)"), ("instant", "timestamp(6)"), ("bytes", "blob"))
}  # fmt: skip
TABLE = SourceTable("values", TYPES, database="exact")

UNITS = st.integers(-(10**DIGITS) + 1, 10**DIGITS - 1) | st.integers(0, DIGITS).map(lambda digits: 10**digits - 1)
WALLS = st.datetimes()  # years 1 to 9999
EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
INSTANTS = st.datetimes(min_value=EPOCH)  # the dialect counts seconds since then
BYTES = st.binary(max_size=40)
ROW = st.tuples(
    *(st.lists(kind, min_size=DIGITS + 1, max_size=DIGITS + 1, unique=True) for kind in (UNITS, WALLS, INSTANTS, BYTES))
)


@pytest.fixture(scope="module")
def values():
    """The rows: by column the value that the source holds."""
    made = []

    @settings(max_examples=ROWS, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(ROW)
    def make(row):
        made.append(row)

    make()
    rows = []
    for units, walls, instants, strings in made[:ROWS]:
        row = {}
        for number in range(DIGITS + 1):
            row[f"exact_{number}"] = Decimal((units[number] < 0, tuple(map(int, str(abs(units[number])))), -number))
            row[f"wall_{number}"] = walls[number]
            row[f"instant_{number}"] = instants[number].replace(tzinfo=UTC)
            row[f"bytes_{number}"] = strings[number]
        rows.append(row)
    return rows


def canonical(value):
    """The value as canonical text, written here by hand."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else "")
    return f"{value:f}".replace("-0", "0") if not value else f"{value:f}"


def write_topic(make_topic, table, values):
    """A topic of inserts, one for each row."""
    renderer = Renderer(CATALOGUE.version(REFERENCE), ReadingOptions())
    events = [
        Event("insert", table, None, {name: canonical(value) for name, value in row.items()}, 0, 0, str(number))
        for number, row in enumerate(values)
    ]
    return make_topic([(number % 2, renderer.render(event)) for number, event in enumerate(events)], partitions=2)


def test_thousands_of_decimals_times_and_byte_strings_are_read_back_as_they_were(
    engine, broker, make_topic, values, tmp_path
):
    assert len(values) * (DIGITS + 1) >= 3_000
    topic = write_topic(make_topic, TABLE, values)
    source = read_topics(engine, broker.bootstrap, [topic], parse_range(), {})
    decoded = decode_input(engine, source, scope_of(REFERENCE), Output(str(tmp_path)), fail_on="error")
    assert decoded.report.ledger.conforming == len(values)

    check_files(tmp_path, values)


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def test_values_in_delta_and_iceberg_are_read_back_as_they_were_with_and_without_spark(
    spark, broker, make_topic, values, tmp_path, table_format
):
    names = [name for name in TYPES if int(name.split("_")[1]) in SCALES_OF_A_LAKEHOUSE]
    values = [{name: row[name] for name in names} for row in values[:ROWS_OF_A_LAKEHOUSE]]
    table, tables = (
        replace(TABLE, types={name: TYPES[name] for name in names}),
        open_lakehouse(table_format, str(tmp_path)),
    )
    source = read_topics(
        SparkEngine(spark), broker.bootstrap, [write_topic(make_topic, table, values)], parse_range(), {}
    )
    decode_input(SparkEngine(spark), source, scope_of(REFERENCE), Output(str(tmp_path), tables), fail_on="error")

    check_files(tmp_path, values)
    found = spark.table(tables.addresses.find(HISTORY, TableName("exact", None, "values")))
    assert found.orderBy(found._position.cast("bigint")).select("after.*").toArrow().to_pylist() == values


def check_files(directory, values):
    """The files that count hold the values, as pyarrow and DuckDB read them, and of the types they should have."""
    rows = read_table(directory, "exact.values")
    assert [row["after"] for row in sorted(rows, key=lambda row: int(row["_position"]))] == values
    assert not any(row["_raw"] for row in rows)

    duckdb.sql("SET TimeZone = 'UTC'")
    read = duckdb.sql(
        f"SELECT after.* FROM read_parquet({table_files(directory, 'exact.values')}) ORDER BY _position::BIGINT"
    )
    reported = dict(zip(read.columns, map(str, read.types), strict=True))
    assert {name: reported[name] for name in ("exact_19", "wall_19", "instant_19", "bytes_19")} == {
        "exact_19": "DECIMAL(38,19)", "wall_19": "TIMESTAMP", "instant_19": "TIMESTAMP WITH TIME ZONE",
        "bytes_19": "BLOB",
    }  # fmt: skip
    assert read.to_arrow_table().to_pylist() == values
