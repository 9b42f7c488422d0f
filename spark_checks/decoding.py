"""The decode: conforming records as rows of `changes/`, the rest accounted for, published as one run or not at all."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cdc_contracts.registry.detection.samples import ENOUGH, find_scope
from cdc_contracts.registry.errors import LedgerError, UnavailableError, UndetectedError
from cdc_contracts.registry.outputs import LEDGER_SCHEMA
from cdc_contracts.registry.report import Span, build_report
from cdc_contracts.registry.scope import Scope, Undetected
from cdc_contracts.registry.tally import PartitionTally, Source, Tally
from cdc_contracts.registry.verdicts import OTHER_VERSION
from cdc_contracts.spark_checks.sinks import Part, Place, RunDirectory, RunRecord
from cdc_contracts.spark_checks.sources import Input
from cdc_contracts.spark_checks.tasks import (
    RESULT_SCHEMA,
    Watch,
    collect_results,
    decode_work,
    describe_scope,
    merge_tallies,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Decoded:
    """A finished decode: its report, the run, and why nothing was published, if nothing was."""

    tally: Tally
    report: Mapping[str, Any]
    run: str
    directory: str
    withheld: str | None


def decode_input(
    session: SparkSession,
    source: Input,
    scope: Scope | Undetected,
    directory: str,
    *,
    fail_on: str,
    replace: bool = False,
    trust_contract: bool = False,
    watch: Watch | None = None,
) -> Decoded:
    """Decode every record of the input, read once, into the directory.

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
    spans = source.spans
    run = run_id(spans, found)
    runs = RunDirectory(directory)
    overlapping = runs.refuse_overlap(run, spans)
    if overlapping and not replace:
        raise UnavailableError(
            f"run {overlapping[0]} has decoded some of these records already",
            where=directory,
            mend="choose another range or directory, or give --replace to put this run in its place",
        )
    place = Place(runs.root, run, secrets.token_hex(4))
    published = False
    try:
        work = decode_work(describe_scope(found), place, watch)
        results = collect_results(source.run(session, work, RESULT_SCHEMA))
        tally = merge_tallies(results)
        report = build_report(
            tally,
            catalogue=scope.catalogue,
            contract=scope.declared,
            source=source.describe(tally, spans),
            spans=spans,
            fail_on=fail_on,
            detection=detection,
        )
        parts = [part for result in results for part in result.parts]
        _check_rows(tally, parts)
        withheld = None if trust_contract else contradiction(tally, found)
        if withheld is None:
            parts += runs.write_part(place, "ledger", ledger_rows(tally, spans))
            counts = {name: report["ledger"][name] for name in _COUNTS}
            runs.commit(
                RunRecord(run, scope.declared, found.fingerprint, spans, counts, tuple(parts)), replaced=overlapping
            )
            published = True
    except BaseException:
        halt(session)
        raise
    finally:
        if not published:
            runs.discard(place)
    return Decoded(tally, report, run, directory, withheld)


def halt(session: SparkSession) -> None:
    """No task of the session is running any more, or the patience for it is used up."""
    try:
        context = session.sparkContext
        context.cancelAllJobs()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while context.statusTracker().getActiveStageIds() and time.monotonic() < deadline:
            time.sleep(0.1)
    except Exception:  # noqa: BLE001  the session itself may be what failed
        return


def run_id(spans: Mapping[Source, Span], scope: Scope) -> str:
    """Return the name of a run: the same range judged by the same contract on the same terms has the same."""
    digest = hashlib.sha256()
    for source, span in sorted(spans.items()):
        digest.update(f"{source.topic}\n{source.partition}\n{span.start}\n{span.end}\n".encode())
    digest.update(scope.fingerprint.encode())
    return digest.hexdigest()[:16]


def contradiction(tally: Tally, scope: Scope) -> str | None:
    """Return why the version that records are read by cannot be trusted, or None where nothing speaks against it.

    A record that fits another version and not this one is proof; it matters where some undecided record would read
    differently.
    """
    if not tally.differing:
        return None
    for version in scope.preferences:
        run = tally.refutes(version.reference)
        if run is not None:
            return (
                f"the sample speaks for {version}, offset {run.first} is proven to be {run.version}, and "
                f"{tally.differing} records fit both versions but mean different rows"
            )
    if not tally.outcomes[OTHER_VERSION]:
        return None
    proofs = [
        (extent.first, key, finding)
        for key, finding in tally.findings.items()
        if key.name == OTHER_VERSION
        for extent in finding.extents.values()
    ]
    first, key, finding = min(proofs, key=lambda proof: proof[0][:3])
    return (
        f"{first.topic} partition {first.partition} offset {first.offset} is proven to be another version "
        f"({key.path}: expected {min(finding.expected)}, observed {min(finding.observed)}), and {tally.differing} "
        "records fit both versions but mean different rows"
    )


def ledger_rows(tally: Tally, spans: Mapping[Source, Span]) -> pa.RecordBatch:
    """Return the rows of `ledger/`: what came of each partition."""
    rows = []
    for source in sorted({*spans, *tally.partitions}):
        counts, span = tally.partitions.get(source, PartitionTally()), spans[source]
        rows.append({
            "topic": source.topic,
            "partition": source.partition,
            "start": span.start,
            "end": span.end,
            **{name: getattr(counts, name) for name in _COUNTS},
            "gaps": span.end - span.start - counts.read,
            "first_timestamp": counts.first_timestamp,
            "last_timestamp": counts.last_timestamp,
        })  # fmt: skip
    return pa.RecordBatch.from_pylist(rows, schema=LEDGER_SCHEMA)


def _check_rows(tally: Tally, parts: list[Part]) -> None:
    """Raise LedgerError where the rows written are not the rows counted."""
    written = {
        table: sum(part.rows for part in parts if part.table == table) for table in ("changes", "control", "quarantine")
    }
    counted = {
        "changes": sum(counts.changes for counts in tally.partitions.values()),
        "control": sum(counts.control for counts in tally.partitions.values()),
        "quarantine": sum(counts.quarantined for counts in tally.partitions.values()),
    }
    if written != counted:
        raise LedgerError(
            f"the rows written ({written}) are not the rows counted ({counted})",
            mend="This is a bug in cdc-contracts: please report it with the command you ran.",
        )


_PATIENCE_SECONDS = 15
_COUNTS = ("read", "conforming", "control", "tombstone", "quarantined", "changes")
