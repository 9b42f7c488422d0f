"""The gate of the nightly run finds out that the kernel has become slower, and only that."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdc_contracts.registry.core.engine.native.native_library import native_library

ROOT = Path(__file__).parents[1]
DIALECT = "oms/debezium-smt@1"
DIALECTS_IN_SMALL_BATCHES = ("oms-community/canal@2", "debezium/json@4")
pytestmark = pytest.mark.skipif(native_library() is None, reason="the ratios are those of the native part")


@pytest.mark.parametrize(("kept", "code", "reported"), [(0.01, 1, "slower: at most 0.01"), (500.0, 0, "ok")])
def test_a_ratio_above_what_is_tolerated_is_red(tmp_path, kept, code, reported):
    ratios = tmp_path / "ratios.json"
    ratios.write_text(json.dumps({DIALECT: {"audit/parse": kept, "decode/parse": 500.0}}))
    options = ["--messages", "500", "--rounds", "1", "--ratios", str(ratios), DIALECT]
    result = subprocess.run(
        [sys.executable, str(ROOT / "bench/gate.py"), *options], capture_output=True, text=True, check=False
    )
    assert result.returncode == code, result.stderr
    lines = {line.split()[1]: line for line in result.stdout.splitlines()}
    assert reported in lines.pop("audit/parse")
    assert {"decode/parse", "audit/byte"} == lines.keys()
    assert all(line.endswith("ok") for line in lines.values())


def test_what_is_kept_names_every_dialect_that_is_measured():
    kept = json.loads((ROOT / "bench/ratios.json").read_text())
    assert len(kept) == 29
    assert set(kept["dts/avro@1"]) == {"audit/canal", "decode/canal"}
    assert set(kept["debezium/json-schema@4 framed"]) == {"audit/avro", "decode/avro"}
    assert all({"check 10/loads", "check 100/loads"} <= set(kept[one]) for one in DIALECTS_IN_SMALL_BATCHES)
    assert all(0 < ratio < 50 for one in kept.values() for name, ratio in one.items() if not name.startswith("check"))
