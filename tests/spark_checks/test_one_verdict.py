"""One verdict: whatever a run found, however it was read, every command comes to what a set of findings says."""

import json
from collections import Counter
from itertools import pairwise
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report
from cdc_contracts.registry.core.report.baseline import leave_out_known, read_baseline, render_baseline
from cdc_contracts.registry.core.report.combined_reports import combine_reports
from cdc_contracts.registry.core.report.recorded_evidence import decide_again
from cdc_contracts.registry.core.report.report_model import Report, ReportSource
from cdc_contracts.registry.core.report.stored_reports import write_document
from cdc_contracts.registry.core.stats import tally as tallies
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingTally
from cdc_contracts.registry.core.stats.partition_tallies import Moment, PartitionTally, Source
from cdc_contracts.registry.core.stats.range_evidence import VersionExclusion
from cdc_contracts.registry.core.stats.run_verdict import decide_run
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.streams.rolling_totals import Rolling, read_rolling, write_rolling

DECLARED, OTHER = "dts/canal@2", "dts/canal@1"
SEVERITIES = {
    "type-change": "error", "unknown-enum": "error", "value-form": "error", "ambiguous": "error",
    "other-version": "error", "missing-field": "error", "unknown-field": "warning", "table-schema": "warning", "precision": "info",
}  # fmt: skip
RULES = {
    "type-change": "D06", "unknown-enum": "D08", "value-form": "D07", "ambiguous": "D16", "other-version": "D03.images",
    "unknown-field": "D04", "missing-field": "D05", "table-schema": "D11.column-form", "precision": "D14",
}  # fmt: skip
THRESHOLDS = [
    "error", "warning", "error,unknown-field", "unknown-enum", "other-version", "ambiguous,error",
    "warning,unproven", "table-schema", "unproven",
]  # fmt: skip
REACHED = {"error": {"error"}, "warning": {"error", "warning"}}


class Message(NamedTuple):
    """A message with at most one finding; one without may be proven, or fit two versions that read other rows."""

    topic: str
    partition: int
    offset: int
    name: str | None
    table: str
    raised: bool = False
    proven: bool = False
    differs: bool = False
    null: bool = False

    @property
    def finding(self):
        return (self.name, RULES[self.name], "/a", f"shop.{self.table}")

    @property
    def severity(self):
        return "error" if self.raised else SEVERITIES[self.name]


def messages_of(draw, topic):
    """The messages of a topic: of few tables or many, clean or full of findings, of one cause or of several."""
    names = draw.sample(sorted(SEVERITIES), draw.randint(0, 4))
    tables, faulty = draw.choice([1, 3, 40]), draw.choice([0, 0.1, 0.6, 1])
    undecided, nulls = draw.choice([0, 0.3, 1]), draw.choice([0, 0, 0, 0.2, 1])
    found = []
    for number in range(draw.choice([0, 1, 5, 60])):
        null = draw.random() < nulls
        name = draw.choice(names) if names and not null and draw.random() < faulty else None
        differs = name is None and not null and draw.random() < undecided
        found.append(
            Message(
                topic, number % 2, number // 2, name, f"t{draw.randrange(tables)}", draw.random() < 0.1,
                not (name or differs or null), differs, null,
            )
        )  # fmt: skip
    return found


def tally_of(message):
    """The tally of one message, as the validators write it."""
    source = Source(message.topic, message.partition)
    outcome = "conforming"
    if message.null:
        outcome = "tombstone"
    elif message.name and message.severity == "error":
        outcome = message.name if message.name in ("ambiguous", "other-version") else "drifted"
    column = outcome if outcome in ("conforming", "tombstone") else "quarantined"
    counts = PartitionTally(read=1, first_offset=message.offset, last_offset=message.offset, **{column: 1})
    tally = Tally(partitions={source: counts}, outcomes=Counter({outcome: 1}))
    if message.differs:
        tally.undecided = tally.differing = 1
    if message.proven:
        tally.seen[DECLARED] = 1
    if message.name == "other-version":
        tally.seen[OTHER] = 1
        difference = ("/a", "placed", "swapped")
        tally.excluded = {DECLARED: VersionExclusion(*source, message.offset, OTHER, difference)}
    if message.name:
        moment = Moment(*source, message.offset, None)
        name, rule, path, table = message.finding
        found = FindingTally(
            message.severity, Counter(["placed"]), Counter(["swapped"]), extents={source: Extent(1, moment, moment)}
        )
        tally.add_finding(Finding(rule, name, message.severity, path, "placed", "swapped"), table, found)
    return tally


