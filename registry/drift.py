"""Drift as the report tells it: one finding over many records, what it means, and what to do about it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.findings import CLASSES
from cdc_contracts.registry.forms import FORMS
from cdc_contracts.registry.rulebook import CROSS_FIELD, find_rule
from cdc_contracts.registry.tally import FindingKey, FindingTally, Moment
from cdc_contracts.registry.times import instant

_MOST_OBSERVED: Final = 10

_CAUSES: Final = {
    "D01.utf8": "The bytes are not UTF-8: another character set, or something that is no text at all.",
    "D01.json": "The text does not end where its object does, ends before it, or is not JSON.",
    "D01.bom": "A byte order mark stands before the text, which JSON does not allow.",
    "D01.empty": "The value is there and holds nothing.",
    "D01.too-long": "The value is longer than a message may be.",
    "D01.depth": "Arrays and objects are nested deeper than any reader should follow.",
    "D01.surrogate": "Half of a surrogate pair stands alone: a text was cut inside a character.",
    "D01.not-object": "The value is JSON, but not an object.",
    "D01.duplicate-member": "One member stands twice, and which of them counts is for each reader to guess.",
    "D01.avro": "The bytes are no record of the schema, or bytes are left after it.",
    "D01.not-judged": "This program failed on the message: please report it.",
    "D03.images": "The row stands where the other version has it; read by this one, before and after change places.",
    "D08.op": "What such a message does to a row is not known, so it is not read.",
    "D08.source-type": "How values of that type are written is not known, so they are not read.",
    "D14.digits": "Written out it would have more than 4,096 characters.",
}


def tell_drift(key: FindingKey, finding: FindingTally, denominator: int, catalogue: Catalogue) -> dict[str, Any]:
    """Return one finding as the report has it; `denominator` counts the records that might have had it."""
    extents = [finding.extents[source] for source in sorted(finding.extents)]
    ops = dict(sorted(finding.ops.items()))
    contract = min(finding.contracts.items(), key=_by_count)[0] if finding.contracts else None
    observed = sorted(finding.observed.items(), key=_by_count)[:_MOST_OBSERVED]
    return {
        "rule": key.rule,
        "class": key.name,
        "severity": finding.severity,
        "path": key.path,
        "table": key.table,
        "op": next(iter(ops)) if len(ops) == 1 else None,
        "ops": ops,
        "count": finding.count,
        "denominator": denominator,
        "first": _moment(min((extent.first for extent in extents), key=_place)),
        "last": _moment(max((extent.last for extent in extents), key=_place)),
        "partitions": [
            {
                "topic": extent.first.topic,
                "partition": extent.first.partition,
                "count": extent.count,
                "first_offset": extent.first.offset,
                "last_offset": extent.last.offset,
            }
            for extent in extents
        ],
        "expected": " / ".join(sorted(finding.expected)),
        "observed": [text for text, _ in observed],
        "document": _document(contract, catalogue),
        "action": CLASSES[key.name].action,
        "fingerprint": fingerprint(key),
        "contract": contract,
        "explanation": explain_drift(key, finding.expected),
        "onset": {"kind": "once" if finding.count == 1 else "sporadic", "since": []},
        "histogram": [{"observed": text, "count": count} for text, count in observed],
        "similar": [],
        "explained_by": None,
        "example": None,
        "reproduce": None,
    }


def fingerprint(key: FindingKey) -> str:
    """Return a name of a finding that stays the same from run to run."""
    parts = (key.name, key.rule, key.path, key.table or "")
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def explain_drift(key: FindingKey, expected: Counter[str]) -> str:
    """Say what a finding means: what its class says, then its rule or the value form that was wanted."""
    says = [CLASSES[key.name].says]
    rule = find_rule(key.rule) if key.name == CROSS_FIELD else None
    if rule is not None:
        says.append(rule.says)
    elif key.rule in _CAUSES:
        says.append(_CAUSES[key.rule])
    else:
        says += [f"Wanted is {name}: {FORMS[name].says}" for name in sorted(expected) if name in FORMS]
    return " ".join(says)


def _document(contract: str | None, catalogue: Catalogue) -> str | None:
    """Name the source document of a contract."""
    if contract is None:
        return None
    provenance = catalogue.version(contract).resolved.get("provenance", {})
    parts = [provenance.get("document"), provenance.get("section")]
    return ", ".join(part for part in parts if part) or None


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "topic": moment.topic,
        "partition": moment.partition,
        "offset": moment.offset,
        "timestamp": instant(moment.timestamp),
    }


def _place(moment: Moment) -> tuple[str, int, int]:
    return moment[:3]


def _by_count(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]
