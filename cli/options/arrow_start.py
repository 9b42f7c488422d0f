"""Start of pyarrow without pandas, for commands that pass no pandas objects to it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any


class _NoPandas(MetaPathFinder):
    """Makes imports of pandas fail."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def start_arrow() -> None:
    """Start pyarrow without pandas, whose import takes a third of the time of checking one message.

    For its first array pyarrow imports pandas to recognise pandas objects; it tries once, and here that import fails.
    Code that needs pandas (`to_pandas`) still imports it. If a process has imported pandas already, as a notebook may
    have, nothing is done. Not for commands that start Spark, which passes pandas objects to pyarrow.
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