def merged(parts):
    total = Tally()
    for part in parts:
        total.merge(part)
    return total


def parts_of(draw, messages):
    """The messages in parts that follow each other, each merged in any order."""
    cuts = sorted({0, len(messages), *(draw.randint(0, len(messages)) for _ in range(draw.randint(0, 5)))})
    parts = []
    for start, end in pairwise(cuts):
        part = [tally_of(message) for message in messages[start:end]]
        draw.shuffle(part)
        parts.append(merged(part))
    return parts


def expected(messages, fail_on, known, *, stopped=False):
    """The verdict and whether a decode is withheld, from nothing but sets of messages and findings."""
    words = set(fail_on.split(","))
    severities = set().union(*(REACHED.get(word, set()) for word in words))
    findings = {message.finding for message in messages if message.name}
    new = findings - known
    heavy = {message.finding for message in messages if message.name and message.severity in severities}
    failing = {one for one in new if one[0] in words or (one in heavy and one[0] != "ambiguous")}
    per_topic = {topic: [one for one in messages if one.topic == topic] for topic in {one.topic for one in messages}}
    unproven = withheld = False
    for held in per_topic.values():
        undecided = any(one.differs for one in held)
        swapped = any(one.name == "other-version" for one in held)
        unproven |= undecided and not swapped and not any(one.proven for one in held)
        withheld |= undecided and swapped
    if failing or (unproven and "unproven" in words):
        return "drift", withheld
    is_ambiguous = any(one[0] == "ambiguous" for one in new)
    is_opposed = withheld and any(one[0] == "other-version" for one in new)
    if is_ambiguous or is_opposed or stopped or all(message.null for message in messages):
        return "inconclusive", withheld
    return "pass", withheld


def report_of(tally, topic, fail_on, stopped=None):
    return build_report(
        tally,
        AppliedContract(CATALOGUE, DECLARED, validation=scope_of(DECLARED)),
        ReadRange(source_of(topic), {}, stopped=stopped),
        fail_on=fail_on,
    )


def source_of(topic):
    window = {topic: {"from": "earliest", "to": "latest"}}
    return msgspec.convert({"kind": "kafka", "topics": [topic], "ranges": window}, ReportSource)


def followed(draw, messages, topic, fail_on):
    """The report of a stream that read the messages in batches, stopped and resumed between them."""
    rolling = Rolling()
    for number, part in enumerate(parts_of(draw, messages)):
        spans = {
            source: Span(counts.first_offset, counts.last_offset + 1) for source, counts in part.partitions.items()
        }
        rolling.add(number, part, spans)
        rolling = read_rolling(write_rolling(rolling))
    return rolling.report(TopicInput("h:1", {topic: {}}, {}), scope_of(DECLARED), None, fail_on)


def stored(report):
    """The report as another process reads it."""
    return msgspec.convert(json.loads(json.dumps(write_document(report))), Report)


@pytest.fixture(scope="module")
def baseline_of(tmp_path_factory):
    path = tmp_path_factory.mktemp("baseline") / "known.json"

    def write(report):
        path.write_text(render_baseline(report), encoding="utf-8")
        return read_baseline(path)

    return write


