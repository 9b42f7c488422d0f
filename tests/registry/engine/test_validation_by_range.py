"""Ranges of versions: each part of a topic is validated as declared for it, however the records are split into batches."""

import os
from collections import Counter
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest
from detected_topics import sampled
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from run_verdicts import why_withheld
from topics import SCENARIOS as CATALOGUE
from topics import rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_files import parse_versions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.pinned_contracts import open_pin, write_pin
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.tasks.spark_tasks import describe_validation

SEVERAL = sorted(subject for subject in CATALOGUE.subjects() if len(CATALOGUE.versions(subject)) > 1)
GARBAGE = (b"", b"{}", b"\xff\xfe", b'{"type":"INSERT"}', None)
CASES = int(os.environ.get("CDC_RANGE_CASES", "4"))
EPOCH = 1_700_000_000_000_000
SCHEMA = pa.schema({
    "value": pa.binary(), "topic": pa.string(), "partition": pa.int32(), "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
})  # fmt: skip


def record(topic, partition, offset, value):
    return {
        "value": value, "topic": topic, "partition": partition, "offset": offset,
        "timestamp": EPOCH + 1_000_000 * offset,
    }  # fmt: skip


def batch_of(records):
    return pa.RecordBatch.from_pylist(records, SCHEMA)


def ranges_of(partitions, topic="orders"):
    return parse_versions({"topics": {topic: partitions}}, "v.yaml", CATALOGUE)


def ranged(partitions, **reading_options):
    return open_ranges(CATALOGUE, ranges_of(partitions), ReadingOptions(**reading_options))


def switched_topic(subject, seed):
    """A topic of three partitions that change versions each at another place, garbage among their records.

    Returns the records, and by partition the offset that it changes at.
    """
    draw = Random(seed)
    old, new = CATALOGUE.versions(subject)[0].reference, CATALOGUE.versions(subject)[-1].reference
    records, switches = [], {}
    for partition in range(3):
        first, second = sampled(old, 30, seed=seed + partition), sampled(new, 30, seed=seed + partition + 50)
        switches[partition] = draw.randrange(5, 25)
        values = [*first[: switches[partition]], *second[switches[partition] :]]
        for number in range(4):
            values[draw.randrange(len(values))] = GARBAGE[(number + partition) % len(GARBAGE)]
        records += [record("orders", partition, offset, value) for offset, value in enumerate(values)]
    return records, switches


def declared_apart(records, ranges):
    """What each record comes to if the records of each range are decoded by themselves, declared as the range says."""
    changes, control, reported = [], [], {}
    for one in records:
        found = ranges.find(one["topic"], one["partition"], one["offset"], one["timestamp"])
        reported.setdefault((one["partition"], found), []).append(one)
    for (_, found), mine in reported.items():
        if found is not None:
            for part in Kernel(open_validation(CATALOGUE, found.contract, ReadingOptions())).decode(batch_of(mine)):
                changes += part.changes.to_pylist()
                control += part.control.to_pylist()
    return changes, control


def in_order(rows):
    """Rows in order of their records; a map has no order of its own."""
    maps = ("before", "after", "column_types")
    reported = [
        {name: dict(one) if name in maps and one is not None else one for name, one in row.items()} for row in rows
    ]
    return sorted(reported, key=lambda row: (row["partition"], row["offset"], row.get("row_index", 0)))


def bounds(draw, by_time):
    """Some ranges in rising order: each begins where the one before ended, or leaves a gap."""
    edges = sorted(draw(st.lists(st.integers(0, 32), min_size=2, max_size=6, unique=True)))

    def tell(at):
        return f"2023-11-14T22:13:{20 + at}Z" if by_time else at

    reported = []
    for start, end in pairwise(edges):
        if draw(st.booleans()):
            reported.append({"from": tell(start), "to": tell(end)})
    if draw(st.booleans()):
        reported.append({"from": tell(edges[-1])})
    return reported


