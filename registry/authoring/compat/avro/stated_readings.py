"""Stated readings: what two Avro schemas of one shape say of their messages in an attribute.

The messages of two versions may have the same records, and mean different rows: another value form of a type, another
place of an image. Schemas written from contracts say so in the attribute `reading`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding, report_whole
from cdc_contracts.registry.authoring.compat.levels import MEANING
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import READING
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

STATED_READING: Final = CompatibilityRule(
    id="C215", name="avro-stated-reading", severity=BREAKING,
    says="The schemas state that messages of one shape are read differently: a type has another value form, or an "
    "image another place.",
    action="Keep the contract of the published version; `cdc-contracts compat` of both contracts shows such messages.",
    good='"reading": {"value-forms": {"BIT": "bit-base64"}} in both', bad='"BIT": "bit-number" in one of them',
)  # fmt: skip
_SHOWN: Final = 8


def compare_readings(old: SchemaDocument, new: SchemaDocument) -> Iterator[CompatibilityFinding]:
    """Yield a finding if both schemas state how their messages are read, and differ in what both state."""
    before, after = (dict(_flatten(_stated(one), ())) for one in (old, new))
    changed = [key for key in before if key in after and before[key] != after[key]]
    if changed:
        listed = [f"{' '.join(key)}: {before[key]}, then {after[key]}" for key in changed[:_SHOWN]]
        more = f", and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        says = f"The schemas state different readings of the same shape: {'; '.join(listed)}{more}."
        yield report_whole(STATED_READING, old, new, MEANING, says)


def _stated(schema: SchemaDocument) -> Any:
    document = schema.document
    return document.get(READING) if isinstance(document, dict) else None


def _flatten(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _flatten(below, (*path, str(key)))
    elif path:
        yield path, value
