"""Where a producer switched in a long topic is found by reading more near the switch, not everything."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from change_histories import PARTITION, WHOLE, Switch, make_history
from change_messages import DTS_1, DTS_2
from random_histories import linked, random_shape
from topics import SCENARIOS

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.detection import MIXED
from cdc_contracts.registry.core.detect.topic_samples import find_validation, sample_files
from cdc_contracts.registry.core.records.input_files import plan_files
from cdc_contracts.registry.core.validate.validation_context import Undetected

SAMPLE = 700
"""Messages that are looked at in place of the 2,000 of a command."""


def long_history(seed):
    """A topic of some 1,500 changes, whose producers switch once, in each partition or in all at once."""
    draw = Random(f"long {seed}")
    first, second = draw.sample((DTS_1, DTS_2), 2)
    shape = linked(draw, random_shape(draw, first, changes=1_500))
    delivery = replace(shape.delivery, gone=0.0)
    shape = replace(shape, source=replace(shape.source, states=None, load=None), delivery=delivery)
    return make_history(replace(shape, switch=Switch(second, draw.choice((WHOLE, PARTITION)))), seed)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3, 4))])
def test_the_versions_of_a_long_topic_are_placed_without_reading_all_of_it(seed, tmp_path):
    history, file = long_history(seed), tmp_path / "orders.parquet"
    pq.write_table(pa.Table.from_batches([*history.batches()]), file, row_group_size=250)
    plan, read = plan_files([file], whole=False), []

    def sample(within=None):
        for batch in sample_files(plan, SAMPLE, within):
            read.append(batch.num_rows)
            yield batch

    validation, detection = find_validation(Undetected(SCENARIOS, ReadingOptions()), sample, sample)

    assert (detection.verdict, detection.subject) == (MIXED, "dts/canal")
    held = [
        (validation.ranges.find("orders", record.partition, record.offset, None), record) for record in history.records
    ]
    placed = [(one.contract, record) for one, record in held if one is not None]
    assert [
        record.offset for contract, record in placed if record.message.version != contract and is_update(record)
    ] == []
    assert len(held) - len(placed) <= 0.05 * len(held)
    assert sum(read) < 0.9 * len(held)


def is_update(record):
    return record.message.changes[0].op == "update"
