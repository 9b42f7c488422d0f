"""Garbage collection, postponed or made rare where many objects and hardly any reference cycles are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OBJECTS_BETWEEN: Final = 50_000


def collect_rarely() -> None:
    """Collect garbage after 50,000 new objects instead of 700: imports create many that stay."""
    gc.set_threshold(_OBJECTS_BETWEEN, *gc.get_threshold()[1:])


def stop_collecting() -> None:
    """Look for garbage no more: for a process that keeps nearly all that it makes, and ends soon."""
    gc.disable()


def leave_garbage() -> None:
    """Spare the end of the process a walk over all objects: it gives back all memory anyway."""
    gc.freeze()


@contextmanager
def put_off_collection() -> Iterator[None]:
    """Put off the garbage collector: walking all objects over and over takes long, and finds nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
