"""Values that Hypothesis makes go through broker, Spark and tables, and are read back as they were."""

import base64
from datetime import UTC, datetime
from decimal import Decimal

import duckdb
import pytest
from canonical_outputs import read_table, table_files
from changelogs import REFERENCE
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.rendering import Event, Renderer, SourceTable
from cdc_contracts.registry.terms import Terms
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.offsets import parse_range
from cdc_contracts.spark_checks.sources import read_topics

DIGITS = 38
ROWS = 260
"""Each row has a decimal of every scale, and as many wall-clock times, instants and byte strings: 10,140 of each."""

TYPES = {
    f"{kind}_{number}": told.format(number)
    for number in range(DIGITS + 1)
    for kind, told in (("exact", f"decimal({DIGITS},{{}})"), ("wall", "datetime(6)"), ("instant", "timestamp(6)"), ("bytes", "blob"))
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


@pytest.fixture(scope="module")
def topic(make_topic, values):
    renderer = Renderer(CATALOGUE.version(REFERENCE), Terms())
    events = [
        Event("insert", TABLE, None, {name: canonical(value) for name, value in row.items()}, 0, 0, str(number))
        for number, row in enumerate(values)
    ]
    return make_topic([(number % 2, renderer.render(event)) for number, event in enumerate(events)], partitions=2)


def test_ten_thousand_decimals_times_and_byte_strings_are_read_back_as_they_were(
    spark, broker, topic, values, tmp_path
):
    assert len(values) * (DIGITS + 1) >= 10_000
    source = read_topics(spark, broker.bootstrap, [topic], parse_range(), {})
    decoded = decode_input(spark, source, scope_of(REFERENCE), Output(str(tmp_path)), fail_on="error")
    assert decoded.report["ledger"]["conforming"] == len(values)

    rows = read_table(tmp_path, "exact.values")
    assert [row["after"] for row in sorted(rows, key=lambda row: int(row["_position"]))] == values
    assert not any(row["_raw"] for row in rows)

    duckdb.sql("SET TimeZone = 'UTC'")
    read = duckdb.sql(
        f"SELECT after.* FROM read_parquet({table_files(tmp_path, 'exact.values')}) ORDER BY _position::BIGINT"
    )
    told = dict(zip(read.columns, map(str, read.types), strict=True))
    assert {name: told[name] for name in ("exact_7", "wall_7", "instant_7", "bytes_7")} == {
        "exact_7": "DECIMAL(38,7)", "wall_7": "TIMESTAMP", "instant_7": "TIMESTAMP WITH TIME ZONE", "bytes_7": "BLOB",
    }  # fmt: skip
    assert read.to_arrow_table().to_pylist() == values
