"""Connectors: the jars and session settings that a table format needs besides Spark itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.spark_checks.spark.jars import spark_versions

if TYPE_CHECKING:
    from pyspark import SparkConf

EXTENSIONS: Final = "spark.sql.extensions"


@dataclass(frozen=True)
class Connector:
    """The connector of a format.

    `packages` are coordinates by the Spark version they are built for; `provider` is a class of the connector, to
    test whether it is present. `extension` is added to the extensions of the session, `settings` to its settings;
    both have to be set before the session starts.
    """

    format: str
    packages: Mapping[str, str]
    provider: str
    extension: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def package(self) -> str:
        """Return the coordinates for the Spark that is installed.

        Raises UnavailableError if none are known.
        """
        _, spark = spark_versions()
        found = self.packages.get(".".join(spark.split(".")[:2]))
        if found is None:
            raise UnavailableError(
                f"no {self.format} connector is known for Spark {spark}",
                where=f"known for Spark {', '.join(self.packages)}",
                hint="Give a compatible one with --packages GROUP:ARTIFACT:VERSION or --jars.",
            )
        return found

    def prepare(self, conf: SparkConf) -> None:
        """Complete the settings of a session before it starts.

        Raises UsageError if the user has set one of them to something else.
        """
        if self.extension is not None:
            named = [name.strip() for name in (conf.get(EXTENSIONS) or "").split(",") if name.strip()]
            if self.extension not in named:
                conf.set(EXTENSIONS, ",".join([*named, self.extension]))
        for name, value in self.settings.items():
            if (found := conf.get(name) or value) != value:
                raise UsageError(
                    f"{self.format} tables need {name}={value}",
                    where=f"it is set to {found}",
                    hint="Remove this setting, or write the tables in another format.",
                )
            conf.set(name, value)

    def check(self, get: Callable[[str], str | None]) -> None:
        """Raise UnavailableError if a running session lacks the settings; they cannot be added to it."""
        missing = {name: value for name, value in self.settings.items() if get(name) != value}
        if self.extension is not None and self.extension not in (get(EXTENSIONS) or ""):
            missing[EXTENSIONS] = self.extension
        if missing:
            wanted = " ".join(f"--conf {name}={value}" for name, value in sorted(missing.items()))
            raise UnavailableError(
                f"the running Spark session cannot write {self.format} tables",
                where=f"it lacks {', '.join(sorted(missing))}",
                hint=f"Start Spark with {wanted}.",
            )


CONNECTORS: Final[Mapping[str, Connector]] = {
    "delta": Connector(
        "delta",
        {"4.0": "io.delta:delta-spark_2.13:4.0.0", "4.1": "io.delta:delta-spark_4.1_2.13:4.1.0"},
        "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "io.delta.sql.DeltaSparkSessionExtension",
        {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"},
    ),
    # Its catalogs are settings of queries, not of the session, and Spark itself can merge.
    "iceberg": Connector(
        "iceberg",
        # With Spark 4.1.1 and Iceberg 1.11.0 the MERGE of current rows has no plan.
        {"4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0"},
        "org.apache.iceberg.spark.SparkCatalog",
    ),
}
"""By the format's name in `--table-format`. Parquet is not listed: it needs no connector."""
