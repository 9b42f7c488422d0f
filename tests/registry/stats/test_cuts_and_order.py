"""What a run finds does not depend on how its records were cut into batches, nor on the order of these."""

import json
from functools import cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from mutations import replaced, to_bytes
from record_batches import batch_of
from topics import CATALOGUE, rendered, scope_of
from written_reports import build_report

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.parse.batch_parser import Parser
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

CONTRACT = "dts/canal@2"


class Record(NamedTuple):
    """A record, with what the model has to know of it."""

    partition: int
    offset: int
    position: int
    table: str
    op: str
    drifts: bool
    value: bytes


def records_of(draw):
    """A topic whose positions go back now and then, and whose messages drift for good, for some ops, or now and then."""
    values = [json.loads(value) for value in rendered(CONTRACT, draw.choice([12, 60]), seed=draw.randrange(9))]
    turn, ops = (
        draw.randrange(len(values)),
        draw.choice([("INSERT", "UPDATE", "DELETE"), ("UPDATE",), ("INSERT", "DELETE")]),
    )
    since, noise = draw.random() < 0.7, draw.choice([0, 0.1])
    gaps, back, partitions = draw.choice([0, 0.3]), draw.choice([0, 0.2]), draw.choice([1, 2])
    offsets, position, records = [draw.randrange(9) for _ in range(partitions)], 1_000, []
    for number, message in enumerate(values):
        partition = draw.randrange(partitions)
        offsets[partition] += 1 if draw.random() >= gaps else draw.randint(2, 9)
        position += 5 if draw.random() >= back else -draw.randint(1, 12)
        table, op = draw.choice(["orders", "visits"]), message["type"]
        drifts = op in ops and ((since and number >= turn) or draw.random() < noise)
        added = {"extra": 1} if drifts else {}
        value = json.dumps({**message, "id": position, "table": table, **added}).encode()
        records.append(Record(partition, offsets[partition], position, table, op, drifts, value))
    return records


def breaches(records):
    """The records below the one before, by partition: how many and the first."""
    found = {}
    for partition in {one.partition for one in records}:
        mine = sorted((one for one in records if one.partition == partition), key=lambda one: one.offset)
        fallen = [after.offset for before, after in pairwise(mine) if after.position < before.position]
        if fallen:
            found[partition] = (len(fallen), fallen[0])
    return found


def onsets(records):
    """By table and partition: the first of the records with which every message of its op drifts, and their number."""
    found = {}
    for place in {(one.table, one.partition) for one in records if one.drifts}:
        mine = [one for one in records if (one.table, one.partition) == place]
        ops = {one.op for one in mine if one.drifts}
        clean = max((one.offset for one in mine if one.op in ops and not one.drifts), default=-1)
        after = sorted(one.offset for one in mine if one.drifts and one.offset > clean)
        found[place] = (after[0], len(after)) if after else None
    return found


def parts_of(draw, records):
    """The records in parts that overlap or follow each other, each in any order."""
    dealt, count = list(records), draw.choice([1, 2, 3, 7])
    cuts = sorted(draw.randint(0, len(records)) for _ in range(count - 1))
    match draw.choice(["runs", "overlapping", "dealt"]):
        case "runs":
            parts = [dealt[start:end] for start, end in zip([0, *cuts], [*cuts, len(dealt)], strict=True)]
        case "overlapping":
            parts = [[] for _ in range(count)]
            for number, one in enumerate(dealt):
                place = number * count // len(dealt) + draw.choice([-1, 0, 0, 1])
                parts[min(max(place, 0), count - 1)].append(one)
        case _:
            parts = [[] for _ in range(count)]
            for one in dealt:
                draw.choice(parts).append(one)
    for part in parts:
        if draw.random() < 0.5:
            draw.shuffle(part)
    draw.shuffle(parts)
    return [part for part in parts if part]


