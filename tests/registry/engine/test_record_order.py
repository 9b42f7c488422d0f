"""The same records give the same result, in whatever order, split and merged in whatever way.

Every version of the catalogue, with its samples, drift samples, and mutations of them: updates of nothing, empty rows,
members that are absent. A fixed choice of them; CDC_CONTRACTS_MUTATIONS=kinds takes ten times as many.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import framed_topics
import pyarrow as pa
import pytest
import record_batches
from both_paths import CATALOGUE, VERSIONS, by_reference, samples, shown
from default_values import DEFAULTS, message_with_defaults
from mutations import to_bytes
from rule_violations import breaker_of, good_records, neighbours, pairs_of, scope_of
from topics import WITH_TABLES, rendered
from written_reports import build_report

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.group.observed_shapes import findings_by_record
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.column_ways import ColumnWays
from cdc_contracts.registry.core.stats.finding_tallies import FindingTally
from cdc_contracts.registry.core.stats.range_evidence import RangeEvidence, VersionProof
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.topic_profiles import TopicProfiles
from cdc_contracts.registry.core.validate.validation_context import open_validation

Record = tuple[int, int, bytes | None]
"""Partition, offset, value."""

PARTITIONS, TASKS = 3, 3
LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
MOST = 400 if LONG else 20
"""So many records of each version, samples and mutations alike."""
EVERY = 3 if LONG else 9
"""One of so many mutations of a kind may be among them, and of those of any member a fourth of that."""
CUTS = 8 if LONG else 2
"""In so many places a partition is cut."""
SHUFFLED = 2 if LONG else 1
"""So many orders besides the first and, of records, the reverse of it."""


@cache
def records_of(version: Version) -> tuple[bytes | None, ...]:
    """Return samples and mutations of a version, in a fixed mixture, and a tombstone."""
    values = [value for _, value in samples()[version.reference]]
    broken = [
        value
        for breaker in dict.fromkeys((*(breaker_of(rule) for rule in version.meaning.rules), neighbours))
        for value in pairs_of(version, breaker, every=EVERY if breaker is not neighbours else 4 * EVERY)[1]
    ]
    Random(version.reference).shuffle(broken)
    Random(version.reference).shuffle(values)
    chosen = [*values[: MOST // 2], *broken[: MOST // 2]]
    Random(version.reference).shuffle(chosen)
    return (*chosen, None, chosen[0], chosen[1])


def batch_of(records: Sequence[Record]) -> pa.RecordBatch:
    return record_batches.batch_of(records, time=lambda offset: 1_600_000_000_000_000 + offset)


def report_of(version: Version, tally: Tally) -> dict[str, Any]:
    return build_report(
        tally, catalogue=CATALOGUE, contract=version.reference, source={"kind": "kafka"}, spans={}, fail_on="error"
    )


# --- any order


def by_value(version: Version, values: Sequence[bytes | None]) -> dict[bytes | None, Any]:
    """Return the outcome and the findings of each value, shapes observed among them."""
    batch_result = FastValidator(scope_of(version.reference)).validate(values, texts=True)
    reported = dict(findings_by_record(batch_result))
    verdicts = {number: validated.verdict for number, validated in batch_result.alone}
    for group_result in batch_result.group_results:
        verdicts |= dict.fromkeys(group_result.record_group.numbers.tolist(), group_result.verdict)
    return {
        values[number]: (shown(verdict), [(one.rule, one.path, one.observed) for one in reported.get(number, ())])
        for number, verdict in verdicts.items()
    }


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_record_has_the_same_result_whatever_came_before(version, part):
    values = part(records_of(version), 2)
    expected = by_value(version, values)
    draw = Random(version.reference)

    for order in (values[::-1], *(draw.sample(values, len(values)) for _ in range(SHUFFLED - 1))):
        found = by_value(version, order)
        assert {
            value: (found[value], reported) for value, reported in expected.items() if found[value] != reported
        } == {}
    reported = {value: shown(by_reference([scope_of(version.reference)], value)[0]) for value in expected if value}
    assert {
        value: (reported[value], one[0]) for value, one in expected.items() if value and reported[value] != one[0]
    } == {}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_report_says_the_same_of_records_in_another_order_but_for_where_they_are(version, part):
    values = part(records_of(version), 2)

    def reported(order: Sequence[bytes | None]) -> Any:
        records = [(0, offset, value) for offset, value in enumerate(order)]
        tally = Kernel(scope_of(version.reference)).audit(batch_of(records))
        findings = {key: without_places(finding) for key, finding in tally.findings.items()}
        report = report_of(version, tally)
        ledger = {key: value for key, value in report["ledger"].items() if key != "partitions"}
        return findings, ledger, [report[key] for key in ("verdict", "versions_seen", "versions_undecided", "coverage")]

    assert reported(values[::-1]) == reported(values)


def without_places(finding: FindingTally) -> dict[str, Any]:
    """Return what of a finding does not depend on which record is where: a report groups columns by where they begin."""
    return {**flat(finding), "extents": finding.count, "example": None}


# --- any cut


def in_partitions(values: Sequence[bytes | None]) -> list[Record]:
    return [(offset % PARTITIONS, offset // PARTITIONS, value) for offset, value in enumerate(values)]


def tallies_of(version: Version, records: Sequence[Record], draw: Random) -> list[Tally]:
    """Return what tasks came to that each read some ranges of the partitions, with a kernel and batches of their own.

    A batch may hold parts of several partitions; what it holds of one comes in order and without a hole.
    """
    tasks: list[list[list[Record]]] = [[] for _ in range(TASKS)]
    for place in range(PARTITIONS):
        mine = [one for one in records if one[0] == place]
        for start, stop in pairwise(
            (0, *sorted(draw.sample(range(1, len(mine)), min(CUTS, len(mine) - 1))), len(mine))
        ):
            draw.choice(tasks).append(mine[start:stop])
    tallies = []
    for parts in tasks:
        kernel = Kernel(scope_of(version.reference))
        draw.shuffle(parts)
        while parts:
            first, *others = parts
            batch = [first, *(part for part in others[:1] if part[0][0] != first[0][0])]
            del parts[: len(batch)]
            tallies.append(kernel.audit(batch_of([one for part in batch for one in part])))
    return tallies


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_report_is_the_same_however_its_records_were_cut_and_merged(version, part):
    records, draw = in_partitions(part(records_of(version), 2)), Random(version.reference)
    whole = report_of(version, Kernel(scope_of(version.reference)).audit(batch_of(records)))

    parts = tallies_of(version, records, draw)
    orders = [pickle.dumps(parts)]
    for _ in range(SHUFFLED):
        draw.shuffle(parts)
        orders.append(pickle.dumps(parts))

    for order in orders:
        assert report_of(version, merged(pickle.loads(order))) == whole


def merged(tallies: Sequence[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


# --- what a tally holds


def untyped(stream: Sequence[bytes]) -> list[bytes]:
    """Return messages with two findings at once: two of their columns have no type."""
    found = []
    for value in stream:
        message = json.loads(value) if value.startswith(b"{") else {}
        types = message.get("mysqlType")
        if types:
            found.append(json.dumps({**message, "mysqlType": dict([*types.items()][2:])}).encode())
    return found


@cache
def pieces() -> bytes:
    """Return tallies of many kinds of records, pickled: merging changes what it is given."""
    found = []
    for number, reference in enumerate(
        ("dts/canal@2", "oms-community/default@2", "drs/json@2", "dts/avro@1", "oms/avro@1", "debezium/json@4")
    ):
        version = CATALOGUE.version(reference)
        stream = rendered(reference, 60, seed=number, reading_options=WITH_TABLES, snapshot=5, controls=9)
        values = [*stream, *records_of(version), *untyped(stream)]
        mixed = [(number, offset, value) for offset, value in enumerate(values)]
        options = replace(WITH_TABLES, profiled=True)
        kernel = Kernel(open_validation(CATALOGUE, reference if number % 2 == 0 else version.subject, options))
        batches = [batch_of(mixed[start : start + 25]) for start in range(0, len(mixed), 25)]
        found += [written.tally for batch in batches for written in kernel.decode(batch)]
    defaults = message_with_defaults([default for _, default, *_ in DEFAULTS.values()], optional=True)
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json-schema@2", WITH_TABLES))
    found += [kernel.audit(batch_of([(7, offset, defaults)])) for offset in (3, 1, 2)]
    schema = framed_topics.envelope_of({"name": "id", "type": "int"})
    kernel = Kernel(framed_topics.scope_of(dict.fromkeys((1, 2), schema)))
    framed = [(3, offset, framed_topics.change(number, schema, {"id": 7})) for offset, number in enumerate((1, 2, 1))]
    found += [kernel.audit(framed_topics.topic_of([one])) for one in framed]
    for offset in (9, 4, 30):  # what only a versions file makes
        proof = VersionProof(offset, "/type", "dts/canal@1", "dts/canal@2")
        found.append(Tally(evidence_by_message={("orders", 0, offset % 2): RangeEvidence(offset, proof)}))
    return pickle.dumps(found)


def parts_of(tally: Tally) -> dict[str, Any]:
    """Return every field of a tally by its path, those of the dataclasses it is made of among them.

    A trail learns of records without its finding when it is asked, so what it says then is compared.
    """
    found = flat(tally)
    return found | {
        "findings": {
            key: flat(finding)
            | {
                "extents": {
                    source: flat(extent) | {"series_by_op": tally.unbroken(key, source)}
                    for source, extent in finding.extents.items()
                }
            }
            for key, finding in tally.findings.items()
        }
    }


def flat(value: Any, at: str = "") -> dict[str, Any]:
    if isinstance(value, ColumnWays):  # compared by what it says of columns, not by how it keeps that
        return {f"{at}seen": value.seen, f"{at}cut": value.cut}
    found: dict[str, Any] = {}
    for one in fields(value):
        inner = getattr(value, one.name)
        whole = isinstance(inner, RowChanges)  # compared by what it keeps, not by how
        found |= flat(inner, f"{at}{one.name}.") if is_dataclass(inner) and not whole else {f"{at}{one.name}": inner}
    return found


@cache
def parts_of_sums() -> list[dict[str, Any]]:
    """Return the fields of the same tallies merged in several orders and groupings."""
    draw, order = Random(SHUFFLED), list(range(len(pickle.loads(pieces()))))
    found = []
    for grouping in (one_by_one, two_by_two) * 3:
        tallies = pickle.loads(pieces())
        found.append(parts_of(grouping([tallies[number] for number in order])))
        draw.shuffle(order)
    return found


FIELDS = sorted(parts_of(Tally(profiles=TopicProfiles())))
FULL_ONLY = {
    "dropped", "folded.held", "cuts", "overlaps.left_out", "statistics.shapes.cut", "statistics.writing.cut",
    "statistics.options.cut", "statistics.substitutes.cut", "statistics.schemas.cut",
}  # fmt: skip
"""What is set only where there was too much to keep: other tests fill those."""


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_tally_is_merged_in_any_order_and_any_grouping(name):
    found = [parts[name] for parts in parts_of_sums()]

    assert [one for one in found if one != found[0]] == []
    assert bool(found[0]) or name in FULL_ONLY, "no record of this test has anything to say to this field"


def one_by_one(tallies: list[Tally]) -> Tally:
    return merged(tallies)


def two_by_two(tallies: list[Tally]) -> Tally:
    """Merge neighbours, then their sums, as a tree of tasks does."""
    while len(tallies) > 1:
        pairs = [tallies[start : start + 2] for start in range(0, len(tallies), 2)]
        tallies = [merged(pair) for pair in pairs]
    return tallies[0]


# --- one place, two weights


def test_a_finding_weighs_as_much_as_the_heaviest_of_its_records_whichever_came_first():
    version = CATALOGUE.version("dts/canal@2")
    good = next(one for one in good_records(version) if one.op == "insert").message
    row, types = good["data"][0], good["mysqlType"]
    name = next(iter(row.keys() - {"id"}))
    without_value = to_bytes({**good, "data": [{one: row[one] for one in row if one != name}]})
    without_type = to_bytes({**good, "mysqlType": {one: types[one] for one in types if one != name}})

    for values in ([without_value, without_type], [without_type, without_value]):
        tally = Kernel(scope_of(version.reference)).audit(batch_of([(0, at, value) for at, value in enumerate(values)]))
        report = report_of(version, tally)
        (found,) = [one for one in report["findings"] if one["rule"] == "D09.columns-typed"]
        assert (found["severity"], found["count"], found["path"]) == ("error", 2, f"/data/0/{name}")
        assert (report["verdict"], report["ledger"]["quarantined"]) == ("drift", 1)
