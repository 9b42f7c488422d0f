"""Connect engine: the work of a run over Spark Connect, where a client has neither a JVM nor a context of its own.

The plans and the functions in them are those of the Spark engine. Offsets come from the Kafka client of this
process instead of the JVM. Nothing counts what tasks have done so far, so there is no progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.extras import install_command
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.kafka.offsets import Limits, Range
from cdc_contracts.spark_checks.spark.cluster_workers import check_workers
from cdc_contracts.spark_checks.spark.connectors import CONNECTORS
from cdc_contracts.spark_checks.tasks.spark_tasks import TaskCount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ConnectEngine(SparkEngine):
    """The engine of a session of Spark Connect."""

    def counter(self) -> TaskCount:
        return LOCAL.counter()

    def topics(self, bootstrap: str, properties: Mapping[str, str]) -> list[str]:
        return LOCAL.topics(bootstrap, properties)

    def topic_ids(self, bootstrap: str, topics: Sequence[str], properties: Mapping[str, str]) -> dict[str, str]:
        return LOCAL.topic_ids(bootstrap, topics, properties)

    def resolve(self, bootstrap: str, ranges: Mapping[str, Range], properties: Mapping[str, str]) -> dict[str, Limits]:
        return LOCAL.resolve(bootstrap, ranges, properties)


def open_remote(url: str, *, formats: Sequence[str] = (), say: Callable[[str], None]) -> SparkSession:
    """Return a session of a Spark Connect server whose workers have been seen to import this package.

    Raises UnavailableError if the client's libraries are missing, the server does not answer or has not the settings
    that a format needs, or its workers cannot do the work.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.remote(url).getOrCreate()
        session.conf.set("spark.sql.session.timeZone", "UTC")
    except ImportError as error:
        raise UnavailableError(
            f"Spark Connect needs more libraries: {str(error).strip().splitlines()[0]}",
            where=url,
            hint=f"Run `{install_command('connect')}`.",
        ) from error
    except (PySparkException, ValueError, OSError) as error:
        raise UnavailableError(
            "the Spark Connect server does not answer", where=url, hint=str(error).strip().splitlines()[0]
        ) from error
    for name in formats:
        if name in CONNECTORS:
            CONNECTORS[name].check(partial(session.conf.get, default=None))
    check_workers(session, say)
    return session
