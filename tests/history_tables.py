"""Counts of what the product says and publishes of histories. `python tests/history_tables.py` prints them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from change_histories import History
from history_evidence import STRENGTHS, evidence_of, goes_round_with_gaps
from history_oracles import (
    ACCUSED,
    INCONCLUSIVE,
    PASS,
    VERDICTS,
    Judged,
    judge_detected,
    judge_honest,
    judge_outliers,
    judge_swapped,
    judge_switched,
    verdicts_by_batches,
)
from random_histories import random_history


def table_of(validated: Sequence[Judged]) -> str:
    """Return verdicts by the evidence that histories hold, and what was published otherwise than it was."""
    lines = [
        f"{'verdict':14}{'by message':>12}" + "".join(f"{strength:>10}" for strength in STRENGTHS) + "   exchanged"
    ]
    for verdict in VERDICTS:
        mine = [one for one in validated if one.outcome.verdict == verdict]
        proven = sum(one.outcome.by_message for one in mine)
        by = Counter(one.evidence.strength for one in mine if not one.outcome.by_message)
        published = [one for one in mine if one.outcome.exchanged]
        rows = sum(one.outcome.exchanged for one in published)
        counts = "".join(f"{by[strength]:10}" for strength in STRENGTHS)
        lines.append(f"{verdict:14}{proven:12}{counts}   {rows} rows of {len(published)} histories")
    wrong, gaps = [one for one in validated if one.is_published_wrong], [one for one in validated if _has_gaps(one)]
    doubted = Counter(one.outcome.verdict for one in gaps)
    return "\n".join([
        *lines,
        f"published against the evidence: {len(wrong)}, seeds {[one.seed for one in wrong][:12]}",
        f"of few states with gaps: {len(gaps)}, of which {doubted[INCONCLUSIVE]} are inconclusive",
    ])  # fmt: skip


def table_of_detections(validated: Sequence[Judged]) -> str:
    """Return how often rows were published otherwise than they were without a contract, and how much was left open."""
    lines = []
    for name, kept in (("shown by links in order", True), ("others", False)):
        mine = [one for one in validated if kept == one.is_placed]
        outcomes = [one.outcome for one in mine]
        exchanged = [one for one in outcomes if one.exchanged]
        shares = [one.open / max(1, one.open + one.published_messages) for one in outcomes]
        open_, all_ = (
            sum(found)
            for found in zip(*((one.open, one.open + one.published_messages) for one in outcomes), strict=True)
        )
        lines.append(
            f"{name}: {len(mine)} histories; {sum(one.exchanged for one in exchanged)} rows exchanged in "
            f"{len(exchanged)}; left open: {sum(share > 0.05 for share in shares)} more than 5 %, "
            f"{sum(share == 1 for share in shares)} all, {open_ / max(1, all_):.1%} of all rows; mistaken for certain {sum(one.is_mistaken for one in mine)}"
        )
    return "\n".join(lines)


def table_of_outliers(validated: Sequence[Judged]) -> str:
    """Return the verdicts on histories with messages of another version, by whether neighbours show one of these."""
    lines = []
    for name, kept in (("shown by neighbours", True), ("not shown", False)):
        mine = [one for one in validated if kept == (one.shown > 0)]
        verdicts = Counter(one.outcome.verdict for one in mine)
        rows = sum(one.outcome.exchanged for one in mine)
        told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS)
        lines.append(f"{name}: {len(mine)} histories; {told}; {rows} rows exchanged")
    return "\n".join(lines)


def curve_of(histories: Iterable[History]) -> str:
    """Return, for limits of votes and of their share, what they would make of the evidence of honest histories.

    Under the right declaration a history is accused, inconclusive or passed; what is accused under the wrong one is
    refuted rightly. Votes and links are added up.
    """
    sums = [
        tuple(map(sum, zip(*one, strict=True)))
        for one in ((found.votes, found.links) for found in map(evidence_of, histories))
    ]
    lines = [
        f"{'votes':>6}{'share':>7}{'accused':>9}{'inconclusive':>14}{'passed':>8}   under the wrong declaration refuted, inconclusive"
    ]
    for least in (3, 5, 8, 12):
        for share in (0.8, 0.9, 0.95):
            right = Counter(_judge_votes(true, other, least, share) for true, other in sums)
            wrong = Counter(_judge_votes(other, true, least, share) for true, other in sums)
            lines.append(
                f"{least:6}{share:7}{right[ACCUSED]:9}{right[INCONCLUSIVE]:14}{right[PASS]:8}   "
                f"{wrong[ACCUSED]}, {wrong[INCONCLUSIVE]}, without evidence {sum(not any(one) for one in sums)}"
            )
    return "\n".join(lines)


def _judge_votes(for_it: int, against: int, least: int, share: float) -> str:
    if against >= least and against >= share * (for_it + against):
        return ACCUSED
    weaker = min(for_it, against)
    return INCONCLUSIVE if against > for_it or (against and weaker > (1 - share) * (for_it + against)) else PASS


def _has_gaps(one: Judged) -> bool:
    return goes_round_with_gaps(one.shape)


def main() -> None:
    """Print the tables for as many histories of each kind as asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100, help="histories of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=(*ORACLES, CURVE, BATCHES), action="append", help="only these kinds")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.n)
    for name, (judge_seeds, table) in ORACLES.items():
        if name in (asked.only or ORACLES):
            sys.stdout.write(f"{name}, {asked.n} histories\n{table(judge_seeds(seeds))}\n\n")
            sys.stdout.flush()
    if CURVE in (asked.only or [CURVE]):
        sys.stdout.write(f"{CURVE}, {asked.n} honest histories\n{curve_of(map(random_history, seeds))}\n\n")
    if BATCHES in (asked.only or [BATCHES]):
        unlike = [(seed, swapped) for seed in seeds for swapped in (False, True) if _differs(seed, swapped=swapped)]
        sys.stdout.write(f"{BATCHES}: {len(unlike)} of {2 * asked.n} have several verdicts: {unlike[:12]}\n")


def _differs(seed: int, *, swapped: bool) -> bool:
    return len(verdicts_by_batches(seed, swapped=swapped)) > 1


BATCHES, CURVE = "batches", "curve"
ORACLES: dict[str, tuple[Callable[[Iterable[int]], list[Judged]], Callable[[Sequence[Judged]], str]]] = {
    "swapped": (judge_swapped, table_of),
    "honest": (judge_honest, table_of),
    "switched": (judge_switched, table_of_detections),
    "detected": (judge_detected, table_of_detections),
    "outliers": (judge_outliers, table_of_outliers),
}

if __name__ == "__main__":
    main()
