"""What a profile costs the kernel, by dialect and by number of tables: `python bench/profiles.py [DIALECT...]`.

CPU microseconds for each record of an audit without a profile and with one, in one process, the best of some rounds in
which both take turns.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from dialects import BATCH, CANAL, FAMILIES, batch_of, best_of, make_works, open_stream

from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native

TABLES = (1, 100, 2_000)
OLD = b'"orders"'


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--messages", type=int, default=20_000)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("dialects", nargs="*")
    options = asked.parse_args()
    print(f"fast validator: {describe_native()}")
    print(f"{'dialect':<44}{'tables':>8}{'audit':>10}{'profile':>10}{'ratio':>8}")
    for reference in options.dialects or FAMILIES:
        for tables in TABLES if reference == CANAL else TABLES[:1]:
            without, profiled = measure(reference, options.messages, options.rounds, tables)
            print(f"{reference:<44}{tables:>8,}{without:>10.2f}{profiled:>10.2f}{profiled / without:>8.2f}", flush=True)


def measure(reference: str, total: int, rounds: int, tables: int) -> tuple[float, float]:
    """Return the microseconds of a record without a profile and with one; the rows are in turn of so many tables."""
    kernel, values, batches = open_stream(reference, total)
    if tables > 1:
        values = [one.replace(OLD, f'"orders{at % tables}"'.encode()) for at, one in enumerate(values)]
        batches = [batch_of(values[start : start + BATCH], start) for start in range(0, len(values), BATCH)]
    options = kernel.validation.reading_options
    if tables > 1:
        options = replace(options, tables=TableContracts())
    kernel, profiling = (
        Kernel(replace(kernel.validation, reading_options=replace(options, profiled=profiled), made={}))
        for profiled in (False, True)
    )
    works = {"audit": make_works(kernel, batches)["audit"], "profile": make_works(profiling, batches)["audit"]}
    seconds = best_of(works, rounds)
    return seconds["audit"] * 1e6 / total, seconds["profile"] * 1e6 / total


if __name__ == "__main__":
    main()
