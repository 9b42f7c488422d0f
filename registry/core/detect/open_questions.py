"""Open questions: what a detection leaves undecided, in words."""

from __future__ import annotations

from collections.abc import Mapping

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.detect.mixtures import Mixture


def describe_undecided(proofs: Mapping[str, int]) -> str | None:
    """Return that some messages have several readings, by the versions that read them; None if there are none."""
    if not proofs:
        return None
    named = ", ".join(f"{count:,} of {versions}" for versions, count in proofs.items())
    return (
        f"Not every message has a single reading ({named}): use --write-versions FILE, or declare it with --contract."
    )


def describe_open(ranges: VersionRanges | None, left_open: int) -> str | None:
    """Return why messages of a subject that has switched are left open; None if none are."""
    if not left_open:
        return None
    if ranges is None:
        return (
            f"{left_open:,} messages are read differently by its versions, and the changes of rows contradict any "
            "range: only messages that prove their version are decoded. Declare it with --contract or --versions."
        )
    return (
        f"{left_open:,} messages lie between the last proof of one version and the first of another: they are left "
        "open; --write-versions FILE writes the ranges."
    )


def describe_mixture(mixture: Mixture, proofs: Mapping[str, int]) -> str | None:
    """Return which contracts read the messages of others alike, and what is undecided."""
    result = [
        f"{part.side.reference} reads them the same way as {' and '.join(one.reference for one in part.equals)}."
        for part in mixture.parts
        if isinstance(part.side, Version) and part.equals
    ]
    undecided = describe_undecided(proofs)
    return " ".join([*result, *([undecided] if undecided else [])]) or None
