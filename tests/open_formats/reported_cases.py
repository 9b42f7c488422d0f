"""Reported cases: the files in `cases/`, the messages in them, and what the product says of these, as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import yaml

import cdc_contracts as cdc

CASES = Path(__file__).parent / "cases"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PLACEHOLDERS = {
    "before": "null", "after": "null", "op": "c", "release": "", "connector": "mysql", "fields": "[]",
    "data": "null", "old": "null", "types": "null", "codes": "null",
}  # fmt: skip
"""What a message of a case says in an envelope (`envelopes.yaml`), and what stands there where it says nothing."""
NOT_EXERCISED = "D15."
"""Notes on what the few messages of a case do not hold, which are left out."""


class Record(NamedTuple):
    """A record as a Kafka client has it."""

    value: bytes | None
    key: bytes | None


@dataclass(frozen=True)
class ReportedCase:
    """One file: what users met, and what is asked about the messages that show it."""

    name: str
    document: Mapping[str, Any]

    @property
    def number(self) -> int | None:
        """The number of the report; None for bad input that nobody reported."""
        return self.document.get("case")


@dataclass(frozen=True)
class Asked:
    """One question of a case: messages, what is stated about them, and what is expected of each command."""

    case: ReportedCase
    question: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.case.name}-{self._of('about', 'asked')}".replace(" ", "-")

    def _of(self, name: str, other: Any = None) -> Any:
        """Return an entry of the question, or else of its case."""
        return self.question.get(name, self.case.document.get(name, other))

    @property
    def audit(self) -> Mapping[str, Any]:
        return self.question.get("audit", {})

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        return self.question.get("rows", [])

    @property
    def typed(self) -> Sequence[Mapping[str, str]]:
        return self.question.get("typed", [])

    @property
    def quarantined(self) -> Mapping[int, Sequence[str]]:
        return self.question.get("quarantined", {})

    @property
    def control(self) -> Mapping[int, str]:
        return self.question.get("control", {})

    @property
    def decodes(self) -> bool:
        return bool(self.rows or self.quarantined or self.control)

    @property
    def why(self) -> Mapping[str, Any]:
        return self.question.get("why", {})

    @property
    def detected(self) -> Mapping[str, Any]:
        return self.question.get("detect", {})

    def settings(self, *names: str) -> dict[str, Any]:
        return {name: self._of(name) for name in names if self._of(name) is not None}

    def contract(self) -> cdc.Contract:
        return cdc.contract(self._of("contract"), **self.settings("tables", "parameters", "table"))

    @cached_property
    def records(self) -> list[Record]:
        """The messages of the question."""
        return [self._record(one) for one in self._of("messages")]

    def _record(self, message: Mapping[str, Any]) -> Record:
        key = message.get("key")
        return Record(self._value(message), None if key is None else key.encode())

    def _value(self, message: Mapping[str, Any]) -> bytes | None:
        """Return the bytes of a value: `hex` digits, the text `value`, or the envelope with what the message says."""
        if "hex" in message:
            return bytes.fromhex(message["hex"])
        if "value" in message:
            return None if message["value"] is None else message["value"].encode()
        text = read_envelopes()[message.get("envelope", self.case.document.get("envelope"))]
        said = {name.upper(): message.get(name, self._of(name, otherwise)) for name, otherwise in PLACEHOLDERS.items()}
        text = re.sub(rf"\b({'|'.join(said)})\b", lambda found: said[found[0]], text)
        for part, other in message.get("replaced", {}).items():
            text = text.replace(part, other if isinstance(other, str) else other[0] * other[1])
        return text.encode()

    def arguments(self, folder: Path) -> list[str]:
        """Return the arguments of `why` for one message; table contracts are written into a folder."""
        arguments = ["--line", str(self.why["message"] + 1)]
        for option in ("contract", "table"):
            if self._of(option) is not None:
                arguments += [f"--{option}", self._of(option)]
        for name, value in (self._of("parameters") or {}).items():
            arguments += ["--parameter", f"{name}={value}"]
        if self._of("tables") is not None:
            (folder / "tables.yaml").write_text(json.dumps(self._of("tables")), encoding="utf-8")
            arguments += ["--tables", "tables.yaml"]
        return arguments


@cache
def read_envelopes() -> dict[str, str]:
    """Return the envelopes that messages are written into, by name."""
    return yaml.load((CASES.parent / "envelopes.yaml").read_text(encoding="utf-8"), LOADER)


@cache
def read_cases() -> tuple[ReportedCase, ...]:
    return tuple(
        ReportedCase(path.stem, yaml.load(path.read_text(encoding="utf-8"), LOADER))
        for path in sorted(CASES.glob("*.yaml"))
    )


def asked_of(case: ReportedCase) -> list[Asked]:
    return [Asked(case, question) for question in case.document.get("asked", ())]


def capture_of(records: Sequence[Record]) -> pa.Table:
    """Return records with the columns of a capture."""
    return pa.table({
        "value": pa.array([record.value for record in records], pa.binary()),
        "key": pa.array([record.key for record in records], pa.binary()),
        "topic": pa.array(["orders"] * len(records)),
        "partition": pa.array([0] * len(records), pa.int32()),
        "offset": pa.array(range(len(records)), pa.int64()),
        "timestamp": pa.array([1_718_000_000_000_000] * len(records), pa.timestamp("us", "UTC")),
    })  # fmt: skip


def show_audit(report: cdc.AuditReport) -> dict[str, Any]:
    """Return the verdict, the findings one by one, the options that were looked for, and the kinds of several sources.

    Of each kind these are its messages, and the offset of the first.
    """
    shown: dict[str, Any] = {"verdict": report.verdict}
    findings = [show_finding(one) for one in report.findings if not one.rule.startswith(NOT_EXERCISED)]
    if findings:
        shown["findings"] = findings
    if options := {one["option"]: list(one["values"]) for one in report.document.get("options", ())}:
        shown["options"] = options
    if kinds := {one["kind"]: [one["messages"], one["first_offset"]] for one in report.document.get("kinds", ())}:
        shown["kinds"] = kinds
    return shown


def show_finding(found: cdc.ReportedDrift) -> str:
    place = (
        f"{found.severity} {found.rule} at {found.path or 'the message'}, {found.count} from offset {found.first[2]}"
    )
    return f"{place}: expected {found.expected}, observed {found.observed}"


def show_rows(batch: cdc.DecodedBatch) -> list[dict[str, Any]]:
    """Return the rows with their canonical texts; `kept_as_sent` names values that are none of their type."""
    shown = []
    for change in batch.changes.to_pylist():
        images = {side: dict(change[side]) for side in ("before", "after") if change[side] is not None}
        partial = [side for side in images if not change[f"{side}_complete"]]
        facts = {"partial": partial, "kept_as_sent": change["invalid_values"], "key": change["primary_key"]}
        shown.append({"op": change["op"], **images, **{name: fact for name, fact in facts.items() if fact}})
    return shown


def show_quarantine(batch: cdc.DecodedBatch) -> dict[int, list[str]]:
    """Return the rules that each refused message breaks, by its offset."""
    return {
        row["offset"]: [f"{one['rule']} at {one['path'] or 'the message'}" for one in row["findings"]
                        if one["severity"] == "error"]
        for row in batch.quarantine.to_pylist()
    }  # fmt: skip


def show_control(batch: cdc.DecodedBatch) -> dict[int, str]:
    return {row["offset"]: row["kind"] for row in batch.control.to_pylist()}
