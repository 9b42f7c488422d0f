"""Server metrics for Prometheus. Labels are bounded: route templates, known methods, status codes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Scope

from cdc_contracts.registry.server.service.exchanges import Exchanges

PREFIX: Final = "cdc_contracts"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
UNMATCHED: Final = "(none)"
"""The route label of a request that matches no endpoint."""
_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_WORDS: Final = {
    "schemas": "Stored schemas, in all contexts.",
    "subjects": "Subjects with a version that is not deleted.",
    "versions": "Versions that are not deleted.",
}


class ServerMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the series, and nobody asks when one began
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter(
            f"{PREFIX}_requests", "Answered requests.", ["method", "route", "code"], registry=self._registry
        )
        self.seconds = Histogram(
            f"{PREFIX}_request_seconds",
            "Time from a request to the end of its response.",
            ["method", "route"],
            buckets=_BOUNDS,
            registry=self._registry,
        )
        self._store = Histogram(
            f"{PREFIX}_store_seconds",
            "Duration of transactions on the store, by read or write.",
            ["kind"],
            buckets=_BOUNDS,
            registry=self._registry,
        )

    def count_contents(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """Add gauges of schemas, subjects and versions, counted at each scrape."""
        self._registry.register(_Contents(counts))

    @contextmanager
    def store_time(self, kind: str) -> Iterator[None]:
        """Measure the duration of a store transaction."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._store.labels(kind).observe(time.perf_counter() - begun)

    def expose(self, accept: str | None) -> tuple[bytes, str]:
        """Return the metrics as text, and its media type."""
        encoder, media_type = choose_encoder(accept or "")
        return encoder(self._registry), media_type


class Monitoring(Exchanges):
    """Counts and measures requests."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    def note(self, scope: Scope, status: int, spent: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        route = scope.get("state", {}).get("route") or UNMATCHED
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.seconds.labels(method, route).observe(spent)


class _Contents:
    def __init__(self, counts: Callable[[], Mapping[str, int]]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        try:
            counts = self._counts()
        except SQLAlchemyError:  # the other metrics are needed most when the store is down
            return
        for name, count in counts.items():
            yield GaugeMetricFamily(f"{PREFIX}_{name}", _WORDS[name], value=count)

    def describe(self) -> Iterator[Metric]:
        for name, words in _WORDS.items():
            yield GaugeMetricFamily(f"{PREFIX}_{name}", words)
