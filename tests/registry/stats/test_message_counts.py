"""The counts of a report add up by messages: the ledger, the headline, and the findings in union, by a model of sets."""

import json
import re
from collections import Counter, defaultdict
from random import Random

import pytest
from record_batches import batch_of
from topics import CATALOGUE, PLAIN, rendered, scope_of
from written_reports import build_report, headline

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.report.cause_findings import unite_faults
from cdc_contracts.registry.core.stats import finding_overlaps
from cdc_contracts.registry.core.stats.finding_overlaps import Fault, FindingOverlaps
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.drift_rule import drift_rules
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS, CONFORMING, CONTROL, TOMBSTONE

TYPED = ("dts/canal@2", "oms-community/canal@2", "drs/json@2")
WHOLE = ("read", "conforming", "control", "tombstone", "quarantined", "contradicted", "excluded")


def without_types(draw, value):
    """The message with the types of some columns left out, and unknown types of others."""
    message = json.loads(value)
    types = message.get("mysqlType")
    for name in draw.sample(sorted(types), draw.randint(0, 4)) if types else ():
        if draw.random() < 0.5:
            del types[name]
        else:
            types[name] = "nonsense"
    return json.dumps({**message, "table": draw.choice(["orders", "visits"])}).encode()


def older(draw, value):
    """The message with some values left out, so that fewer columns show how a version writes them."""
    message = json.loads(value)
    for row in message.get("data") or ():
        row.update(dict.fromkeys(draw.sample(sorted(row.keys() - {"id"}), 3 * draw.randint(0, 3))))
    return json.dumps(message).encode()


