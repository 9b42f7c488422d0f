"""Whether the kernel has become slower: `python bench/gate.py` ends with 1 if it has, by more than 15 %.

It compares the CPU time of a record over that of one `msgspec` parse of the same bytes, or of a Canal record where
there is no such parse, of a framed record over that of one of `dts/avro`, and that of a byte over a byte of Canal's
(`bench/dialects.py`), and that of a message in small batches over one `json.loads` (`bench/small_batches.py`), with the
ratios that are kept in `bench/ratios.json`: on a slower machine both take longer. Other load can only add to a time, so
the best of many rounds counts, and what looks slower is measured again before it is reported. `--write` keeps the
ratios of now, for a change that is meant to cost what it costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from dialects import FAMILIES, measure
from small_batches import DIALECTS, SIZES, batch_ratios

from cdc_contracts.registry.core.engine.native.native_library import describe_native

RATIOS = Path(__file__).with_name("ratios.json")
TOLERATED = 1.15
MEASURED = (
    "audit/parse", "decode/parse", "audit/canal", "decode/canal", "audit/avro", "decode/avro", "audit/byte",
    *(f"check {size}/loads" for size in SIZES),
)  # fmt: skip
ATTEMPTS = 4
"""So often what looks slower is measured, before it is said to be."""


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--messages", type=int, default=20_000)
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--ratios", type=Path, default=RATIOS, metavar="FILE")
    asked.add_argument("--write", action="store_true")
    asked.add_argument("dialects", nargs="*")
    options = asked.parse_args()
    kept = json.loads(options.ratios.read_text(encoding="utf-8")) if options.ratios.exists() else {}
    if describe_native() != "native":
        print(f"the ratios are those of the native part, and here is none: {describe_native()}")
        return 2
    slower = 0
    for reference in options.dialects or FAMILIES:
        wanted = {} if options.write else kept.get(reference, {})
        found = best_ratios(reference, options.messages, options.rounds, wanted)
        for name, ratio in found.items():
            limit = wanted.get(name, ratio) * TOLERATED
            slower += ratio > limit
            verdict = f"slower: at most {limit:.2f}" if ratio > limit else "ok"
            print(f"{reference:<44}{name:>17}{ratio:7.2f}  {verdict}", flush=True)
        kept[reference] = found
    if options.write:
        options.ratios.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    return 1 if slower else 0


def best_ratios(reference: str, messages: int, rounds: int, wanted: dict[str, float]) -> dict[str, float]:
    """Return the ratios of a dialect, measured anew as long as one lies above what is tolerated."""
    best: dict[str, float] = {}
    for _ in range(ATTEMPTS):
        found = measure(reference, messages, rounds)
        if reference in DIALECTS:
            found |= batch_ratios(reference)
        if "audit/parse" not in found:
            del found["audit/byte"]  # of Avro another ratio is compared
        ratios = {name: found[name] for name in MEASURED if name in found}
        best = {name: round(min(ratio, best.get(name, ratio)), 3) for name, ratio in ratios.items()}
        if all(ratio <= wanted.get(name, ratio) * TOLERATED for name, ratio in best.items()):
            break
    return best


if __name__ == "__main__":
    sys.exit(main())
