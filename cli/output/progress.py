"""Progress of a run: records, rate, remaining time, and quarantined records so far.

A terminal shows one line that changes; elsewhere, as in the log of a scheduler, a line is written now and then.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.engines.engines import Engine

EVERY_SECONDS: Final = 0.5
LINE_SECONDS: Final = 10.0
"""How often a line is written if there is no terminal, in seconds."""
PATIENCE_SECONDS: Final = 10.0
"""After how many seconds without anything new the time left is no longer guessed."""
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE


@contextmanager
def progress(engine: Engine, spans: Mapping[Source, Span]) -> Iterator[Watch | None]:
    """Show the progress on stderr while the body runs; nothing with `-q`."""
    if console.is_quiet():
        yield None
        return
    watch = Watch(engine.counter(), engine.counter())
    total = sum(span.end - span.start for span in spans.values())
    done = threading.Event()
    show = _show_line if sys.stderr.isatty() else _write_lines
    thread = threading.Thread(target=show, args=(watch, total, done), daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        done.set()
        thread.join()


class _Course:
    """How far a run has come, and since when."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch, self._total = watch, total
        self._started = self._advanced = time.monotonic()
        self._read = 0

    def describe(self) -> str:
        """Return the progress line of this moment."""
        read, now = self._watch.read.value, time.monotonic()
        if read != self._read:
            self._read, self._advanced = read, now
        return describe(read, self._watch.quarantined.value, self._total, self._advanced - self._started,
                        waited=now - self._advanced)  # fmt: skip


def _show_line(watch: Watch, total: int, done: threading.Event) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    course = _Course(watch, total)
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        while not done.wait(EVERY_SECONDS):
            live.update(Text(course.describe()))


def _write_lines(watch: Watch, total: int, done: threading.Event) -> None:
    course = _Course(watch, total)
    while not done.wait(LINE_SECONDS):
        try:
            console.note(course.describe())
        except CdcContractsError:  # nobody reads it
            return


def describe(read: int, quarantined: int, total: int, seconds: float, *, waited: float = 0) -> str:
    """Return the progress line of a run; it advances as tasks or batches end.

    `seconds` is how long the run took to come so far, and `waited` how long ago that was: the last tasks may write for
    minutes, during which no time left is known.
    """
    if not read:
        return f"reading {total:,} offsets … {_duration(seconds + waited)}"
    share = f"{read:,} of {total:,} ({min(1.0, read / max(1, total)):.0%})"
    if waited > PATIENCE_SECONDS:
        step = "writing the results" if read >= total else "no further task or batch has ended"
        return f"{share}, {step} for {_duration(waited)}, {quarantined:,} quarantined"
    rate = read / (seconds + waited)
    left = max(0, total - read) / rate
    return f"{share}, {rate:,.0f} a second, about {_duration(left)} to go, {quarantined:,} quarantined"


def _duration(seconds: float) -> str:
    """Return a time as a person reads it: `42 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    if whole < 2 * _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
