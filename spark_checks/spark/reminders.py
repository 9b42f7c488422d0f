"""Reminders: lines printed now and then during a long step, so that a person sees that it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from cdc_contracts.registry.core.common.errors import CdcContractsError

EVERY_SECONDS: Final = 10.0


@contextmanager
def reminding(say: Callable[[str], None], what: str) -> Iterator[None]:
    """Say every ten seconds, while the body runs, that it still does, and for how many seconds."""
    done = threading.Event()

    def remind() -> None:
        started = time.monotonic()
        while not done.wait(EVERY_SECONDS):
            try:
                say(f"{what} … {time.monotonic() - started:.0f} s")
            except CdcContractsError:  # nobody reads it
                return

    thread = threading.Thread(target=remind, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
