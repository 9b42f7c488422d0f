"""Contradictions: records that prove the version wrong which others were read by."""

from __future__ import annotations

from cdc_contracts.registry.scope import Scope
from cdc_contracts.registry.tally import Tally
from cdc_contracts.registry.verdicts import OTHER_VERSION


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
