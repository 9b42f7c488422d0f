"""pyarrow starts without pandas in commands that give it no pandas objects, and forgets nothing by it."""

from __future__ import annotations

import subprocess
import sys


def told_by(code: str) -> str:
    """What Python prints in a process of its own, as pyarrow looks for pandas once in a process."""
    start = "import sys\nfrom cdc_contracts.cli.options.arrow_start import start_arrow\n"
    return subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()


def test_arrays_are_built_without_pandas():
    code = "start_arrow()\nimport pyarrow as pa\nprint(pa.array([1, None]).null_count, 'pandas' in sys.modules)"
    assert told_by(code) == "1 False"


def test_what_asks_for_pandas_afterwards_has_it():
    code = """
start_arrow()
import pyarrow as pa
print(pa.table({"a": [1, 2]}).to_pandas()["a"].tolist())
import pandas
print(pa.array(pandas.Series([1.0, None])).null_count, len(sys.meta_path) == before)
"""
    assert told_by("before = len(sys.meta_path)" + code) == "[1, 2]\n1 True"


def test_where_pandas_is_already_there_pyarrow_knows_it():
    code = "import pandas\nstart_arrow()\nimport pyarrow as pa\nprint(pa.array(pandas.Series([1.0, None])).null_count)"
    assert told_by(code) == "1"
