"""Which runs have to be read to find rows that were sent again: few, and none that has one."""

import random
from collections import Counter
from itertools import pairwise
from typing import get_args

import pyarrow as pa
import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.stats.position_sequences import NON_STRICT, STRICT, UNIQUE
from cdc_contracts.registry.core.stats.positions import PositionLine, Positions
from cdc_contracts.spark_checks.runs.finished_runs import PastRun
from cdc_contracts.spark_checks.runs.repeated_positions import plan_comparison, position_order

LINE = PositionLine("t", 0, "dts/canal")


def rows(positions, *, start, contract="dts/canal@2"):
    """Changes of one message each, with these positions."""
    count = len(positions)
    return pa.RecordBatch.from_pydict({
        "topic": ["t"] * count, "partition": pa.array([0] * count, pa.int32()),
        "offset": list(range(start, start + count)), "row_index": pa.array([0] * count, pa.int32()),
        "contract": [contract] * count, "op": ["update"] * count,
        "update_part": pa.array([None] * count, pa.string()), "position": pa.array(positions, pa.string()),
    })  # fmt: skip


def repeated(changes, *, each_its_own):
    """Offsets of rows that repeat others, and of the first of them: ADR 21 word by word, one row after the other."""
    visit, last, seen, first, found = 0, object(), Counter(), {}, {}
    for offset, position, image in changes:
        visit += each_its_own or position != last
        last = position
        seen[visit, position, image] += 1
        place = position, image, seen[visit, position, image]
        if first.setdefault(place, offset) != offset:
            found[offset] = first[place]
    return found


def test_every_order_that_a_contract_can_name_is_one_of_those_that_are_compared():
    named = {value for choice in get_args(Place.model_fields["monotonic"].annotation) for value in get_args(choice)}
    assert named == {STRICT, NON_STRICT, UNIQUE}


ORDERED = sorted({
    version.subject for version in CATALOGUE.all_versions()
    if version.meaning.envelope.position and version.meaning.envelope.position.monotonic in ("strict", "non-strict")
})  # fmt: skip


@pytest.mark.parametrize("subject", ORDERED)
def test_a_run_is_compared_with_an_earlier_one_where_the_contract_orders_positions(subject):
    line = PositionLine("t", 0, subject)
    earlier, later = Positions(), Positions()
    earlier.note(rows(["1", "5"], start=0, contract=f"{subject}@1"))
    later.note(rows(["5", "1"], start=2, contract=f"{subject}@1"))
    past = [PastRun("0", "", (), {}, (), earlier.whole())]
    orders = {subject: position_order(CATALOGUE, subject)}
    assert plan_comparison(later.whole(), past, orders, None).earlier == ("0",)
    assert line in later.whole()


@pytest.mark.parametrize("monotonic", [STRICT, NON_STRICT, UNIQUE, None])
@pytest.mark.parametrize("spelled", ["{}", "file:{}"])
def test_batches_find_together_what_one_run_finds(monotonic, spelled, part):
    found_any = read_less = 0
    for case in (cases := part(range(120), 4)):
        draw = random.Random(f"{monotonic}{spelled}{case}")
        steps = draw.choices([-3, -1, 0, 1, 2], [1, 1, 4, 10, 4], k=draw.randint(2, 40))
        changes = [(at, str(max(sum(steps[: at + 1]), 0)), draw.choice("xy")) for at in range(len(steps))]
        cuts = [0, *sorted(draw.sample(range(1, len(steps)), min(len(steps) - 1, 4))), len(steps)]
        past, found = [], {}
        for number, (start, end) in enumerate(pairwise(cuts)):
            seen = Positions()
            seen.note(rows([spelled.format(position) for _, position, _ in changes[start:end]], start=start))
            lines = seen.whole()
            plan = plan_comparison(lines, past, {LINE.subject: monotonic}, "query")
            if LINE in plan.lines:
                read = [row for run in plan.earlier for row in changes[cuts[int(run)] : cuts[int(run) + 1]]]
                between = [(offset, None, "") for _, offset in plan.skipped]
                together = sorted([*read, *between, *changes[start:end]], key=lambda row: row[0])
                reported = repeated(together, each_its_own=monotonic in (STRICT, UNIQUE))
                found |= {offset: first for offset, first in reported.items() if offset >= start}
            read_less += len(plan.earlier) < number
            past.append(PastRun(str(number), "", (), {}, (), lines, query="query"))
        assert found == repeated(changes, each_its_own=monotonic in (STRICT, UNIQUE))
        found_any += bool(found)
    assert found_any > len(cases) / 5
    assert (read_less > len(cases) / 5) is (spelled == "{}")
