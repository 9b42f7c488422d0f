"""What the product says and publishes of histories, against the truth. `python tests/history_oracles.py` prints it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from change_histories import History, same_image
from history_evidence import STRENGTHS, Evidence, evidence_of
from random_histories import random_history, swapped_history, switched_history
from topics import SCENARIOS as CATALOGUE

from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.detect.topic_samples import find_validation
from cdc_contracts.registry.engine.kernel import Kernel
from cdc_contracts.registry.report.audit_report import build_report
from cdc_contracts.registry.report.report_model import Report, ReportSource
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.validate.validation_context import Undetected, ValidationContext, open_validation
from cdc_contracts.spark_checks.contradictions import contradiction

ACCUSED, OTHER_DRIFT, INCONCLUSIVE, UNPROVEN, PASS = "accused", "other drift", "inconclusive", "unproven", "pass"
VERDICTS = (ACCUSED, OTHER_DRIFT, INCONCLUSIVE, UNPROVEN, PASS)


@dataclass(frozen=True)
class Outcome:
    """What was said of a history, and what was published of it.

    `exchanged` are rows that were published otherwise than they were, `open` messages of rows that were not published.
    """

    verdict: str
    by_message: bool
    published: int
    exchanged: int
    open: int
    report: Report | None


def judge(
    history: History,
    contract: str | None = None,
    *,
    size: int | None = None,
    mixed: bool = False,
    trusted: bool = False,
) -> Outcome:
    """Audit and decode a history in this process, as the commands do; without a contract it is detected."""
    batches = list(history.batches(size, mixed=mixed))
    found, detection = find_validation(_validation(contract), lambda: batches)
    messages = sum(1 for record in history.records if _is_of_rows(record))
    if found is None:
        return Outcome(INCONCLUSIVE, by_message=False, published=0, exchanged=0, open=messages, report=None)
    kernel, tally, changes = Kernel(found), Tally(), list[pa.RecordBatch]()
    for batch in batches:
        for written in kernel.decode(batch):
            tally.merge(written.tally)
            changes.append(written.changes)
    report = build_report(
        tally, catalogue=CATALOGUE, contract=contract or "auto", source=ReportSource(kind="file"), spans={},
        fail_on="error", detection=detection,
    )  # fmt: skip
    withheld = not trusted and contradiction(tally, found) is not None
    rows = [] if withheld else [row for part in changes for row in part.to_pylist()]
    published = {(row["partition"], row["offset"]) for row in rows}
    return Outcome(
        verdict=_verdict(report),
        by_message=any(outcome in tally.outcomes for outcome in ("other-version", "drifted", "other-dialect")),
        published=len(rows),
        exchanged=sum(_is_exchanged(history, row) for row in rows),
        open=messages - len(published),
        report=report,
    )


def _validation(contract: str | None) -> ValidationContext | Undetected:
    if contract is None:
        return Undetected(CATALOGUE, ReadingOptions())
    return open_validation(CATALOGUE, contract, ReadingOptions())


def _is_of_rows(record: Any) -> bool:
    return record.message.changes[0].row is not None


def _is_exchanged(history: History, row: Mapping[str, Any]) -> bool:
    true = history.truth(row["partition"], row["offset"])[row["row_index"]]
    sides = ((row["before"], true.before), (row["after"], true.after))
    return not all(same_image(None if image is None else dict(image), own) for image, own in sides)


def _verdict(report: Report) -> str:
    if report.verdict == "drift":
        classes = {finding.name for finding in report.findings if finding.severity == "error"}
        return ACCUSED if "other-version" in classes else OTHER_DRIFT
    if report.verdict == "inconclusive":
        return INCONCLUSIVE
    return UNPROVEN if report.unproven else PASS


@dataclass(frozen=True)
class Judged:
    """A history by its seed, what was said of it, and the evidence it holds."""

    seed: int
    outcome: Outcome
    evidence: Evidence


def judge_swapped(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories under a version that reads their UPDATEs the wrong way round."""
    made = ((seed, *swapped_history(seed)) for seed in seeds)
    return [Judged(seed, judge(history, declared), evidence_of(history)) for seed, history, declared in made]


def judge_honest(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories under the version they are written in."""
    made = ((seed, random_history(seed)) for seed in seeds)
    return [Judged(seed, judge(history, history.shape.version), evidence_of(history)) for seed, history in made]


def judge_switched(seeds: Iterable[int]) -> list[Outcome]:
    """Judge histories whose producers switch in mid-topic, without a contract."""
    return [judge(switched_history(seed)) for seed in seeds]


def table_of(judged: Sequence[Judged]) -> str:
    """Return a table of verdicts by what decided them, and of what was published otherwise than it was."""
    lines = [
        f"{'verdict':14}{'by message':>12}" + "".join(f"{strength:>10}" for strength in STRENGTHS) + "   exchanged"
    ]
    for verdict in VERDICTS:
        mine = [one for one in judged if one.outcome.verdict == verdict]
        proven = sum(one.outcome.by_message for one in mine)
        by = Counter(one.evidence.strength for one in mine if not one.outcome.by_message)
        published = [one for one in mine if one.outcome.exchanged]
        rows = sum(one.outcome.exchanged for one in published)
        counts = "".join(f"{by[strength]:10}" for strength in STRENGTHS)
        lines.append(f"{verdict:14}{proven:12}{counts}   {rows} rows of {len(published)} histories")
    return "\n".join(lines)


def table_of_switches(outcomes: Sequence[Outcome]) -> str:
    """Return how often rows were published otherwise than they were, and how much was left open."""
    exchanged = [one for one in outcomes if one.exchanged]
    messages = sum(one.open + one.published for one in outcomes)
    much = [one for one in outcomes if one.open > 0.05 * (one.open + one.published)]
    return (
        f"rows exchanged: {sum(one.exchanged for one in exchanged)} in {len(exchanged)} of {len(outcomes)} histories\n"
        f"left open: {sum(one.open for one in outcomes)} of {messages}; more than 5 % in {len(much)} histories, "
        f"all in {sum(not one.published for one in outcomes)}"
    )


def main() -> None:
    """Print the tables for as many histories of each kind as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100, help="histories of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.n)
    say = sys.stdout.write
    say(f"{asked.n} swapped histories under the wrong declaration\n{table_of(judge_swapped(seeds))}\n\n")
    say(f"{asked.n} honest histories under the right declaration\n{table_of(judge_honest(seeds))}\n\n")
    say(f"{asked.n} switches in mid-topic, detected\n{table_of_switches(judge_switched(seeds))}\n")


if __name__ == "__main__":
    main()
