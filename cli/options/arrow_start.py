"""The start of pyarrow in a command that gives it no pandas objects."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any


class _NoPandas(MetaPathFinder):
    """Finds every module but pandas, which is not there."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def start_arrow() -> None:
    """Start pyarrow without pandas, which takes a third of the time in which one message is checked.

    To build its first array pyarrow imports pandas, to know objects of it if it meets any; it asks once, and is told
    here that there is none. What needs pandas (`to_pandas`) still imports it. Where a process has pandas already, as
    a notebook may, nothing is done. Not for commands that start Spark: that gives pyarrow objects of pandas.
    """
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa  # here, as few commands need it and it is slow

        pa.array([])
    finally:
        sys.meta_path.remove(finder)
