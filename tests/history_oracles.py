"""What the product says and publishes of histories, against the truth; `history_tables.py` counts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from change_histories import PARTITION, WHOLE, History, HistoryShape, same_image
from history_evidence import CLEAR, SOME, Evidence, evidence_of, is_in_order, outliers_shown
from random_histories import outlier_history, random_history, swapped_history, switched_history
from topics import SCENARIOS as CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.topic_samples import find_validation
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_model import Report, ReportSource
from cdc_contracts.registry.core.stats.run_verdict import decide_run
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext, open_validation

ACCUSED, OTHER_DRIFT, INCONCLUSIVE, UNPROVEN, PASS = "accused", "other drift", "inconclusive", "unproven", "pass"
VERDICTS = (ACCUSED, OTHER_DRIFT, INCONCLUSIVE, UNPROVEN, PASS)


@dataclass(frozen=True)
class Outcome:
    """What was said of a history, and what was published of it.

    `published` are the partitions and offsets of messages whose rows were, `exchanged` rows that were published
    otherwise than they were, `open` messages of rows that were not published.
    """

    verdict: str
    by_message: bool
    published: frozenset[tuple[int, int]]
    exchanged: int
    open: int
    report: Report | None

    @property
    def published_messages(self) -> int:
        return len(self.published)


def validate(
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
        return Outcome(INCONCLUSIVE, by_message=False, published=frozenset(), exchanged=0, open=messages, report=None)
    kernel, tally, changes = Kernel(found), Tally(), list[pa.RecordBatch]()
    for batch in batches:
        for written in kernel.decode(batch):
            tally.merge(written.tally)
            changes.append(written.changes)
    report = build_report(
        tally,
        AppliedContract(CATALOGUE, contract or "auto", detection, found),
        ReadRange(ReportSource(kind="file"), {}),
        fail_on="error",
    )
    withheld = not trusted and decide_run(report.evidence, "error").withheld is not None
    rows = [] if withheld else [row for part in changes for row in part.to_pylist()]
    published = frozenset((row["partition"], row["offset"]) for row in rows)
    return Outcome(
        verdict=_verdict(report),
        by_message=any(outcome in tally.outcomes for outcome in ("other-version", "drifted", "other-dialect")),
        published=published,
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
    """A history by its shape and seed, the contract it was validated under, what was said of it, and its evidence."""

    seed: int
    shape: HistoryShape
    declared: str | None
    outcome: Outcome
    evidence: Evidence
    evidence_published: Evidence
    """The evidence of the messages whose rows were published."""
    shown: int

    @property
    def is_published_wrong(self) -> bool:
        """Whether rows were published otherwise than they were, though these rows have more evidence against it."""
        return self.outcome.exchanged > 0 and self.evidence_published.strength in (CLEAR, SOME)

    @property
    def is_placed(self) -> bool:
        """Whether links in order show where each partition switches, if at all: no table or instance has its own place."""
        switch, messages = self.shape.switch, self.outcome.open + self.outcome.published_messages
        in_one_place = switch is None or switch.by in (WHOLE, PARTITION)
        return in_one_place and is_in_order(self.shape) and 4 * self.evidence.links[0] >= messages

    @property
    def is_mistaken(self) -> bool:
        """Whether it was detected for certain as versions none of which is the one it is written in."""
        report, switch = self.outcome.report, self.shape.switch
        found = None if report is None else report.detection
        own = {self.shape.version, *([switch.to] if switch else [])}
        return found is not None and found.verdict == "certain" and not own & {found.reference, *found.equivalent}


def judge_all(made: Iterable[tuple[History, str | None]]) -> list[Judged]:
    return [_validated_messages(history, declared) for history, declared in made]


def _validated_messages(history: History, declared: str | None) -> Judged:
    outcome = validate(history, declared)
    of_all, of_published = (evidence_of(history, declared, among) for among in (None, outcome.published))
    return Judged(history.seed, history.shape, declared, outcome, of_all, of_published, outliers_shown(history))


def judge_swapped(seeds: Iterable[int]) -> list[Judged]:
    """Validate histories under a version that reads their UPDATEs the wrong way round."""
    return judge_all(map(swapped_history, seeds))


def judge_honest(seeds: Iterable[int]) -> list[Judged]:
    """Validate histories under the version they are written in."""
    return judge_all((history, history.shape.version) for history in map(random_history, seeds))


def judge_detected(seeds: Iterable[int]) -> list[Judged]:
    """Validate histories of one version each without a contract."""
    return judge_all((history, None) for history in map(random_history, seeds))


def judge_switched(seeds: Iterable[int]) -> list[Judged]:
    """Validate histories whose producers switch in mid-topic, without a contract."""
    return judge_all((history, None) for history in map(switched_history, seeds))


def judge_outliers(seeds: Iterable[int]) -> list[Judged]:
    """Validate long histories, of which a few messages are written in another version, under the version of the rest."""
    return judge_all((history, history.shape.version) for history in map(outlier_history, seeds))


def verdicts_by_batches(seed: int, *, swapped: bool) -> set[str]:
    """Return the verdicts on a history read in 1, 7 or 400 batches, partition by partition or mixed."""
    history, declared = swapped_history(seed) if swapped else (random_history(seed), None)
    sizes = {-(-len(history.records) // parts) for parts in (1, 7, 400)}
    return {
        validate(history, declared or history.shape.version, size=size, mixed=mixed).verdict
        for size in sizes
        for mixed in (False, True)
    }
