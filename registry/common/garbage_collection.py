"""Garbage collection, put off during work that makes many objects and hardly any reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
