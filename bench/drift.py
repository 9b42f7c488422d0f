"""What messages cost that drift in what tells them apart: `python bench/drift.py [DIALECT...]`.

CPU microseconds of a message in an audit, and how many times that of a clean message. Codes, kinds of sources, releases
and names that are other ones in every message are so in every round too. Which drift a dialect can have follows from
its contract. The drifts take turns in rounds, each with the median of its rounds and their range. `--tables` reads by
the table contract of one table, so that other names are unlisted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from dialects import BATCH, batch_of, own_table

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.discriminators import valued_tests
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

Values = Callable[[int], Any]
CLEAN = "clean"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--messages", type=int, default=20_000)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--tables", action="store_true")
    asked.add_argument("dialects", nargs="*", default=["oms-community/canal@2", "debezium/json@4"])
    options = asked.parse_args()
    print(f"fast validator: {describe_native()}")
    for reference in options.dialects:
        found = measure(reference, options.messages, options.rounds, tables=options.tables)
        usual = median(found[CLEAN])
        print(f"\n{reference:<52}{'µs a message':>24}{'x':>8}")
        for name, times in found.items():
            shown = f"{median(times):.2f} ({min(times):.2f} to {max(times):.2f})"
            print(f"{name:<52}{shown:>24}{median(times) / usual:8.2f}", flush=True)


def measure(reference: str, total: int, rounds: int, *, tables: bool) -> dict[str, list[float]]:
    """Return the microseconds of a message with each drift, of each round after a warm one."""
    catalogue = shipped_catalogue()
    options = ReadingOptions(tables=own_table()) if tables else ReadingOptions(table="shop.orders")
    version = catalogue.version(reference)
    messages = [json.loads(value) for value in Renderer(version, options).render_all(row_stream(5, total))]
    drifts: dict[str, tuple[str, Values] | None] = {CLEAN: None, **drifts_of(version.meaning)}
    kernels = {name: Kernel(open_validation(catalogue, reference, options)) for name in drifts}
    found: dict[str, list[float]] = {name: [] for name in drifts}
    for number in range(rounds + 1):
        for name, drift in drifts.items():
            values = [write(one, drift, number * total + place) for place, one in enumerate(messages)]
            batches = [batch_of(values[start : start + BATCH], start) for start in range(0, total, BATCH)]
            tally, start = Tally(), time.process_time()
            for batch in batches:
                tally.merge(kernels[name].audit(batch))
            if number:
                found[name].append((time.process_time() - start) / total * 1e6)
    return found


def drifts_of(meaning: Meaning) -> dict[str, tuple[str, Values]]:
    """Return what drifts by its name: where in the message, and the value that is there in a message of a number."""
    return dict(_drifts_of(meaning))


def _drifts_of(meaning: Meaning) -> Iterator[tuple[str, tuple[str, Values]]]:
    envelope = meaning.envelope
    yield "an op code that no version lists", (envelope.op.at, lambda _: "Q")
    yield "another such code in every message", (envelope.op.at, lambda number: f"Q{number:07}")
    for at in dict.fromkeys(test.equals or test.within for test in valued_tests(meaning.discriminators)):
        if at is not None:
            yield f"another text at {at} in every message", (at, lambda number: f"q{number:07}")
    if envelope.release is not None and envelope.release.at is not None:
        yield "another release in every message", (envelope.release.at, lambda number: f"9.{number}.1.Final")
    named = envelope.table or envelope.database_table
    if named is not None and named.at is not None:
        yield "another table in every message", (named.at, lambda number: f"orders_{number:07}")

    yield "an unknown member that is an object", ("/annex", lambda number: {"number": number, "notes": [None, "x"]})


def write(message: dict[str, Any], drift: tuple[str, Values] | None, number: int) -> bytes:
    """Return a message with its drift."""
    if drift is not None:
        at, value_of = drift
        message = _put(message, split_pointer(at), value_of(number))
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _put(message: dict[str, Any], parts: tuple[str, ...], value: Any) -> dict[str, Any]:
    first, *rest = parts
    return {**message, first: _put(message[first], tuple(rest), value) if rest else value}


if __name__ == "__main__":
    main()
