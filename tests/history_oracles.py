"""What the product says and publishes of histories, against the truth. `python tests/history_oracles.py` prints it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from change_histories import History, same_image
from history_evidence import (
    CLEAR,
    SOME,
    STRENGTHS,
    Evidence,
    evidence_of,
    goes_round_with_gaps,
    is_in_order,
    outliers_shown,
)
from random_histories import outlier_history, random_history, swapped_history, switched_history
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
    published_messages: int
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
        return Outcome(INCONCLUSIVE, by_message=False, published_messages=0, exchanged=0, open=messages, report=None)
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
        published_messages=len(published),
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
    """A history, the contract it was judged under, what was said of it, and the evidence it holds."""

    history: History
    declared: str | None
    outcome: Outcome
    evidence: Evidence

    @property
    def is_published_wrong(self) -> bool:
        """Whether rows were published otherwise than they were, though more evidence spoke against it than for it."""
        return self.outcome.exchanged > 0 and self.evidence.strength in (CLEAR, SOME)

    @property
    def is_mistaken(self) -> bool:
        """Whether it was detected for certain as versions none of which is the one it is written in."""
        report = self.outcome.report
        found = None if report is None else report.detection
        own = {record.message.version for record in self.history.records}
        return found is not None and found.verdict == "certain" and not own & {found.reference, *found.equivalent}


def judge_all(made: Iterable[tuple[History, str | None]]) -> list[Judged]:
    return [Judged(history, under, judge(history, under), evidence_of(history)) for history, under in made]


def judge_swapped(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories under a version that reads their UPDATEs the wrong way round."""
    return judge_all(map(swapped_history, seeds))


def judge_honest(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories under the version they are written in."""
    return judge_all((history, history.shape.version) for history in map(random_history, seeds))


def judge_detected(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories of one version each without a contract."""
    return judge_all((history, None) for history in map(random_history, seeds))


def judge_switched(seeds: Iterable[int]) -> list[Judged]:
    """Judge histories whose producers switch in mid-topic, without a contract."""
    return judge_all((history, None) for history in map(switched_history, seeds))


def judge_outliers(seeds: Iterable[int]) -> list[Judged]:
    """Judge long histories, of which a few messages are written in another version, under the version of the rest."""
    return judge_all((history, history.shape.version) for history in map(outlier_history, seeds))


def verdicts_by_batches(seed: int, *, swapped: bool) -> set[str]:
    """Return the verdicts on a history read in 1, 7 or 400 batches, partition by partition or mixed."""
    history, declared = swapped_history(seed) if swapped else (random_history(seed), None)
    sizes = {-(-len(history.records) // parts) for parts in (1, 7, 400)}
    return {
        judge(history, declared or history.shape.version, size=size, mixed=mixed).verdict
        for size in sizes
        for mixed in (False, True)
    }


def table_of(judged: Sequence[Judged]) -> str:
    """Return verdicts by the evidence that histories hold, and what was published otherwise than it was."""
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
    wrong, gaps = [one for one in judged if one.is_published_wrong], [one for one in judged if _has_gaps(one)]
    doubted = Counter(one.outcome.verdict for one in gaps)
    return "\n".join([
        *lines,
        f"published against the evidence: {len(wrong)}, seeds {[one.history.seed for one in wrong][:12]}",
        f"of few states with gaps: {len(gaps)}, of which {doubted[INCONCLUSIVE]} are inconclusive",
    ])  # fmt: skip


def table_of_detections(judged: Sequence[Judged]) -> str:
    """Return how often rows were published otherwise than they were without a contract, and how much was left open."""
    lines = []
    for name, kept in (("clear, in order", True), ("others", False)):
        mine = [one for one in judged if kept == (one.evidence.strength == CLEAR and is_in_order(one.history))]
        outcomes = [one.outcome for one in mine]
        exchanged = [one for one in outcomes if one.exchanged]
        shares = [one.open / max(1, one.open + one.published_messages) for one in outcomes]
        lines.append(
            f"{name}: {len(mine)} histories; {sum(one.exchanged for one in exchanged)} rows exchanged in "
            f"{len(exchanged)}; left open: {sum(share > 0.05 for share in shares)} more than 5 %, "
            f"{sum(share == 1 for share in shares)} all; mistaken for certain {sum(one.is_mistaken for one in mine)}"
        )
    return "\n".join(lines)


def table_of_outliers(judged: Sequence[Judged]) -> str:
    """Return the verdicts on histories with messages of another version, by whether neighbours show one of these."""
    lines = []
    for name, kept in (("shown by neighbours", True), ("not shown", False)):
        mine = [one for one in judged if kept == (outliers_shown(one.history) > 0)]
        verdicts = Counter(one.outcome.verdict for one in mine)
        rows = sum(one.outcome.exchanged for one in mine)
        told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)
        lines.append(f"{name}: {len(mine)} histories; {told}; {rows} rows exchanged")
    return "\n".join(lines)


def _has_gaps(one: Judged) -> bool:
    return goes_round_with_gaps(one.history)


def main() -> None:
    """Print the tables for as many histories of each kind as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100, help="histories of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=(*ORACLES, BATCHES), action="append", help="only these kinds")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.n)
    for name, (judge_seeds, table) in ORACLES.items():
        if name in (asked.only or ORACLES):
            sys.stdout.write(f"{name}, {asked.n} histories\n{table(judge_seeds(seeds))}\n\n")
            sys.stdout.flush()
    if BATCHES in (asked.only or [BATCHES]):
        unlike = [(seed, swapped) for seed in seeds for swapped in (False, True) if _differs(seed, swapped=swapped)]
        sys.stdout.write(f"{BATCHES}: {len(unlike)} of {2 * asked.n} have several verdicts: {unlike[:12]}\n")


def _differs(seed: int, *, swapped: bool) -> bool:
    return len(verdicts_by_batches(seed, swapped=swapped)) > 1


BATCHES = "batches"
ORACLES: dict[str, tuple[Callable[[Iterable[int]], list[Judged]], Callable[[Sequence[Judged]], str]]] = {
    "swapped": (judge_swapped, table_of),
    "honest": (judge_honest, table_of),
    "switched": (judge_switched, table_of_detections),
    "detected": (judge_detected, table_of_detections),
    "outliers": (judge_outliers, table_of_outliers),
}

if __name__ == "__main__":
    main()
