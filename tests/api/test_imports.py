"""What the Python interface and the pytest plugin import, and when."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import pytest

before = set(sys.modules)
import cdc_contracts as cdc
import cdc_contracts.testing.plugin
print(*sorted(name for name in set(sys.modules) - before if name.partition(".")[0] != "importlib"))
assert set(cdc.__all__) <= set(dir(cdc))
arrays = {"pyspark", "pandas", "pyarrow", "numpy"}
cdc.contract("dts/canal@2").decode(open(sys.argv[1], "rb").read())
print(*sorted(arrays & set(sys.modules)))
sys.modules["pyarrow"] = None
try:
    cdc.contract("dts/canal@2").decode_batch([b"{}"])
except cdc.CdcContractsError as error:
    print(error)
"""


def test_nothing_is_imported_before_it_is_used_and_no_arrays_for_single_messages():
    sample = ROOT / "contracts/dts/canal/v2/samples/insert-every-type.json"
    reported = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(sample)], cwd=ROOT / ".src", capture_output=True, text=True, check=True
    )
    imported, arrays, *missing = reported.stdout.split("\n")
    assert imported == "cdc_contracts cdc_contracts.testing cdc_contracts.testing.plugin"
    assert arrays == ""
    assert missing[0] == "this needs pyarrow, which is not installed"
    assert missing[1].startswith("  pip install ")
    assert "[arrow]" in missing[1]
