"""Two Avro schemas compared: what a reader of one cannot read, or reads otherwise, of what the other writes."""

from __future__ import annotations

from cdc_contracts.registry.compatibility.levels import Level, Policy
from cdc_contracts.registry.compatibility.verdict import UNDECIDED, CompatibilityFinding
from cdc_contracts.registry.schema_documents import SchemaDocument


def compare_avro(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return what breaks between two versions, each with its proof.

    Raises InvalidSchema where one of them is no Avro schema.
    """
    if old.document == new.document:
        return ()
    return tuple(
        CompatibilityFinding(
            rule="C200",
            name="not-compared",
            severity=UNDECIDED,
            direction=direction,
            path="",
            old=None,
            new=None,
            old_version=old.name,
            new_version=new.name,
            old_place=None,
            new_place=None,
            says="The two Avro schemas were not compared.",
            action="Compare them by hand.",
        )
        for direction in policy.directions(level)
    )
