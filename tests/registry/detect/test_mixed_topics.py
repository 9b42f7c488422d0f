"""Topics with several contracts: every record is counted once, under its own, however the run is split."""

import json
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
import record_batches
from detected_topics import sampled
from topics import CATALOGUE
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.topic_samples import find_validation
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected

GARBAGE = (b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"type":"INSERT"}', b'{"payload":{"op":"c"}}', None)
MIXTURES = {
    "two dialects": ["oms/default@1", "oms-community/debezium@1"],
    "a switch of versions": ["dts/canal@1", "dts/canal@2"],
    "one envelope": ["drs/json@1", "oms/canal@1", "dts/canal@2"],
    "one envelope and another": ["drs/json@1", "oms/default-extend-column-type@1"],
    "json and records": ["dts/avro@1", "oms-community/shareplex@1", "oms/avro@1"],
}


def records_of(mixture, seed):
    """Messages of some contracts in turn or mixed, and garbage among them, as (partition, offset, contract, value)."""
    draw = Random(seed)
    reported = [(reference, value) for reference in MIXTURES[mixture] for value in sampled(reference, 25, seed=11)]
    if seed % 2:
        draw.shuffle(reported)
    for _ in range(12):
        reported.insert(draw.randrange(len(reported)), (None, draw.choice(GARBAGE)))
    offsets = Counter()
    records = []
    for reference, value in reported:
        partition = draw.randrange(2)
        records.append((partition, offsets[partition], reference, value))
        offsets[partition] += 1
    return sorted(records, key=lambda record: record[:2])


def batch_of(records):
    return record_batches.batch_of([(*place, value) for *place, _, value in records], topic="t")


def scope_of(records):
    return find_validation(Undetected(CATALOGUE, ReadingOptions()), lambda: [batch_of(records)])


def report_of(tally, detection):
    report = build_report(
        tally, catalogue=CATALOGUE, contract="auto", source={"kind": "file", "paths": []}, spans={},
        fail_on="error", detection=detection,
    )  # fmt: skip
    return json.dumps(report, sort_keys=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("mixture", MIXTURES)
def test_the_report_does_not_depend_on_how_the_records_are_cut_and_merged(mixture, seed):
    records, draw = records_of(mixture, seed), Random(seed)
    validation, detection = scope_of(records)
    whole = Kernel(validation).audit(batch_of(records))
    cuts = [0, *sorted(draw.sample(range(1, len(records)), 4)), len(records)]
    parts = [Kernel(validation).audit(batch_of(records[start:end])) for start, end in pairwise(cuts)]
    draw.shuffle(parts)
    merged = Tally()
    for part in parts:
        merged.merge(part)

    report = report_of(whole, detection)
    assert report == report_of(merged, detection)
    assert json.loads(report)["ledger"]["read"] == len(records)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("mixture", MIXTURES)
def test_every_record_is_decoded_as_the_reference_judges_it_and_in_order(mixture, seed):
    records = records_of(mixture, seed)
    validation, _ = scope_of(records)
    rows, reported = [], []
    for written in Kernel(validation).decode(batch_of(records)):
        rows += written.changes.to_pylist()
        reported += [(row["partition"], row["offset"]) for row in written.quarantine.to_pylist()]

    expected, quarantined = [], []
    for partition, offset, _, value in records:
        validated = validation.validate(value)
        if validated.verdict.outcome == "conforming":
            reference = validated.verdict.version.reference
            expected += [
                (partition, offset, index, reference, one.op, one.before, one.after)
                for index, one in enumerate(validated.changes)
            ]
        elif validated.verdict.outcome not in ("control", "tombstone"):
            quarantined.append((partition, offset))
    assert [
        (row["partition"], row["offset"], row["row_index"], row["contract"], row["op"], image(row["before"]),
         image(row["after"]))
        for row in rows
    ] == expected  # fmt: skip
    assert reported == quarantined


def test_a_judge_that_fails_costs_one_record_whoever_takes_it(monkeypatch):
    records = records_of("two dialects", 1)
    validation, _ = scope_of(records)
    kernel = Kernel(validation)
    (other_subject,) = kernel._other_subjects
    broken = next(record for record in records if record[2] and record[2] != validation.validated[0].reference)
    validate = other_subject._validator.validate

    def failing(values, keys=None, *, texts):
        if broken[3] in list(values):
            raise RuntimeError("a bug")
        return validate(values, keys, texts=texts)

    before = Kernel(validation).audit(batch_of(records))
    monkeypatch.setattr(other_subject._validator, "validate", failing)
    after = kernel.audit(batch_of(records))

    assert sum(part.read for part in after.partitions.values()) == len(records)
    assert after.outcomes["unreadable"] == before.outcomes["unreadable"] + 1


def image(columns):
    return None if columns is None else dict(columns)
