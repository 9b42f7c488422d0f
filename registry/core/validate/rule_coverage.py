"""Rule coverage: the parts of a contract that the messages of a run exercised, and those they did not.

A passing result says nothing about messages that never occurred. Ops with rows, and DDL, are listed one by one, since
each may drift by itself; other messages without rows, and value forms, in one line each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.safe_text import list_first
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.document_model import CONTROL_OPS, ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import drift_rules

OP: Final = "op"
RULE: Final = "rule"
FORM: Final = "form"
_MOST_NAMED: Final = 12
_DDL: Final = "ddl"


class CoverageItem(NamedTuple):
    """One part of a contract that a record exercises."""

    contract: str
    kind: str
    name: str


class CoverageGap(NamedTuple):
    """One part of a contract that no record exercised; `cause` names it in a rule id."""

    contract: str
    cause: str
    path: str
    expected: str
    observed: str


RuleCoverage = Counter[CoverageItem]


def coverage_by(reading: Reading, contract: str, forms: Iterator[str] | Sequence[str]) -> tuple[CoverageItem, ...]:
    """Return what a record exercises: its op, the rules that apply, the value forms it has."""
    found = [CoverageItem(contract, FORM, form) for form in dict.fromkeys(forms)]
    if reading.op is not None:
        found.append(CoverageItem(contract, OP, reading.op))
        rules = reading.meaning.rules
        found += [CoverageItem(contract, RULE, name) for name in rules if drift_rules()[name].exercised_by(reading)]
    return _the_one(tuple(found))


@lru_cache(maxsize=10_000)
def _the_one(found: tuple[CoverageItem, ...]) -> tuple[CoverageItem, ...]:
    """Return the same object for equal values, so that many kinds of records are counted together."""
    return found


def coverage_gaps(rule_coverage: RuleCoverage, catalogue: Catalogue) -> tuple[CoverageGap, ...]:
    """Return what no record exercised of the contracts that occurred, the versions of one subject together.

    Subjects of which only messages without rows stood among those of another are left out.
    """
    return _gaps_of(frozenset(rule_coverage), catalogue)


@lru_cache(maxsize=256)
def _gaps_of(exercised: frozenset[CoverageItem], catalogue: Catalogue) -> tuple[CoverageGap, ...]:
    """Return the gaps that remain; small batches of one stream exercise the same, one after the other."""
    return tuple(_find_gaps(exercised, catalogue))


def _find_gaps(exercised: frozenset[CoverageItem], catalogue: Catalogue) -> Iterator[CoverageGap]:
    met: dict[str, list[Version]] = {}
    for contract in sorted({one.contract for one in exercised}):
        version = catalogue.version(contract)
        met.setdefault(version.subject, []).append(version)
    among_others = {name for versions in met.values() for one in versions for name in one.meaning.control_of}
    for subject, versions in met.items():
        versions.sort(key=lambda version: version.number)
        contracts = {version.reference for version in versions}
        seen = {(one.kind, one.name) for one in exercised if one.contract in contracts}
        if subject not in among_others or any((OP, op) in seen for op in ROW_OPS):
            yield from _unexercised(versions, seen)


def _unexercised(versions: Sequence[Version], seen: set[tuple[str, str]]) -> Iterator[CoverageGap]:
    latest = versions[-1]
    meanings = [version.meaning for version in versions]
    op_at = latest.meaning.envelope.op.at
    missing = [op for op in (*ROW_OPS, *CONTROL_OPS) if _documented(meanings, op) and (OP, op) not in seen]
    rest = [op for op in missing if op in CONTROL_OPS and op != _DDL]
    for op in missing:
        if op not in rest:
            yield CoverageGap(latest.reference, op, op_at, _codes(meanings, op), "none")
    if rest:
        expected = ", ".join(_codes(meanings, op) for op in rest)
        yield CoverageGap(latest.reference, "control", op_at, expected, "none of them")
    if all((OP, op) not in seen for op in ROW_OPS):
        return  # no rule about rows could be exercised
    for rule in dict.fromkeys(rule for meaning in meanings for rule in meaning.rules):
        if (RULE, rule) not in seen:
            yield CoverageGap(latest.reference, rule, "", rule, "nothing to apply it to")
    forms = _documented_forms(versions)
    if any(kind == FORM for kind, _ in seen) and (
        never := [result for form, result in forms if (FORM, form) not in seen]
    ):
        yield CoverageGap(
            latest.reference, "value-forms", "", "a column of each value form",
            "none such as " + list_first(never, _MOST_NAMED),
        )  # fmt: skip


def _documented(meanings: Sequence[Meaning], op: str) -> bool:
    return any(
        op in meaning.ops.values() or any(flag.means == op for flag in meaning.envelope.op.flags)
        for meaning in meanings
    )


def _codes(meanings: Sequence[Meaning], op: str) -> str:
    """Return the code of an op in messages, with its canonical name if that is different."""
    codes = [
        code
        for meaning in meanings
        for code, result in meaning.ops.items()
        if result == op and code not in meaning.tolerated_ops
    ]
    result = dict.fromkeys(codes)
    return " or ".join(result) if result else op


def _documented_forms(versions: Sequence[Version]) -> list[tuple[str, str]]:
    """Return the value forms, each with a source type that has it, and with its own name where types are numbers."""
    mappings = [version.catalogue.mapping(name) for version in versions for name in version.mapping_names()]
    result = {
        form: form if types[0].isdigit() else types[0]
        for mapping in reversed(mappings)
        for form, types in reversed(mapping.document.forms.items())
    }
    return list(reversed(result.items()))
