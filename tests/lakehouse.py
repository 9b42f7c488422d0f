"""Rows of typed histories, written by hand."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema

WHEN = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


def change(
    op, offset, *, before=None, after=None, position=None, absent=(), raw=(), part=None, partition=0, contract="a/b@1"
):
    """A row of a history."""
    return {
        "_op": op, "_event_time": WHEN, "_position": position, "_update_part": part, "_topic": "t",
        "_partition": partition, "_offset": offset, "_row_index": 0, "_contract": contract, "_undecided": False,
        "_absent": list(absent), "_raw": list(raw), "before": before, "after": after,
    }  # fmt: skip


def typed(spark, layout, changes):
    """Rows of a history as a DataFrame."""
    rows = pa.Table.from_pylist(changes, schema=layout.arrow)
    return spark.createDataFrame(rows, spark_schema(layout.arrow))
