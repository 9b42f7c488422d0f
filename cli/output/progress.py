"""Progress of a run on a terminal: records, rate, remaining time, and quarantined records so far."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cdc_contracts.registry.report.audit_report import Span
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.spark_checks.spark_tasks import Watch

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.engines import Engine

_EVERY_SECONDS = 0.5


@contextmanager
def progress(engine: Engine, spans: Mapping[Source, Span]) -> Iterator[Watch | None]:
    """Show the progress while the body runs; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    watch = Watch(engine.counter(), engine.counter())
    total = sum(span.end - span.start for span in spans.values())
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(watch, total, done), daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()


def _show(watch: Watch, total: int, done: threading.Event) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    started = time.monotonic()
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        while not done.wait(_EVERY_SECONDS):
            live.update(Text(describe(watch.read.value, watch.quarantined.value, total, time.monotonic() - started)))


def describe(read: int, quarantined: int, total: int, seconds: float) -> str:
    """Return the progress line of a run; it advances as tasks or batches end."""
    if not read:
        return f"reading {total:,} offsets … {seconds:.0f} s"
    rate = read / seconds
    left = max(0, total - read) / rate
    return (
        f"{read:,} of {total:,} ({min(1.0, read / total):.0%}), {rate:,.0f} a second, "
        f"about {left:.0f} s to go, {quarantined:,} quarantined"
    )