@pytest.mark.parametrize("most", [1, 5, 5000])
@pytest.mark.parametrize("block", range(4))
def test_every_command_comes_to_the_verdict_that_sets_of_findings_give(most, block, monkeypatch, baseline_of, part):
    monkeypatch.setattr(tallies, "MOST_FINDINGS", most)
    monkeypatch.setattr(tallies, "MOST_FAULTS", most)
    for case in part(range(60), 3):
        draw = Random(f"{most} {block} {case}")
        fail_on, again = draw.choice(THRESHOLDS), draw.choice(THRESHOLDS)
        messages = messages_of(draw, "a")
        earlier = messages_of(draw, "a") if draw.random() < 0.5 else draw.sample(messages, len(messages) // 2)
        known = {message.finding for message in earlier if message.name}
        parts = parts_of(draw, messages)
        draw.shuffle(parts)
        where = (most, block, case)

        audited = report_of(merged(parts), "a", fail_on)
        verdict, withheld = expected(messages, fail_on, set())
        decided = decide_run(audited.evidence, fail_on)
        assert (audited.verdict, decided.verdict, decided.withheld is not None) == (verdict, verdict, withheld), where
        assert not (withheld and verdict == "pass"), where

        stream = followed(draw, messages, "a", fail_on)
        assert (stream.verdict, stream.evidence) == (verdict, audited.evidence), where

        repeated = decide_again(stored(audited), again)
        assert repeated.verdict == expected(messages, again, set())[0], where

        baseline = baseline_of(report_of(merged(parts_of(draw, earlier)), "a", fail_on))
        for read in (audited, stored(audited), stream):
            assert leave_out_known(read, baseline).verdict == expected(messages, fail_on, known)[0], where

        stopped = report_of(merged(parts_of(draw, messages)), "a", fail_on, stopped="time limit")
        assert stopped.verdict == expected(messages, fail_on, set(), stopped=True)[0], where
        assert leave_out_known(stopped, baseline).verdict == expected(messages, fail_on, known, stopped=True)[0], where

        others = messages_of(draw, "b")
        both = [audited, report_of(merged(parts_of(draw, others)), "b", fail_on)]
        draw.shuffle(both)
        joined = combine_reports([stored(one) for one in both])
        assert joined.verdict == expected(messages + others, fail_on, set())[0], where
        assert leave_out_known(joined, baseline).verdict == expected(messages + others, fail_on, known)[0], where


def many(tables, name="unknown-enum"):
    total = Tally()
    for number in range(tables):
        total.merge(tally_of(Message("a", 0, number, name, f"t{number:06d}")))
    return total


def test_drift_in_one_new_table_beyond_all_that_are_kept_is_new(monkeypatch, baseline_of, part):
    monkeypatch.setattr(tallies, "MOST_FINDINGS", 500)
    known = baseline_of(report_of(many(500), "a", "error"))
    same = leave_out_known(report_of(many(500), "a", "error"), known)
    assert (same.verdict, same.findings, same.baseline.known) == ("pass", (), 1)

    report = report_of(many(501), "a", "error")
    left = leave_out_known(report, known)
    assert left.verdict == "drift"
    assert (left.findings, left.findings_other.findings) == ((), 1)
    assert leave_out_known(report, baseline_of(report)).verdict == "pass"


def test_the_proof_that_withholds_a_decode_is_kept_however_many_findings_come_before_it(monkeypatch):
    """Findings of 21,000 tables come before the one on the message that proves another version."""
    monkeypatch.setattr(tallies, "MOST_FINDINGS", 500)
    total = many(2_100, "type-change")
    for number in range(40):
        total.merge(tally_of(Message("a", 0, 3_000 + number, None, "t", differs=True)))
    total.merge(tally_of(Message("a", 0, 4_000, "other-version", "t")))
    total.merge(many(2_100, "missing-field"))
    decided = decide_run(report_of(total, "a", "error").evidence, "error")
    assert decided.verdict == "drift"
    assert decided.withheld == (
        "a partition 0 offset 4000 is proven to be another version (/a: expected placed, observed swapped), "
        "and 40 records fit both versions but mean different rows"
    )


@pytest.mark.parametrize("tables", [1, 200_000])
def test_a_finding_whose_details_are_not_kept_takes_eight_bytes_of_a_tally_that_is_sent(tables):
    folded = Tally().folded
    folded.take(("unknown-enum", "error"), [f"{number:016x}" for number in range(tables)])
    assert len(write_rolling(Rolling(tally=Tally(folded=folded)))) - len(write_rolling(Rolling())) < 8 * tables + 100
    assert read_rolling(write_rolling(Rolling(tally=Tally(folded=folded)))).tally.folded == folded
