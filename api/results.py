"""Results: what the functions of the interface return, as frozen Python values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NoReturn

from cdc_contracts.api.frozen_values import FrozenDict, freeze_document
from cdc_contracts.api.html_views import show_images, show_lines
from cdc_contracts.registry.core.common.errors import UndecidedError, UsageError
from cdc_contracts.registry.core.tables.canonical.python_values import PythonValue

Severity = Literal["error", "warning", "info"]
Op = Literal["insert", "update", "delete", "snapshot", "upsert"]
Value = PythonValue | None
"""A value of a column; None is NULL."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One point in which a message does not conform to its contract. `observed` is a shape or code, never a value."""

    rule: str
    """The stable id of the rule, such as `D08.op`; `cdc-contracts rules show` explains it."""
    drift_class: str
    """The class of drift, such as `unknown-enum`."""
    severity: Severity
    """An `error` keeps a message from being decoded."""
    path: str
    """JSON Pointer to the place in the message; empty for the whole."""
    expected: str
    observed: str

    @property
    def sentence(self) -> str:
        """The finding as a sentence."""
        observed = f", observed {self.observed}" if self.observed else ""
        return f"{self.drift_class} at {self.path or '(message)'}: expected {self.expected}{observed}"

    def __str__(self) -> str:
        return f"{self.severity} {self.rule}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class CheckedMessage:
    """The result of the validation of one message."""

    outcome: str
    """`conforming`, `control` (no row) or `tombstone`; otherwise `drifted`, `other-version`, `other-dialect`,
    `ambiguous` or `unreadable`."""
    contract: str | None
    """The version it was validated under, such as `dts/canal@2`; None if it is not a message."""
    undecided: bool
    """Whether it fits another version of the contract too."""
    table: str | None
    """The table it names."""
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the message conforms, so that its rows can be read; it may have warnings."""
        return self.outcome in ("conforming", "control", "tombstone")


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """What a row change says besides its images."""

    op: Op
    """`insert`, `update`, `delete`, `snapshot`, or `upsert` if the dialect does not distinguish insert from update."""
    tenant: str | None
    database: str | None
    schema: str | None
    table: str | None
    primary_key: tuple[str, ...] | None
    """Names of its columns; None if not known, empty if the table has none."""
    column_types: Mapping[str, str] | None
    """Source types by column, as sent or from the table contract."""
    event_time: datetime | None
    """When the row changed in the source, in UTC."""
    event_time_text: str | None
    """The time as sent, if `event_time` is None or less precise."""
    process_time: datetime | None
    """When the product handled the change, in UTC."""
    position: str | None
    transaction: str | None
    update_part: str | None
    """`joined`, or `before` or `after` if the message has one half of an update."""
    pair_id: str | None
    """Joins the two halves of one update."""


@dataclass(frozen=True, slots=True)
class Change(ChangeFacts):
    """One row change, the same in every dialect.

    `before` and `after` are the images: None if there is no such image; a column that is not in the message is not in
    the image; None as a value is NULL.
    """

    before: Mapping[str, Value] | None
    after: Mapping[str, Value] | None
    before_complete: bool | None
    """Whether the image has all columns of the row; None without one."""
    after_complete: bool | None
    changed: tuple[str, ...] | None
    """The columns that were sent in a partial image; None if images are full."""
    kept_as_text: tuple[str, ...]
    """Values that their type cannot hold and that stay text, such as `after.made` for `0000-00-00 00:00:00`."""

    @property
    def row(self) -> Mapping[str, Value]:
        """The row after the change; of a delete, the row before it."""
        image = self.before if self.after is None else self.after
        return FrozenDict[str, Value]() if image is None else image

    def _repr_html_(self) -> str:
        table = ".".join(part for part in (self.database, self.schema, self.table) if part)
        return show_images(f"{self.op} {table}", {"before": self.before, "after": self.after})


@dataclass(frozen=True, slots=True)
class UndecidedChange(ChangeFacts):
    """One row change that versions of the contract read differently, while nothing says which of them holds.

    Its other facts are as the highest version reads them. Reading `row`, `before` or `after` raises `UndecidedError`.
    """

    readings: Mapping[str, Change]
    """The change as each version that the message fits reads it, by reference."""

    def read_as(self, reference: str) -> Change:
        """Return the change as one version reads it, such as `dts/canal@1`. Raises UsageError if it does not."""
        if reference not in self.readings:
            raise UsageError(f"{reference} does not read this change", hint=f"Choose {_either(self.readings)}.")
        return self.readings[reference]

    @property
    def row(self) -> NoReturn:
        raise self._refusal()

    @property
    def before(self) -> NoReturn:
        raise self._refusal()

    @property
    def after(self) -> NoReturn:
        raise self._refusal()

    def _refusal(self) -> UndecidedError:
        named = ".".join(part for part in (self.database, self.schema, self.table) if part) or "a table without a name"
        return UndecidedError(
            f"nothing says which version this {self.op} of {named} is read by: {_either(self.readings)}",
            hint="Open the contract as one of them, or with `versions=`, a file that says which holds for which "
            "offsets; `read_as(...)` chooses for one change.",
        )


def _either(references: Iterable[str]) -> str:
    return " or ".join(references)


@dataclass(frozen=True, slots=True)
class Control:
    """A message without a row: DDL, heartbeat, begin or commit of a transaction."""

    kind: str
    """`ddl`, `heartbeat`, `begin`, `commit`, `truncate`, …"""
    tenant: str | None
    database: str | None
    schema: str | None
    table: str | None
    ddl_text: str | None
    ddl_type: str | None
    event_time: datetime | None
    process_time: datetime | None
    position: str | None
    transaction: str | None


@dataclass(frozen=True, slots=True)
class DecodedMessage(CheckedMessage):
    """The result of decoding one message: `changes`, or `control`, or neither if it does not conform.

    The changes of a message that is `ambiguous` are undecided.
    """

    changes: tuple[Change | UndecidedChange, ...] = ()
    control: Control | None = None


@dataclass(frozen=True, slots=True)
class ExplainedFinding(Finding):
    """A finding with what the contract says about it and what to do."""

    meaning: str
    """What the rule says."""
    contract_says: tuple[str, ...]
    """What the contract says about that place."""
    action: str
    """What to do."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One message explained; `str()` is a text for people."""

    outcome: str
    contract: str | None
    """The contract that it was validated under."""
    choice: str
    """Why that one."""
    findings: tuple[ExplainedFinding, ...]
    fits: tuple[str, ...]
    """Other contract versions that the message conforms to."""
    document: Mapping[str, Any] = field(repr=False)
    """The whole explanation, with every member and column, as `cdc-contracts why --json` writes it."""

    def __str__(self) -> str:
        lines = [f"{self.outcome.upper()} {self.contract or ''}".rstrip() + f" ({self.choice})"]
        for one in self.findings:
            lines += [str(one), f"  {one.meaning}", *(f"  contract: {text}" for text in one.contract_says)]
            lines.append(f"  fix: {one.action}")
        if self.fits:
            lines.append(f"fits: {', '.join(self.fits)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Detection:
    """The contract that messages follow, and how certain that is."""

    verdict: str
    """`certain`, `likely`, `ambiguous`, `mixed` or `not-in-catalogue`."""
    contract: str | None
    """The reference for `contract()`, with its version if that is decided; None if none is found."""
    equivalent: tuple[str, ...]
    """Contracts that read each of these messages in the same way."""
    nearest: str | None
    """The contract that comes closest, if none fits."""
    evidence: tuple[str, ...]
    """What distinguishes the contracts, the strongest first."""
    messages: int
    """How many messages were examined."""
    settle: str | None
    """What would decide between the remaining contracts."""


@dataclass(frozen=True, slots=True)
class ReportedDrift(Finding):
    """A finding of many messages: one for each rule, place and table."""

    table: str | None
    count: int
    """How many messages have it."""
    denominator: int
    """How many messages of the table could be read."""
    first: tuple[str, int, int]
    """Topic, partition and offset of the first."""
    action: str
    """What to do."""

    def __str__(self) -> str:
        of = f"{self.count:,} of {self.denominator:,} messages" + (f" of {self.table}" if self.table else "")
        return f"{self.severity} {self.rule}: {self.sentence} ({of}, first at offset {self.first[2]})"


@dataclass(frozen=True)
class AuditReport:
    """The result of the validation of many messages; `str()` is a text for people.

    `read` is `conforming` + `control` + `tombstones` + `quarantined`.
    """

    verdict: Literal["pass", "drift", "inconclusive"]
    """`inconclusive` if the messages do not allow a verdict: there are none, or versions read them differently."""
    contract: str
    read: int
    conforming: int
    """Messages with rows."""
    control: int
    """Messages without a row: DDL, heartbeats, transaction marks."""
    tombstones: int
    """Records without a value."""
    quarantined: int
    """Messages that do not conform."""
    changes: int
    """Rows of the conforming messages."""
    findings: tuple[ReportedDrift, ...]
    """The most severe and most frequent first."""
    _document: Mapping[str, Any] = field(repr=False, hash=False)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The whole report, as `cdc-contracts audit --json` writes it."""
        found: Mapping[str, Any] = freeze_document(self._document)
        return found

    @property
    def ok(self) -> bool:
        """Whether the verdict is `pass`."""
        return self.verdict == "pass"

    def _repr_html_(self) -> str:
        head, *_ = str(self).split("\n")
        titles = ("severity", "rule", "path", "expected", "observed", "table", "messages", "of", "first offset")
        return show_lines(head, titles, (
            (one.severity, one.rule, one.path or "(message)", one.expected, one.observed, one.table or "", one.count,
             one.denominator, one.first[2]) for one in self.findings
        ))  # fmt: skip

    def __str__(self) -> str:
        counts = f"{self.read:,} read, {self.conforming:,} conforming, {self.control:,} control"
        head = f"{self.verdict}: {counts}, {self.tombstones:,} tombstones, {self.quarantined:,} quarantined"
        shown = [str(one) for one in self.findings if one.severity != "info"]
        notes = len(self.findings) - len(shown)
        more = [f"and {notes} {'note' if notes == 1 else 'notes'} of severity info"] if notes else []
        return "\n".join([f"{head}, validated against {self.contract}", *shown, *more])
