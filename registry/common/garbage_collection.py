"""Garbage collection, put off or made rare where many objects are made and hardly any reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OBJECTS_BETWEEN: Final = 50_000


def collect_rarely() -> None:
    """Let Python look for garbage after 50,000 new objects instead of 700: imports make many that stay."""
    gc.set_threshold(_OBJECTS_BETWEEN, *gc.get_threshold()[1:])


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
