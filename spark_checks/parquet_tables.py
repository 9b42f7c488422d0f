"""Typed tables as Parquet files: each run's below its own folder of each table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cdc_contracts.registry.canonical.layouts import Layouts
from cdc_contracts.spark_checks.sinks import Part, Place
from cdc_contracts.spark_checks.typed_tables import TypedWrite, WriteKey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ParquetTables:
    """Files of typed rows that count by the record of their run, so that writing them again is harmless."""

    name = "parquet"

    def write(
        self, session: SparkSession, place: Place, key: WriteKey, changes: Sequence[Part], layouts: Layouts
    ) -> TypedWrite:
        """Write the rows of the changes files, typed, to the table of each layout."""
        if not layouts:
            return TypedWrite()
        raise NotImplementedError
