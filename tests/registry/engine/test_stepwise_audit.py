"""An audit in steps: a run can stop between two of them, and what was validated until then is counted whole."""

import pytest
from record_batches import batch_of, batch_of_values
from topics import rendered, scope_of

from cdc_contracts.registry.core.engine.stepwise_audit import audit_in_steps
from cdc_contracts.registry.core.stats.partition_tallies import SliceCount, Source

SENT = 12_000
"""In two batches too long to be joined."""


class Steps:
    """Lets so many steps be done; then the run is to end, before the next step or within it."""

    def __init__(self, most, *, within):
        self.most, self.within, self.done = most, within, 0

    @property
    def reason(self):
        return "interrupted" if self.done >= self.most and not self.within else None

    def attempt(self, step):
        self.done += 1
        return None if self.done > self.most else step()


class Watch:
    def __init__(self):
        self.read = 0

    def add(self, tally):
        self.read += read_by(tally)


def read_by(tally):
    return sum(one.read for one in tally.partitions.values())


def batches():
    values = rendered("dts/canal@2", SENT // 6) * 6
    half = SENT // 2
    return [batch_of_values(values[:half]), batch_of_values(values[half:], start=half)]


def test_a_run_that_goes_on_validates_every_record():
    watch = Watch()
    tally, whole = audit_in_steps(batches(), scope_of("dts/canal@2"), watch, Steps(SENT, within=False))
    assert (read_by(tally), whole, watch.read) == (SENT, True, SENT)


@pytest.mark.parametrize("within", [False, True], ids=["between two steps", "within a step"])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_run_that_is_to_end_has_counted_what_its_finished_steps_read(steps, within):
    watch = Watch()
    tally, whole = audit_in_steps(batches(), scope_of("dts/canal@2"), watch, Steps(steps, within=within))
    assert not whole
    assert read_by(tally) == watch.read < SENT
    assert (read_by(tally) > 0) == (steps > 0)
    (counts,) = tally.partitions.values() or [None]
    assert counts is None or counts.last_offset + 1 == counts.read


def test_without_records_nothing_is_left_to_validate():
    tally, whole = audit_in_steps([], scope_of("dts/canal@2"), None, Steps(0, within=False))
    assert (read_by(tally), whole) == (0, True)


def test_of_the_slices_of_a_sample_each_is_counted_by_itself_however_short():
    values, slices = rendered("dts/canal@2", 30), [(start, start + 2) for start in range(0, 100, 10)]
    records = [
        [(partition, offset, values[offset % 30] if offset != 41 else b"{}") for offset in range(*one)]
        for one in slices
        for partition in (0, 1)
    ]
    places = {Source("orders", partition): slices for partition in (0, 1)}
    steps = Steps(SENT, within=False)
    tally, whole = audit_in_steps(map(batch_of, records), scope_of("dts/canal@2"), None, steps, places)
    counted = {number: SliceCount(2, int(number == 4)) for number in range(10)}
    assert whole
    assert [one.slices for one in tally.partitions.values()] == [counted, counted]


@pytest.mark.parametrize("tables", [1, 40])
def test_the_steps_of_many_tables_are_long_enough_for_messages_of_each(tables):
    """Short ones would cost as much as long ones, and be made shorter for it."""
    line = rendered("dts/canal@2", 1)[0]
    values = [
        line.replace(b'"table":"orders"', b'"table":"t%d"' % n).replace(b"photo", b"own_%d" % n) for n in range(tables)
    ]
    assert len(set(values)) == tables
    steps = Steps(SENT, within=False)
    tally, _ = audit_in_steps([batch_of_values((values * 10_240)[:10_240])], scope_of("dts/canal@2"), None, steps)
    assert read_by(tally) == 10_240
    assert steps.done <= 3 or tables == 1
