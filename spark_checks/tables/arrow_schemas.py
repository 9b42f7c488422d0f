"""Arrow schemas as Spark has them, and types of Spark as Arrow has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the schema as Spark writes it; a timestamp without zone stays one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def arrow_type(kind: DataType) -> pa.DataType:
    """Return a type of Spark as Arrow writes it."""
    from pyspark.sql.pandas.types import to_arrow_type

    return to_arrow_type(kind)
