"""Arrow schemas converted to Spark schemas, and Spark types to Arrow types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the Spark schema; a timestamp without zone stays one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def arrow_type(kind: DataType) -> pa.DataType:
    """Return the Arrow type of a Spark type."""
    from pyspark.sql.pandas.types import to_arrow_type

    return to_arrow_type(kind)
