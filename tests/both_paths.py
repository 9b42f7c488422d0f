"""Both validators side by side: the results of the fast path and of the reference for a record, and for the samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from topics import CATALOGUE, named_samples

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts, read_table_contracts
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.validate.verdicts import Finding, Verdict, decide

VERSIONS = list(CATALOGUE.all_versions())
SUBJECTS = CATALOGUE.subjects()
BATCH = 700
SHOWN = 5


def by_fast_path(validator: FastValidator, values: Sequence[bytes | None]) -> list[Verdict]:
    """Return one verdict per value, having checked that each got exactly one."""
    batch_result = validator.validate(values, texts=True)
    found: dict[int, list[Verdict]] = {number: [] for number in range(len(values))}
    for group_result in batch_result.group_results:
        for number in group_result.record_group.numbers.tolist():
            found[number].append(group_result.verdict)
    for number, validated in batch_result.alone:
        found[number].append(validated.verdict)
    assert sorted(batch_result.tombstones) == [number for number, value in enumerate(values) if value is None]
    assert [number for number, verdicts in found.items() if len(verdicts) != (values[number] is not None)] == []
    return [verdicts[0] if verdicts else Verdict("tombstone", None, ()) for verdicts in found.values()]


def by_reference(validations: Sequence[ValidationContext], value: bytes) -> list[Verdict]:
    """Return one verdict per scope of a subject; what the versions say of the record is worked out once for all."""
    try:
        message = validations[0].wire.open(value)
    except Unreadable:
        return [validation.validate(value).verdict for validation in validations]
    version_verdicts = validations[0].version_verdicts(message)
    reported = {
        version_verdict.version: (version_verdict.changes, version_verdict.control)
        for version_verdict in version_verdicts
    }
    claimed_by = validations[0].claimant(message, value)
    opinions = [version_verdict.opinion for version_verdict in version_verdicts]

    def same(versions: Sequence[Version]) -> bool:
        return all(reported[version] == reported[versions[0]] for version in versions)

    return [decide(validation.case(message, opinions, same=same, claimed_by=claimed_by)) for validation in validations]


def shown(verdict: Verdict) -> tuple[Any, ...]:
    """Return everything that both paths have to agree on."""
    return (
        verdict.outcome,
        str(verdict.version),
        [str(version) for version in verdict.fits],
        verdict.differs,
        [shown_finding(finding) for finding in verdict.findings],
    )


def shown_finding(finding: Finding) -> tuple[str, ...]:
    observed = "" if finding.name == "value-form" else finding.observed
    return (finding.rule, finding.name, finding.severity, finding.path, finding.expected, observed)


def differences(validator: FastValidator, values: Sequence[bytes], expected: Sequence[Verdict]) -> list[str]:
    """Return where the fast path says something else."""
    found = []
    for start in range(0, len(values), BATCH):
        batch = values[start : start + BATCH]
        for value, mine, wanted in zip(
            batch, by_fast_path(validator, batch), expected[start : start + BATCH], strict=True
        ):
            if shown(mine) != shown(wanted):
                found.append(f"{validator.validation.declared}: {value[:3000]!r}\n"
                             f"  fast      {shown(mine)}\n  reference {shown(wanted)}")  # fmt: skip
    return found


def report(found: Sequence[str]) -> str:
    return f"{len(found)} disagreements\n" + "\n".join(found[:SHOWN])


@cache
def samples() -> dict[str, list[tuple[str, bytes]]]:
    """Return the samples and drift samples by version."""
    return {version.reference: named_samples(version) for version in VERSIONS}


@cache
def all_tables() -> TableContracts:
    """Return the table contracts beside the samples, and one with a zone of its own for a table of other samples."""
    found = {}
    for version in VERSIONS:
        folder = Path(str(version.folder)) / "samples" / "tables"
        if folder.is_dir():
            for document in read_table_contracts(folder).documents():
                found[document["table"]] = TableContract.model_validate(document)
    zoned = {"id": {"type": "bigint"}, "c_timestamp": {"type": "timestamp"}}
    found["shop.times"] = TableContract.model_validate(
        {"table": "shop.times", "columns": zoned, "source_time_zone": "Asia/Shanghai"}
    )
    return TableContracts(found.values())


def terms_of(kind: str) -> ReadingOptions:
    return {
        "alone": ReadingOptions(),
        "with tables": ReadingOptions(tables=all_tables()),
        "with a zone": ReadingOptions(parameters={"timestamp_zone": "Europe/Berlin"}),
    }[kind]