def broken_topic(draw):
    """A topic whose messages break rules on some columns each: its contract, and its records by partition."""
    contract = draw.choice(TYPED)
    if contract.startswith("oms") and draw.random() < 0.5:
        values = [older(draw, value) for value in rendered("oms-community/canal@1", 80, seed=draw.randrange(9))]
    else:
        values = [without_types(draw, value) for value in rendered(contract, 80, seed=draw.randrange(9))]
    partitions = draw.choice([1, 3])
    return contract, [(number % partitions, number // partitions, value) for number, value in enumerate(values)]


def merged(draw, tallies):
    """The tallies merged in any order."""
    draw.shuffle(tallies)
    while len(tallies) > 1:
        at = draw.randrange(len(tallies) - 1)
        tallies[at].merge(tallies.pop(at + 1))
    return tallies[0]


def fast(draw, contract, records):
    """The tally of the kernel over the records, in parts of any size and order."""
    kernel, parts = Kernel(scope_of(contract)), []
    shuffled, start = draw.sample(records, len(records)), 0
    while start < len(shuffled):
        size = draw.choice([1, 7, 40, 80])
        parts.append(kernel.audit(batch_of(shuffled[start : start + size])))
        start += size
    return merged(draw, parts)


def slow(draw, contract, records):
    """The tally of the reference, message by message."""
    validation = scope_of(contract)
    return merged(draw, [
        account_of(validation.validate(value), Source("orders", partition), Point(offset, None), value)
        for partition, offset, value in records
    ])  # fmt: skip


def reported(tally, contract):
    return build_report(
        tally, catalogue=CATALOGUE, contract=contract, source={"kind": "file"}, spans={}, fail_on="warning"
    )


def faults_of(contract, records):
    """By record the faults that the reference validator finds in it, each with its table."""
    validation = scope_of(contract)
    return faults_among([(place, offset, validation.validate(value)) for place, offset, value in records])


def faults_among(judged):
    found = {}
    for partition, offset, validated in judged:
        table = validated.table if validated.verdict.outcome not in ("unreadable", "other-dialect") else None
        found[partition, offset] = {(table, one.rule, one.path) for one in validated.verdict.findings}
    return found


def faults_in(finding):
    """The faults that a finding of a report stands for."""
    tables = [one["table"] for one in finding.get("tables", [finding])]
    return {(table, one["rule"], one["path"]) for one in finding.get("columns", [finding]) for table in tables}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("block", range(6))
def test_a_finding_counts_each_message_once_on_both_paths_however_records_are_cut(block):
    draw, several = Random(block), 0
    for _ in range(4):
        contract, records = broken_topic(draw)
        faults = faults_of(contract, records)
        fast_report = reported(fast(draw, contract, records), contract)
        slow_report = reported(slow(draw, contract, records), contract)
        assert fast_report["findings"] == slow_report["findings"]
        every = set().union(*faults.values())
        own = [one for one in fast_report["findings"] if faults_in(one) & every]
        assert set().union(*map(faults_in, own)) == every
        for finding in own:
            held = [place for place, found in faults.items() if found & faults_in(finding)]
            assert (finding["count"], "at_least" in finding) == (len(held), False)
            by_partition = defaultdict(int)
            for partition, _ in held:
                by_partition[partition] += 1
            assert {part["partition"]: part["count"] for part in finding["partitions"]} == by_partition
            assert sum(finding["ops"].values()) == finding["count"]
            several += len(finding.get("columns", ())) > 1
    assert several > 2


@pytest.mark.parametrize("most", [0, 1, 5])
def test_where_too_many_combinations_occur_a_count_is_at_least_that_of_one_column(most, monkeypatch):
    monkeypatch.setattr(finding_overlaps, "MOST_OVERLAPS", most)
    draw, bounded = Random(most), 0
    for _ in range(2):
        contract, records = broken_topic(draw)
        faults = faults_of(contract, records)
        tallies = [fast(draw, contract, records), slow(draw, contract, records)]
        for tally in tallies:
            tally.overlaps.bound()
        reports = [reported(tally, contract)["findings"] for tally in tallies]
        assert reports[0] == reports[1]
        for finding in reports[0]:
            held = sum(bool(found & faults_in(finding)) for found in faults.values())
            if held and "at_least" in finding:
                bounded += 1
                assert max(one["count"] for one in finding["columns"]) <= finding["count"] <= held
            elif held:
                assert finding["count"] == held
    assert bounded


def check_counts(contract, values):
    """Check all counts of an audit against what the reference validator finds in each message."""
    validation = scope_of(contract)
    kernel, tally = Kernel(validation), Tally()
    records = [(0, offset, value) for offset, value in enumerate(values)]
    for start in range(0, len(records), 33):
        tally.merge(kernel.audit(batch_of(records[start : start + 33])))
    report = reported(tally, contract)
    ledger, outcomes = report["ledger"], defaultdict(int)
    judged = [(partition, offset, validation.validate(value)) for partition, offset, value in records]
    faults = faults_among(judged)
    for _, _, validated in judged:
        outcome = validated.verdict.outcome
        outcomes[outcome if outcome in (CONFORMING, CONTROL, TOMBSTONE) else "quarantined"] += 1
        outcomes[AMBIGUOUS] += outcome == AMBIGUOUS
    for counts in (ledger, *ledger["partitions"]):
        assert counts["read"] == sum(counts[name] for name in WHOLE[1:]) == len(values)
        assert counts["quarantined"] == outcomes["quarantined"]
        assert counts["conforming"] + counts["contradicted"] == outcomes[CONFORMING]
        assert (counts["control"], counts["tombstone"]) == (outcomes[CONTROL], outcomes[TOMBSTONE])
    wrong = ledger["quarantined"] + ledger["contradicted"] - outcomes[AMBIGUOUS]
    said = re.match(r"([\d,]+) of ([\d,]+) messages do not conform", headline(report))
    assert (int(said[1].replace(",", "")) if said else 0) == wrong
    valued = len(values) - outcomes[TOMBSTONE]
    for finding in report["findings"]:
        held = sum(bool(found & faults_in(finding)) for found in faults.values())
        if finding["rule"] == "D03.images":
            held += ledger["contradicted"]
        if held and finding["class"] != "table-schema":
            assert (finding["count"], "at_least" in finding) == (held, False), finding["rule"]
        assert finding["count"] == sum(part["count"] for part in finding["partitions"]) <= valued
        assert finding["count"] <= finding["denominator"] or not finding["table"]
        if finding["severity"] == "error" and finding["class"] != "ambiguous" and held:
            assert finding["count"] <= wrong
    return report


DRIFTS = [
    None,
    *(name for name, one in CLASSES.items() if one.breaks is not None or one.drifts is not None),
    *(rule.name for rule in drift_rules().values()),
]
SUBJECTS = [version.reference for subject in CATALOGUE.subjects() for version in CATALOGUE.versions(subject)]


@pytest.mark.one_in(48)
@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("reference", SUBJECTS)
def test_the_counts_of_a_report_add_up_for_every_sample_and_drift(reference, drift):
    version = CATALOGUE.version(reference)
    try:
        values = list(sample_messages(version, 60, seed=1, reading_options=PLAIN, drift=drift))
    except UsageError:
        return  # a version without such a rule, or whose messages cannot show it
    check_counts(reference, values)


@pytest.mark.parametrize("drift", [None, "missing-field"])
def test_messages_of_another_version_are_counted_apart_from_those_quarantined(drift):
    """Of 600 messages of which a part proves its version and others only by the changes of their rows."""
    old = [*sample_messages(CATALOGUE.version("dts/canal@1"), 600, seed=1, reading_options=PLAIN)][:240]
    new = sample_messages(CATALOGUE.version("dts/canal@2"), 600, seed=1, reading_options=PLAIN, drift=drift)
    deletes, updates = (sum(json.loads(value)["type"] == op for value in old) for op in ("DELETE", "UPDATE"))
    report = check_counts("dts/canal@2", [*old, *[*new][240:]])
    ledger = report["ledger"]
    found = {one["rule"]: one["count"] for one in report["findings"]}
    assert found["D03.images"] == deletes + ledger["contradicted"]
    assert 0.75 * updates <= ledger["contradicted"] <= updates
    assert ledger["quarantined"] == deletes + found.get("D05", 0)
    assert bool(drift) == ("D05" in found)


def counted_alone(ops, paths=("/a", "/b")):
    """Two findings of which nothing is known but how often each op code has them."""
    source = Source("t", 0)
    first, last = Moment("t", 0, 0, None), Moment("t", 0, 99, None)
    return {
        Fault("table-schema", "D11.dropped-column", path): FindingTally(
            "warning", ops=Counter(counts), extents={source: Extent(sum(counts.values()), first, last)},
            counted_alone=True,
        )
        for path, counts in zip(paths, ops, strict=True)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ops", "messages", "at_least"),
    [
        (({"I": 3}, {"D": 2}), 5, False),
        (({"I": 3}, {"I": 2}), 3, True),
        (({"I": 3, "D": 1}, {"D": 2}), 4, True),
        (({"I": 3}, {"I": 3}), 3, True),
        (({}, {"D": 2}), 2, False),
    ],
)
def test_findings_counted_alone_are_added_up_only_where_no_message_can_have_both(ops, messages, at_least):
    union = unite_faults(counted_alone(ops), FindingOverlaps(), (), "shop.orders")
    assert (union.messages, union.at_least) == (messages, at_least)
    assert sum(union.ops.values()) >= messages
