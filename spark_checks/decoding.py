"""The decode: conforming records as rows of `changes/` and typed tables, the rest accounted for, as one run.

A run pins what it is judged by, judges and writes, settles the layouts of tables, types the rows, and publishes its
record last: it counts whole or not at all, and the same run again changes nothing.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from cdc_contracts.registry.baseline import judge_again
from cdc_contracts.registry.canonical.layouts import Layouts, TableName
from cdc_contracts.registry.detection.samples import ENOUGH, find_scope
from cdc_contracts.registry.errors import UnavailableError, UndetectedError
from cdc_contracts.registry.report import Span, build_report
from cdc_contracts.registry.scope import Scope, Undetected
from cdc_contracts.registry.tally import Source, Tally
from cdc_contracts.spark_checks.contradictions import contradiction
from cdc_contracts.spark_checks.ledgers import check_rows, check_typed, ledger_rows, moved_rows, sum_rows
from cdc_contracts.spark_checks.parquet_tables import ParquetTables
from cdc_contracts.spark_checks.past_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.repeated_positions import look_for_repeats
from cdc_contracts.spark_checks.repeats import Repeats
from cdc_contracts.spark_checks.run_names import name_batch, name_run
from cdc_contracts.spark_checks.run_records import RunRecord, TableRecord, table_records
from cdc_contracts.spark_checks.runs import RunDirectory
from cdc_contracts.spark_checks.settled_layouts import check_settled, settle_layouts
from cdc_contracts.spark_checks.sinks import Place, table_folder
from cdc_contracts.spark_checks.sources import Input
from cdc_contracts.spark_checks.stopping import halt
from cdc_contracts.spark_checks.tasks import (
    RESULT_SCHEMA,
    Quarantine,
    TaskResult,
    Watch,
    collect_results,
    decode_work,
    describe_scope,
    merge_results,
)
from cdc_contracts.spark_checks.typed_tables import TypedTables, WriteKey
from cdc_contracts.spark_checks.unrepeated import leave_out

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Output:
    """Where runs write, in which format of tables, and on what conditions.

    With `replace` a run takes the place of others that read the same records, and of itself. With `trust_contract`
    it is published although a record proves another version. With `drop_duplicates` rows that repeat others stay out of
    the typed tables, with `redact` the quarantine keeps shapes only.
    """

    directory: str
    tables: TypedTables = field(default_factory=ParquetTables)
    replace: bool = False
    trust_contract: bool = False
    redact: bool = False
    drop_duplicates: bool = False

    @cached_property
    def runs(self) -> RunDirectory:
        return RunDirectory(self.directory)


class Replay(Protocol):
    """A run that reads the quarantine of other runs, and not the source of its records."""

    def begin(self, scope: Scope) -> str:
        """Return the name of the run: the quarantine of the same runs judged by the same contract has the same.

        Raises UnavailableError where another replay of it was begun and not finished.
        """
        ...

    def as_document(self, tally: Tally) -> dict[str, Any]:
        """Return what the record of the run says of it."""
        ...

    def check(self) -> None:
        """Raise UnavailableError where the quarantine is not what it was when this began."""
        ...


@dataclass(frozen=True)
class Decoded:
    """A finished decode: its report, its record, and why nothing was published, if nothing was.

    `again` says that the run was there already and nothing was done, so that there is no tally either.
    """

    tally: Tally | None
    report: Mapping[str, Any]
    run: str
    directory: str
    withheld: str | None = None
    record: Mapping[str, Any] | None = None
    again: bool = False


def decode_input(
    session: SparkSession,
    source: Input,
    scope: Scope | Undetected,
    output: Output,
    *,
    fail_on: str,
    key: WriteKey | None = None,
    replay: Replay | None = None,
    watch: Watch | None = None,
) -> Decoded:
    """Decode every record of the input, read once, into the directory of the output.

    `key` is given for a batch of a stream, `replay` where the input is the quarantine of the directory itself; a run of
    its own is known by what it reads and by what it judges.
    The rows count only when the whole run has succeeded. Where the range holds a record proven to be of another
    version than the declared one, and records that the two read differently, nothing is published unless
    `trust_contract`.

    Raises UndetectedError where nobody declared the contract and the messages do not tell it;
    UnavailableError where another run of the directory has read some of the same records and not `replace`;
    LedgerError where the counts do not add up.
    """
    found, detection = find_scope(scope, lambda: source.peek(session, ENOUGH))
    if found is None:
        raise UndetectedError(
            "the contract of these messages cannot be told, so nothing is decoded",
            mend="`cdc-contracts detect` shows what speaks for which; --contract SYSTEM/DIALECT@N declares it",
        )
    output.tables.prepare(session)
    spans, runs = source.spans, output.runs
    past = runs.past()
    topics = source.topic_ids(session) if key is None and replay is None else {}
    run = replay.begin(found) if replay else _name(spans, found, topics, key)
    if not output.replace and (done := _recorded(output, past, run, fail_on)) is not None:
        if key is None and replay is None:
            _check_redaction(done, output)
        return done
    topics = topics or source.topic_ids(session)  # a batch that is done may outlive its topic
    overlapping = _overlapping(past, run, spans, output, topics) if replay is None else ()
    gone = {run, *(one.run for one in overlapping)}
    runs.check_topics(topics, past, without=gone)
    runs.check_cut_off(run, spans)
    place = Place(runs.root, run, secrets.token_hex(8))
    layouts: Layouts = {}
    record = None
    try:
        judged = _judge(session, source, found, place, watch, _quarantine(output, replay))
        report = build_report(
            judged.tally,
            catalogue=scope.catalogue,
            contract=scope.declared,
            source=source.describe(judged.tally, spans),
            spans=spans,
            fail_on=fail_on,
            detection=detection,
        )
        withheld = None if output.trust_contract else contradiction(judged.tally, found)
        if withheld is None and (replay is None or _moves(judged.tally)):
            past = runs.past()  # others may have finished while this one judged
            query = None if key is None else key.writer
            repeats = look_for_repeats(session, runs, past, place, judged, scope.catalogue, query=query)
            report["repeats"] = repeats.as_document(dropped=output.drop_duplicates)
            layouts = settle_layouts(past.layouts(without=gone), found.terms.tables, judged)
            if replay is None and not output.tables.replaceable:
                runs.begin(run, scope.declared, key, spans, topics)
            tables = _type(session, output, place, key or WriteKey(run, 0), judged, repeats, layouts)
            ledger = ledger_rows(judged.tally, spans, repeats.by_source(), dropped=output.drop_duplicates)
            if replay is not None:
                ledger = moved_rows(ledger)
            record = RunRecord(
                run=run,
                attempt=place.token,
                replaces=tuple(one.attempt for one in overlapping),
                contract=scope.declared,
                fingerprint=found.fingerprint,
                table_contracts=found.terms.tables.fingerprint,
                spans=spans,
                counts=sum_rows(ledger),
                parts=(*judged.parts, *repeats.parts, *runs.write_part(place, "ledger", ledger)),
                table_format=output.tables.name,
                table_schema=output.tables.schema,
                tables=tables,
                repeats=report["repeats"],
                positions=judged.positions.whole(),
                topics=topics,
                stream=key,
                current=output.tables.keeps_current,
                redacted=output.redact and replay is None,
                replay=replay.as_document(judged.tally) if replay is not None else None,
            )
            runs.commit(record, report, replaced=gone - {run}, check=partial(_check, replay, layouts, gone))
    except BaseException:
        halt(session)
        runs.discard(place, map(table_folder, layouts))
        raise
    if record is None:
        runs.discard(place)
        return Decoded(judged.tally, report, run, output.directory, withheld)
    return Decoded(judged.tally, report, run, output.directory, record=record.as_document())


def _name(spans: Mapping[Source, Span], scope: Scope, topics: Mapping[str, str], key: WriteKey | None) -> str:
    return name_batch(key) if key is not None else name_run(spans, scope.fingerprint, topics)


def _recorded(output: Output, past: PastRuns, run: str, fail_on: str) -> Decoded | None:
    """Return what a run came to that is finished already, None where it is not; its verdict is by this `fail_on`.

    Raises UnavailableError where it was written otherwise than the output asks for.
    """
    record, report = output.runs.find(run, past), output.runs.report(run)
    if record is None or report is None:
        return None
    repeats = record["repeats"]
    kept_otherwise = repeats["rows"] > 0 and (repeats["dropped"] > 0) != output.drop_duplicates
    schema = record.get("table_schema", output.tables.schema)
    if (record["table_format"], schema) != (output.tables.name, output.tables.schema) or kept_otherwise:
        raise UnavailableError(
            f"run {run} is there already, its tables as {record['table_format']} in {schema or 'the directory'}, "
            f"with {repeats['dropped']} of {repeats['rows']} repeats dropped",
            where=output.directory,
            mend="choose another directory, or give --replace to write it anew",
        )
    output.runs.tidy(record)
    return Decoded(
        None, judge_again(report, report["findings"], fail_on), run, output.directory, record=record, again=True
    )


def _overlapping(
    past: PastRuns, run: str, spans: Mapping[Source, Span], output: Output, topics: Mapping[str, str]
) -> Sequence[PastRun]:
    found = past.overlapping(run, spans)
    if found and not (output.replace and output.tables.replaceable):
        output.runs.check_topics(topics, past)
        untold = {source.topic for source in found[0].spans} & set(topics) - set(found[0].topics)
        raise UnavailableError(
            f"run {found[0].run} has decoded some of these records already"
            + (f", or those of another topic {min(untold)}: it does not tell which" if untold else ""),
            where=output.directory,
            mend="choose another range or directory"
            + (", or give --replace to put this run in its place" if output.tables.replaceable else ""),
        )
    return found


def _check_redaction(done: Decoded, output: Output) -> None:
    """Raise UnavailableError where a finished run has not treated its quarantine as is asked for now."""
    if bool((done.record or {}).get("redacted")) != output.redact:
        kept = "whole" if output.redact else "in shapes only"
        raise UnavailableError(
            f"run {done.run} is there already, and its quarantine is kept {kept}",
            where=output.directory,
            mend="--replace writes it again as you ask now",
        )


def _check(replay: Replay | None, layouts: Layouts, gone: Collection[str], finished: PastRuns) -> None:
    """Raise UnavailableError where runs that have finished meanwhile do not agree with this one."""
    check_settled(finished.layouts(without=gone), layouts)
    if replay is not None:
        replay.check()


def _quarantine(output: Output, replay: Replay | None) -> Quarantine:
    if replay is not None:
        return Quarantine.LEFT
    return Quarantine.REDACTED if output.redact else Quarantine.WHOLE


def _moves(tally: Tally) -> bool:
    """Say whether any record conforms."""
    return any(counts.read > counts.quarantined for counts in tally.partitions.values())


def _judge(
    session: SparkSession, source: Input, scope: Scope, place: Place, watch: Watch | None, quarantine: Quarantine
) -> TaskResult:
    """Judge every record and write what it is, by tasks that read each once."""
    work = decode_work(describe_scope(scope), place, watch, quarantine)
    judged = merge_results(collect_results(source.run(session, work, RESULT_SCHEMA)))
    check_rows(judged.tally, judged.parts, replay=quarantine is Quarantine.LEFT)
    return judged


def _type(
    session: SparkSession,
    output: Output,
    place: Place,
    key: WriteKey,
    judged: TaskResult,
    repeats: Repeats,
    layouts: Layouts,
) -> tuple[TableRecord, ...]:
    """Write the rows of `changes/` to the typed tables; a layout without rows only stays known."""
    changes = [part for part in judged.parts if part.table == "changes"]
    dropped: Counter[TableName] = Counter()
    if output.drop_duplicates and repeats.parts:
        changes, dropped = leave_out(session, place, changes, repeats.parts), repeats.by_table()
    written = output.tables.write(session, place, key, changes, {name: layouts[name] for name in judged.rows})
    check_typed(judged.rows, dropped, written.rows)
    return table_records(layouts, written)