def audited(part):
    return Kernel(scope_of(CONTRACT)).audit(batch_of([(one.partition, one.offset, one.value) for one in part]))


def counted_one_by_one(part):
    total = Tally()
    for one in part:
        validated = scope_of(CONTRACT).validate(one.value)
        total.merge(account_of(validated, Source("orders", one.partition), Point(one.offset, None), one.value))
    return total


def merged(draw, tallies):
    """The tallies merged one by one, or by two."""
    tallies = list(tallies)
    while len(tallies) > 1:
        left = tallies.pop(draw.randrange(len(tallies)))
        tallies[0 if draw.random() < 0.5 else draw.randrange(len(tallies))].merge(left)
    return tallies[0]


def found_in(tally):
    """What the model says as well, of a tally."""
    found = {
        line.partition: (stretch.count, stretch.first.offset)
        for (line, cause), stretch in tally.statistics.sequences.breaches().items() if cause == "goes-back"
    }  # fmt: skip
    starts = {}
    for key, finding in tally.findings.items():
        if key.name == "unknown-field":
            for source in finding.extents:
                start = tally.unbroken(key, source)
                starts[key.table.partition(".")[2], source.partition] = start and (start.offset, start.records)
    return found, starts


def report_of(tally):
    return build_report(tally, catalogue=CATALOGUE, contract=CONTRACT, spans={}, fail_on="warning")


@pytest.mark.one_in(8)
@pytest.mark.parametrize("counted", [audited, counted_one_by_one])
@pytest.mark.parametrize("seed", range(40))
def test_breaches_of_order_and_onsets_are_those_of_the_records_in_order_however_they_came(seed, counted):
    draw = Random(seed)
    records = records_of(draw)
    expected = breaches(records), onsets(records)
    whole = report_of(merged(draw, [counted(records)]))
    for _ in range(2):
        tally = merged(draw, map(counted, parts_of(draw, records)))
        assert found_in(tally) == expected
        assert report_of(tally) == whole


@cache
def with_values_of_a_wrong_kind(reference, show_values):
    """A context, a stream whose ops are numbers now and then, and what these come to where each is validated alone."""
    validation = open_validation(CATALOGUE, reference, ReadingOptions(show_values=show_values))
    parts = split_pointer(CATALOGUE.version(reference).meaning.envelope.op.at)
    values = rendered(reference, 120)
    for number in (60, 61, 90, 110):
        values[number] = to_bytes({**replaced(json.loads(values[number]), parts, 5), "unknown": number})
    records, one_by_one = [(0, offset, value) for offset, value in enumerate(values)], Tally()
    for _, offset, value in records:
        validated = validation.validate(value)
        one_by_one.merge(
            account_of(validated, Source("orders", 0), Point(offset, None), value, show_values=show_values)
        )
    return validation, records, shapes_of(one_by_one)


@pytest.mark.parametrize("show_values", [False, True])
@pytest.mark.parametrize("reference", ["oms/debezium-flatten@1", "canal/flat@3", "debezium/json@4"])
@pytest.mark.parametrize("learns", [True, False])
def test_what_values_of_a_wrong_kind_are_is_counted_however_they_are_validated(
    reference, show_values, learns, monkeypatch
):
    """Also where no layout is learnt from a message that drifts, as of many shapes, so that each is validated alone."""
    if not learns:
        monkeypatch.setattr(Parser, "_learned", lambda *_: None)
    validation, records, wanted = with_values_of_a_wrong_kind(reference, show_values)
    assert sum(counts.total() for counts, _ in wanted.values()) == 4
    for size in (7, 120):
        kernel, total = Kernel(validation), Tally()
        for start in range(0, 120, size):
            total.merge(kernel.audit(batch_of(records[start : start + size])))
        assert shapes_of(total) == wanted, size


def shapes_of(tally):
    """The shapes of values that findings count, and what they observe."""
    return {key: (one.shapes, one.observed) for key, one in tally.findings.items()}