@st.composite
def cases(draw):
    subject, seed = draw(st.sampled_from(SEVERAL)), draw(st.integers(1, 3))
    versions = [version.reference for version in CATALOGUE.versions(subject)]
    partitions = {
        key: [{**one, "contract": draw(st.sampled_from(versions))} for one in bounds(draw, by_time=draw(st.booleans()))]
        for key in draw(st.sampled_from([(0, 1, 2), (0, 1), (0, "all"), ("all",)]))
    }
    if not any(partitions.values()):
        partitions[0] = [{"contract": versions[0]}]
    return subject, seed, partitions, draw(st.integers(1, 70)), draw(st.randoms(use_true_random=False))


@given(cases())
@settings(max_examples=CASES, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_for_any_cut_of_batches_the_rows_are_those_of_each_range_decoded_by_itself(case):
    subject, seed, partitions, size, draw = case
    records, _ = switched_topic(subject, seed)
    validation = ranged(partitions)
    kernel, changes, control, quarantine, tally = Kernel(validation), [], [], [], Tally()
    shuffled = list(records)
    draw.shuffle(shuffled)  # partitions and offsets mixed in any way
    for start in range(0, len(shuffled), size):
        for part in kernel.decode(batch_of(shuffled[start : start + size])):
            changes += part.changes.to_pylist()
            control += part.control.to_pylist()
            quarantine += part.quarantine.to_pylist()
            tally.merge(part.tally)

    expected_changes, expected_control = declared_apart(records, validation.ranges)
    assert in_order(changes) == in_order(expected_changes)
    assert in_order(control) == in_order(expected_control)
    reported = {(row["partition"], row["offset"]) for row in [*changes, *control, *quarantine]}
    assert reported == {(one["partition"], one["offset"]) for one in records if one["value"] is not None}

    for row in quarantine:  # and the reference says the same of every record
        one = records[row["partition"] * 30 + row["offset"]]
        within = validation.at("orders", one["partition"], one["offset"], one["timestamp"])
        assert within.validate(one["value"]).verdict.outcome == row["outcome"]
    whole = Kernel(validation).audit(batch_of(records))
    assert (whole.partitions, whole.outcomes, whole.runs) == (tally.partitions, tally.outcomes, joined(tally, whole))


def joined(tally, whole):
    """The runs of a tally as they are told; parts of a shuffled topic leave them in pieces until then."""
    from cdc_contracts.registry.core.stats.version_runs import join_runs

    assert tally.runs.keys() == whole.runs.keys()
    return {source: join_runs(runs) for source, runs in tally.runs.items()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("subject", SEVERAL)
def test_what_no_range_covers_belongs_to_no_version(subject):
    records, _ = switched_topic(subject, seed=1)
    newest = CATALOGUE.versions(subject)[-1].reference
    validation = ranged({0: [{"from": 10, "to": 20, "contract": newest}], 2: []})
    tally, open_ones = Tally(), []
    for part in Kernel(validation).decode(batch_of(records)):
        rows = [*part.changes.to_pylist(), *part.control.to_pylist()]
        assert {row["partition"] for row in rows} <= {0}
        assert all(10 <= row["offset"] < 20 for row in rows)
        open_ones += [row for row in part.quarantine.to_pylist() if row["outcome"] == "ambiguous"]
        tally.merge(part.tally)

    found = {key.rule: one for key, one in tally.findings.items()}["D16.left-open"]
    assert found.severity == "error"
    assert set(found.expected) == {"a range of the versions file"}
    whole = open_validation(CATALOGUE, subject, ReadingOptions())
    outcomes = Counter(whole.validate(one["value"]).verdict.outcome
                       for one in records if not (one["partition"] == 0 and 10 <= one["offset"] < 20))  # fmt: skip
    assert len(open_ones) == outcomes["conforming"] + outcomes["control"] + outcomes["ambiguous"] > 0


def test_ranges_may_declare_versions_of_several_subjects():
    values = [*sampled("dts/canal@1", 20), *sampled("drs/json@2", 20)]
    records = [record("orders", 0, offset, value) for offset, value in enumerate(values)]
    validation = ranged({0: [{"to": 20, "contract": "dts/canal@1"}, {"from": 21, "contract": "drs/json@2"}]})
    (part,) = Kernel(validation).decode(batch_of(records))
    assert validation.declared == "drs/json, dts/canal"
    assert {row["contract"] for row in part.changes.to_pylist()} == {"dts/canal@1", "drs/json@2"}
    assert [(row["offset"], row["outcome"]) for row in part.quarantine.to_pylist()] == [(20, "ambiguous")]


def contradicted(values, *ranges):
    """What speaks against the ranges of a topic of one partition."""
    tally = Tally()
    validation = ranged({0: list(ranges)})
    for part in Kernel(validation).decode(
        batch_of([record("orders", 0, at, value) for at, value in enumerate(values)])
    ):
        tally.merge(part.tally)
    return tally, why_withheld(tally, validation)


def around(first, last):
    """One range that is declared wrongly, and the right version before and behind it."""
    return (
        {"to": first, "contract": "dts/canal@2"},
        {"from": first, "to": last + 1, "contract": "dts/canal@1"},
        {"from": last + 1, "contract": "dts/canal@2"},
    )


def test_a_contradiction_counts_within_its_range_alone():
    values = rendered("dts/canal@2", 200)
    at = next(at for at, value in enumerate(values) if b'"DELETE"' in value and b'"UPDATE"' in values[at - 1])
    tally, reported = contradicted(values, *around(at, at))
    assert (tally.outcomes["other-version"], reported) == (1, None)  # no record of that range hangs on its version
    _, reported = contradicted(values, *around(at - 1, at))
    assert reported is not None
    assert reported.startswith(f"orders partition 0 offset {at} is proven to be another version than dts/canal@1")


def test_key_chains_are_evidence_against_the_range_that_contains_them():
    values = [value for value in rendered("dts/canal@2", 300) if b'"DELETE"' not in value]
    tally, reported = contradicted(values, *around(100, 180))
    assert tally.outcomes["other-version"] == 0
    assert reported is not None
    assert reported.startswith("orders partition 0: row changes prove dts/canal@2 from offset 100 to 180 ")
    assert "their range declares dts/canal@1" in reported
    assert contradicted(values, {"contract": "dts/canal@2"})[1] is None
    assert contradicted(values[100:180], {"contract": "dts/canal@1"})[1] is not None


def test_the_identity_of_a_run_holds_what_the_file_means():
    one = ranged({0: [{"to": 9, "contract": "dts/canal@1"}, {"from": 9, "contract": "dts/canal@2"}]})
    same = ranged(
        {0: [{"from": 9, "contract": "dts/canal@2"}, {"from": 0, "to": 9, "contract": "dts/canal@2022-03-19"}]}
    )
    other = ranged({0: [{"to": 8, "contract": "dts/canal@1"}, {"from": 9, "contract": "dts/canal@2"}]})
    bare = open_validation(CATALOGUE, "dts/canal", ReadingOptions())
    assert one.fingerprint == same.fingerprint
    assert len({one.fingerprint, other.fingerprint, bare.fingerprint}) == 3


@pytest.mark.usefixtures("first_versions")
def test_a_scope_of_ranges_travels_to_workers_and_is_pinned_for_streams():
    validation = ranged({0: [{"to": 9, "contract": "dts/canal@1"}], "all": [{"from": "2022-03-20T00:00:00+08:00",
                                                                          "contract": "dts/canal@2"}]})  # fmt: skip
    for again in (describe_validation(validation).open(), open_pin(write_pin(validation), "here")):
        assert again.fingerprint == validation.fingerprint
        assert (again.ranges, again.left_open, again.declared) == (validation.ranges, True, "dts/canal")
