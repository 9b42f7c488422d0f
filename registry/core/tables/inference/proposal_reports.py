"""Proposal reports: as JSON, and as the comments in the proposed YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence, Seen
from cdc_contracts.registry.core.tables.inference.proposals import Proposal, count_rows


def write_account(evidence: InferenceEvidence, proposals: list[Proposal]) -> dict[str, Any]:
    """Return the proposals with their evidence as a JSON document."""
    return {
        "read": evidence.read,
        "left_out": evidence.left_out,
        "rows_without_table": evidence.nameless,
        "cut": evidence.cut,
        "tables": [_table(one) for one in proposals],
    }


def head_of(proposal: Proposal) -> str:
    """Return the comment above a proposed contract: its origin and its open questions."""
    rows, contracts = proposal.evidence.rows, ", ".join(sorted(proposal.evidence.contracts))
    first, last = (f"{one.topic} {one.partition}@{one.offset}" for one in (rows.first, rows.last))
    lines = [f"Inferred from {count_rows(rows.count)}, {first} to {last}, read as {contracts}.", *proposal.remarks]
    return "\n".join(map(_one_line, lines))


def notes_of(proposal: Proposal) -> Mapping[str, str]:
    """Return the comment after each column of a proposed contract."""
    return {one.name: one.rests_on for one in proposal.columns}


def _table(proposal: Proposal) -> dict[str, Any]:
    evidence, contract = proposal.evidence, proposal.contract
    keys = sorted(evidence.keys.items(), key=lambda one: one[0])
    return {
        "table": contract.table,
        "rows": _seen(evidence.rows),
        "images": evidence.images,
        "contracts": {name: _seen(seen) for name, seen in sorted(evidence.contracts.items())},
        "primary_key": list(contract.primary_key),
        "primary_keys_told": [{"columns": list(key), **_seen(seen)} for key, seen in keys],
        "remarks": list(proposal.remarks),
        "columns": [
            {
                "name": one.name,
                "type": one.column.type,
                "nullable": one.column.nullable,
                "proposed": not one.declared,
                "rests_on": one.rests_on,
                "values": one.evidence.values,
                "nulls": one.evidence.nulls,
                "digits_before_point": one.evidence.whole if one.evidence.numbers else None,
                "digits_behind_point": one.evidence.scale if one.evidence.numbers else None,
                "longest": one.evidence.longest,
                "json_kinds": sorted(one.evidence.kinds),
                "types_told": {result: _seen(seen) for result, seen in sorted(one.evidence.types.items())},
            }
            for one in proposal.columns
        ],
    }


def _seen(seen: Seen) -> dict[str, Any]:
    return {"count": seen.count, "first": seen.first._asdict(), "last": seen.last._asdict()}


def _one_line(text: str) -> str:
    """Return text that ends no line of a comment, whatever names from messages are in it."""
    return "".join(char if char.isprintable() else "?" for char in text)
