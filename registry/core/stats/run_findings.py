"""Run findings: findings that only a whole run can show, derived from its stream statistics for the report."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.findings import CLASSES, INFO, rule_id
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.stats.column_ways import WrittenTable
from cdc_contracts.registry.core.stats.ddl_statements import Statement, altered_table, dropped_columns, named_in
from cdc_contracts.registry.core.stats.finding_onsets import FindingSeries
from cdc_contracts.registry.core.stats.finding_overlaps import Fault, FindingOverlaps, OverlapPlace
from cdc_contracts.registry.core.stats.finding_tallies import Extent, FindingKey, FindingTally
from cdc_contracts.registry.core.stats.option_evidence import OPTION_CHANGE
from cdc_contracts.registry.core.stats.partition_tallies import Moment, Source
from cdc_contracts.registry.core.stats.position_sequences import GOES_BACK, REPEATS, Stretch
from cdc_contracts.registry.core.stats.refutations import Refutation
from cdc_contracts.registry.core.stats.schema_timeline import NO_SCHEMAS, SchemaTimeline
from cdc_contracts.registry.core.stats.schema_uses import KEY, VALUE
from cdc_contracts.registry.core.stats.stream_statistics import StreamStatistics
from cdc_contracts.registry.core.stats.table_drift import DROPPED_COLUMN, LOST_COLUMN
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.writing_turns import drifting_turns
from cdc_contracts.registry.core.validate.rule_coverage import coverage_gaps
from cdc_contracts.registry.core.validate.table_constraints import PRIMARY_KEY
from cdc_contracts.registry.core.validate.validation_context import AUTO

COLUMN_FORM: Final = "column-form"
SUBSTITUTE: Final = "substitute"
INCOMPATIBLE_SCHEMA: Final = rule_id("table-schema", "incompatible-schema")
INCOMPATIBLE_KEY: Final = rule_id("table-schema", "incompatible-key")
_SCHEMA_RULES: Final = {VALUE: INCOMPATIBLE_SCHEMA, KEY: INCOMPATIBLE_KEY}
_OF_SCHEMAS: Final = "writer-schema"
_OR_NEAR_1970: Final = ", or moments within a month of 1970-01-01"
_READ_BOTH_WAYS: Final = "records that readers of the schema before read, and the other way round"
_OF_CHAINS: Final = "key-chain"
"""The series of records that key chains prove: no op that a message could say."""
_WORDS_OF_ORDER: Final = {
    GOES_BACK: ("not below the one before", "below the one before"),
    REPEATS: ("above the one before", "the same as the one before"),
}


class _Found(NamedTuple):
    """One finding in one partition: the records that have it, and since when, if known.

    `counted_alone` as in a tally of it.
    """

    key: FindingKey
    source: Source
    expected: str
    observed: str
    stretch: Stretch
    series_by_op: dict[str, FindingSeries]
    severity: str | None = None
    counted_alone: bool = False


def finalize(
    tally: Tally,
    catalogue: Catalogue,
    declared: str = AUTO,
    *,
    ranged: bool = False,
    schemas: SchemaTimeline = NO_SCHEMAS,
) -> None:
    """Add the findings of stream statistics to those of single messages. Idempotent.

    `declared` is the contract of the run, which the evidence of many messages may contradict. `ranged` if each range
    is validated under its own version, so that a switch of versions is as declared. `schemas` are the writer schemas of
    each table and what they changed.
    """
    statistics = tally.statistics
    valued = sum(counts.valued for counts in tally.partitions.values())
    found: dict[FindingKey, FindingTally] = {}
    options = list(_options(statistics))
    explained = {(one.key.path, one.key.table, one.source) for one in options}
    writing = [
        one
        for one in _writing(statistics, catalogue, declared, ranged=ranged)
        if (one.key.path, one.key.table, one.source) not in explained
    ]
    for one in (
        *_order(statistics), *_tables(tally), *_dropped(tally), *writing, *options, *_controls(statistics, valued),
        *_substitutes(statistics), *_schemas(schemas),
    ):  # fmt: skip
        found.setdefault(one.key, _empty(statistics, one)).merge(_as_tally(statistics, one))
    for key, reference, expected, observed in _unexercised(statistics, catalogue):
        result = found[key] = FindingTally(_severity(statistics, key))
        result.expected[expected], result.observed[observed], result.contracts[reference] = 0, 0, 0
        result.extents = _whole_range(tally)
    for key, drift in found.items():
        tally.total_findings += drift.count - (tally.findings[key].count if key in tally.findings else 0)
    tally.findings |= found
    tally.dropped |= statistics.shapes.cut | statistics.writing.cut | statistics.options.cut
    tally.dropped |= statistics.substitutes.cut | schemas.cut


def with_chains(tally: Tally, catalogue: Catalogue, refutations: Iterable[Refutation]) -> Tally:
    """Return the tally with findings for records that key chains prove to be of another than the declared version.

    They are counted with the records that prove it by themselves: both have their images as in the other version.
    """
    found = dict(tally.findings)
    result = 0
    for refutation in refutations:
        for one in _swapped(refutation, catalogue) if refutation.stretch.proven else ():
            known = found.get(one.key)
            found[one.key] = _empty(tally.statistics, one) if known is None else deepcopy(known)
            found[one.key].merge(_as_tally(tally.statistics, one))
            result += one.stretch.count
    return replace(tally, findings=found, total_findings=tally.total_findings + result)


def count_contradicted(refutations: Iterable[Refutation]) -> Counter[Source]:
    """Return by partition the messages that were read by a version which row changes prove to be another."""
    offsets: dict[Source, set[int]] = defaultdict(set)
    for one in refutations:
        for share in one.stretch.tables if one.stretch.proven else ():
            offsets[Source(one.line.topic, one.line.partition)].update(share.offsets)
    return Counter({source: len(found) for source, found in offsets.items()})


def _swapped(refutation: Refutation, catalogue: Catalogue) -> Iterator[_Found]:
    """Yield by table the records of a stretch whose images are swapped according to another version."""
    line, stretch, validated = refutation.line, refutation.stretch, refutation.contract
    version = catalogue.version(stretch.contract)
    sides = version.meaning.images.of("update")
    path = sides.after.at if sides is not None and sides.after is not None else ""
    code = next((code for code, op in version.meaning.ops.items() if op == "update"), "update")
    for share in stretch.tables:
        count = share.records
        result = Stretch(count, share.first, share.last, {validated: count}, {code: count})
        series = FindingSeries.of(result) if refutation.goes_on else FindingSeries(count, share.last.offset)
        key = FindingKey("other-version", rule_id("other-version", "images"), path, share.table)
        source = Source(line.topic, line.partition)
        yield _Found(key, source, validated, version.reference, result, {_OF_CHAINS: series})


def _order(statistics: StreamStatistics) -> Iterator[_Found]:
    for (line, cause), stretch in statistics.sequences.breaches().items():
        key = FindingKey("order", rule_id("order", cause), line.path, None)
        yield _Found(key, Source(line.topic, line.partition), *_WORDS_OF_ORDER[cause], stretch, {})


def _tables(tally: Tally) -> Iterator[_Found]:
    """Yield the unexpected columns; a column missing from a key is a finding on each record instead."""
    for breach in tally.statistics.shapes.breaches():
        group, stretch, clean = breach.group, breach.stretch, breach.clean
        key = FindingKey("table-schema", rule_id("table-schema", breach.cause), breach.path, group.table)
        if breach.cause == LOST_COLUMN and key._replace(rule=rule_id("table-schema", PRIMARY_KEY)) in tally.findings:
            continue
        series = FindingSeries.of(stretch, clean)
        source, rows = Source(group.topic, group.partition), f"{group.subject} {group.kind}"
        yield _Found(key, source, breach.expected, breach.observed, stretch, {rows: series})


def _dropped(tally: Tally) -> Iterator[_Found]:
    """Yield the columns that rows still have after a statement in their partition that dropped them."""
    shapes = tally.statistics.shapes
    for statement in tally.statements:
        gone, table = dropped_columns(statement), altered_table(statement)
        for group in shapes.seen if gone else ():
            own = (group.table or "").rpartition(".")[2].casefold()
            if group[:2] != statement[:2] or own != table:
                continue
            for shape in shapes.seen[group]:
                for name in [name for name, _ in shape if name.casefold() in gone]:
                    until = _next_about(tally.statements, statement, table, name)
                    part = _between(shapes.parts(group, shape), statement.offset, until)
                    if part is not None:
                        key = FindingKey(
                            "table-schema", rule_id("table-schema", DROPPED_COLUMN), group.at + join_pointer(name),
                            group.table,
                        )  # fmt: skip
                        yield _Found(
                            key, Source(*group[:2]), "no such column: a statement dropped it", "the column", part,
                            {f"{group.subject} {group.kind}": FindingSeries.of(part)}, counted_alone=True,
                        )  # fmt: skip


def _between(parts: Iterable[Stretch], start: int, end: float) -> Stretch | None:
    """Return the rows after one statement and before another; None if there are none.

    Of rows counted together across a statement, only the last is certainly after it.
    """
    found: Stretch | None = None
    for part in parts:
        last = Stretch(1, part.last, part.last, dict.fromkeys(part.contracts, 1))
        one = part.copy() if part.first.offset > start else last
        if one.last.offset > start and one.first.offset < end:
            if found is None:
                found = one
            else:
                found.add(one)
    return found


def _next_about(statements: Iterable[Statement], dropped: Statement, table: str, name: str) -> float:
    """Return the offset of the next statement that adds or drops a column of a table again."""
    later = [
        one.offset
        for one in statements
        if one[:2] == dropped[:2] and one.offset > dropped.offset and altered_table(one) == table
        and name.casefold() in named_in(one.text)
    ]  # fmt: skip
    return min(later, default=math.inf)


def _writing(statistics: StreamStatistics, catalogue: Catalogue, declared: str, *, ranged: bool) -> Iterator[_Found]:
    """Yield the columns whose writing changes mid-stream.

    If that is a switch of versions, values not written by the declared version are of another version. Otherwise the
    table itself changed; if a table contract gives the types, the finding only notes that both ways were seen.
    """
    turned = set[object]()
    for turn, switch in drifting_turns(statistics.writing, catalogue):
        rows, stretch, clean = turn.rows, turn.stretch, turn.clean
        path, source = rows.at + join_pointer(turn.name), Source(rows.topic, rows.partition)
        expected, observed, severity = (
            str(turn.before),
            str(turn.after),
            INFO if rows.typed or (ranged and switch) else None,
        )
        key = FindingKey("table-schema", rule_id("table-schema", COLUMN_FORM), path, rows.table)
        if switch is not None:
            expected = f"{switch.was}, as {switch.before.reference} writes {switch.source_type}"
            observed = f"{switch.now}, as {switch.after.reference} writes {switch.source_type}"
            if declared in (switch.before.reference, switch.after.reference):
                key = FindingKey("other-version", rule_id("other-version", "value-form"), path, rows.table)
                severity = None
            if declared == switch.after.reference:
                if (rows, turn.name) in turned:
                    continue  # the values in the former way, which several others followed, count once
                turned.add((rows, turn.name))
                expected, observed, stretch, clean = observed, expected, turn.was, stretch.last.offset
        series_by_op = {_writing_of(rows): FindingSeries.of(stretch, clean)}
        yield _Found(key, source, expected, observed, stretch, series_by_op, severity, counted_alone=True)


def _options(statistics: StreamStatistics) -> Iterator[_Found]:
    """Yield the columns from which on an option of the producer has another value than before."""
    for change in statistics.options.changes():
        rows, stretch = change.rows, change.stretch
        key = FindingKey("other-version", OPTION_CHANGE, rows.at + join_pointer(change.name), rows.table)
        series_by_op = {_writing_of(rows): FindingSeries.of(stretch, change.clean)}
        before, after = (f"{change.option}={' or '.join(values)}" for values in (change.before, change.after))
        after += _OR_NEAR_1970 if change.near else ""
        yield _Found(key, Source(rows.topic, rows.partition), before, after, stretch, series_by_op, counted_alone=True)


def _writing_of(rows: WrittenTable) -> str:
    """Return the series of rows of a table by how they come to be written."""
    return f"{rows.subject} {'loaded' if rows.loaded else 'changed'}"


def _substitutes(statistics: StreamStatistics) -> Iterator[_Found]:
    """Yield the columns with values that are also sent in place of others."""
    for rows, name, substitute, stretch in statistics.substitutes.found():
        key = FindingKey("value-form", rule_id("value-form", SUBSTITUTE), rows.at + join_pointer(name), rows.table)
        observed = f"{substitute.value} (sent for {substitute.meant} as well)"
        expected = "a value that stands for itself alone"
        yield _Found(key, Source(rows.topic, rows.partition), expected, observed, stretch, {}, INFO, counted_alone=True)


def _schemas(timeline: SchemaTimeline) -> Iterator[_Found]:
    """Yield the writer schemas whose records readers of the one before do not read, or the other way round.

    In a partition they begin with the first of them, unless records of schemas before it follow.
    """
    for line, steps in timeline.lines.items():
        key = FindingKey("table-schema", _SCHEMA_RULES[line.of], "", line.table)
        before = list(takewhile(lambda step: not step.verdict.breaks, steps))
        for step in steps[len(before) :]:
            for partition, used in step.used.items() if step.verdict.breaks else ():
                clean = max((one.used[partition].last.offset for one in before if partition in one.used), default=-1)
                stretch = Stretch(*used)
                why = f"id {step.number} after id {step.before}: {'; '.join(step.verdict.reasons)}"
                yield _Found(
                    key, Source(line.topic, partition), _READ_BOTH_WAYS, why, stretch,
                    {_OF_SCHEMAS: FindingSeries.of(stretch, clean)}, counted_alone=True,
                )  # fmt: skip


def count_overlaps(tally: Tally) -> FindingOverlaps:
    """Return the overlaps of a tally with those of its rows whose columns are not as expected."""
    result = FindingOverlaps()
    result.merge(tally.overlaps)
    breaches = groupby(tally.statistics.shapes.breaches(), key=lambda breach: (breach.group, id(breach.stretch)))
    for (group, _), found in breaches:
        of_shape = list(found)
        faults = tuple(sorted(Fault("table-schema", rule_id("table-schema", one.cause), one.path) for one in of_shape))
        if len(faults) > 1:
            stretch, source = of_shape[0].stretch, Source(group.topic, group.partition)
            rest = stretch.count - sum(stretch.ops.values())
            for code, count in (*stretch.ops.items(), *([(None, rest)] if rest else ())):
                result.add(faults, OverlapPlace(group.table, source, code), count)
    return result


def _controls(statistics: StreamStatistics, valued: int) -> Iterator[_Found]:
    """Yield the messages without rows by kind, as one finding at the path of the op."""
    totals = Counter[str]()
    for kind, stretch in statistics.controls.items():
        totals[kind.op] += stretch.count
    path = min((kind.path for kind in statistics.controls), default="")
    for kind, stretch in statistics.controls.items():
        share = f"{kind.op}: {totals[kind.op]:,} of {valued:,} messages, {100 * totals[kind.op] / valued:.2f} %"
        key = FindingKey("control-share", rule_id("control-share"), path, None)
        yield _Found(key, Source(kind.topic, kind.partition), "messages with rows", share, stretch, {})


def _unexercised(statistics: StreamStatistics, catalogue: Catalogue) -> Iterator[tuple[FindingKey, str, str, str]]:
    for one in coverage_gaps(statistics.rule_coverage, catalogue):
        key = FindingKey("not-exercised", rule_id("not-exercised", one.cause), one.path, None)
        yield key, one.contract, one.expected, one.observed


def _whole_range(tally: Tally) -> dict[Source, Extent]:
    """Return the range read of each partition, as the extent of a finding about something that never occurred."""
    return {
        source: Extent(0, Moment(*source, counts.first_offset, None), Moment(*source, counts.last_offset, None))
        for source, counts in tally.partitions.items()
        if counts.first_offset is not None and counts.last_offset is not None
    }


def _as_tally(statistics: StreamStatistics, one: _Found) -> FindingTally:
    stretch, total = one.stretch, one.stretch.count
    first, last = Moment(*one.source, *stretch.first), Moment(*one.source, *stretch.last)
    found = _empty(statistics, one)
    found.expected[one.expected] = found.observed[one.observed] = total
    found.ops, found.contracts = Counter(stretch.ops), Counter(stretch.contracts)
    found.extents = {one.source: Extent(total, first, last, one.series_by_op)}
    return found


def _empty(statistics: StreamStatistics, one: _Found) -> FindingTally:
    severity = one.severity or _severity(statistics, one.key)
    return FindingTally(severity, counted_alone=one.counted_alone, of_run=True)


def _severity(statistics: StreamStatistics, key: FindingKey) -> str:
    return statistics.severities.get(key.name, CLASSES[key.name].severity)
