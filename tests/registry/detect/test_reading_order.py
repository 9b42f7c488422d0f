"""Detection says the same of the same messages in whatever order their pieces are read."""

import json
from random import Random

import pytest
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace


def foreign(count):
    """Messages of no contract, of several nearest ones."""
    own = [*rendered("dts/canal@2", count), *rendered("oms/default@2", count)]
    Random(1).shuffle(own)
    for value in own:
        message = json.loads(value)
        message.pop("database", None)
        message.pop("allMetaData", None)
        yield json.dumps({**message, "more": 1}).encode()


TOPICS = {
    "one version": lambda: rendered("dts/canal@2", 150),
    "a switch": lambda: [*rendered("dts/canal@1", 100), *rendered("dts/canal@2", 100, seed=2)],
    "two dialects": lambda: [*rendered("drs/json@1", 60), *rendered("oms/canal@1", 60)],
    "columns without types": lambda: [
        *rendered("oms-community/default@1", 80), *rendered("oms-community/default@2", 80, seed=2),
    ],
    "none": lambda: [*foreign(20)],
}  # fmt: skip


def said_of(places, order):
    accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
    for place in order:
        accumulator.add(place, places[place])
    return detect(accumulator).report()


@pytest.mark.parametrize("topic", TOPICS)
def test_detection_is_the_same_in_any_order_of_reading(topic, part):
    values = list(TOPICS[topic]())
    for partitions in part((1, 3), 2):
        check_orders(values, partitions, part)


def check_orders(values, partitions, part):
    places = {RecordPlace("t", number % partitions, number // partitions): value for number, value in enumerate(values)}
    expected = said_of(places, sorted(places))
    draw = Random(partitions)
    groups = [list(places)[start : start + 25] for start in range(0, len(places), 25)]
    overlapping = sorted(range(len(places)), key=lambda number: number + draw.uniform(0, 60))
    orders = (
        draw.sample(list(places), len(places)),
        [place for group in reversed(groups) for place in group],
        [list(places)[number] for number in overlapping],
    )
    for order in part(orders, 3):
        assert said_of(places, order) == expected


def test_a_version_is_refused_for_the_reason_of_its_first_message_in_any_order():
    """Its messages are refused for different reasons, of which one is kept."""
    by_release, by_column = rendered("debezium/json@4", 2)
    by_column = by_column.replace(b'"op":"c"', b'"op":"c","zz":1')
    for values in ((by_release, by_column), (by_column, by_release)):
        told = []
        for order in ((0, 1), (1, 0)):
            accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
            for offset in order:
                accumulator.add(RecordPlace("t", 0, offset), values[offset])
            told.append({pair: (one.finding, one.first, one.count) for pair, one in accumulator.refusals.items()})
        assert told[0]
        assert told[0] == told[1]
        assert {(first, count) for _, first, count in told[0].values()} == {(RecordPlace("t", 0, 0), 2)}
