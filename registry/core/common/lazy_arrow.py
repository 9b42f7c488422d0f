"""Lazy numpy and pyarrow, loaded when the first column is read.

Reading single values needs neither, and loading both takes longer than most commands that read no column.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np", "pa", "pc"]


class _Deferred(ModuleType):
    """A proxy for a module that is loaded on first attribute access; attributes are cached."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    np = _Deferred("numpy")
    pa = _Deferred("pyarrow")
    pc = _Deferred("pyarrow.compute")
