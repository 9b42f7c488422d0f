"""Reported findings: one finding over many records, as a report has it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, field

from cdc_contracts.registry.core.common.findings import SEVERITIES
from cdc_contracts.registry.core.common.written_models import Count, Since2, Sometimes

Fingerprint = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Severity = Literal["error", "warning", "info"]


class ReportedPartition(Struct, frozen=True, forbid_unknown_fields=True):
    """A partition."""

    topic: str
    """Topic."""
    partition: Count
    """Partition."""


class ReportedRecord(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """One record."""

    offset: Count
    """Offset."""


class ReportedMoment(ReportedRecord, frozen=True, forbid_unknown_fields=True):
    """One record."""

    timestamp: str | None
    """Time of the record in UTC, milliseconds."""

    @property
    def place(self) -> tuple[str, int, int]:
        return self.topic, self.partition, self.offset


class FindingExtent(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """A partition."""

    count: Count
    """Records."""
    first_offset: Count
    """Offset of the first."""
    last_offset: Count
    """Offset of the last."""


class FindingOnset(Struct, frozen=True, forbid_unknown_fields=True):
    """Since when."""

    kind: Literal["every", "sporadic", "once"]
    """every: since `since` each message of the table whose op can show it has it."""
    since: tuple[ReportedMoment, ...]
    """The first of the unbroken series in each partition; empty if there is none."""


class ObservedShape(Struct, frozen=True, forbid_unknown_fields=True):
    """A shape, JSON type or code."""

    observed: str
    """What was sent."""
    count: Annotated[int, Meta(ge=1)]
    """How often."""


class ExplainingStatement(ReportedMoment, frozen=True, forbid_unknown_fields=True):
    """The DDL message that explains it; null if none does."""

    text: str
    """The statement, its text literals redacted."""


class BeginningSchema(ReportedMoment, frozen=True, forbid_unknown_fields=True):
    """The first record of the writer schema with which the finding began; absent if it began with none."""

    number: Count | str = field(name="id")
    """Id of the schema in the registry; a text for a GUID or a global id."""
    of: Literal["value", "key"]
    """Whether values or keys name it."""


class ExampleMessage(ReportedRecord, frozen=True, forbid_unknown_fields=True):
    """The first record with the finding; null if it is not known."""

    message: str
    """The message, values as shapes, cut where it is long."""
    size: Count = field(name="bytes")
    """Length of the value."""
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """Hash of the value."""


class ColumnFinding(Struct, frozen=True, forbid_unknown_fields=True):
    """One column in one image."""

    rule: str
    """Rule that the column breaks."""
    path: str
    """JSON Pointer of the column."""
    fingerprint: str
    """Name of the finding on this column alone."""
    expected: str
    """What the contract requires."""
    observed: tuple[str, ...]
    """What was sent."""
    count: Count
    """Records."""
    first: ReportedMoment
    """The first of them."""
    source_type: Sometimes[str] = UNSET
    """Type of the column as the first of them says; absent where it says none."""


class TableFinding(Struct, frozen=True, forbid_unknown_fields=True):
    """One of several tables."""

    table: str
    """Table."""
    fingerprint: str
    """Name of the finding on this table alone; of several columns, that of the first."""
    count: Count
    """Records of the table with the finding."""
    denominator: Count
    """Readable records of the table."""
    known: Sometimes[bool] = UNSET
    """True where the baseline has the finding on this table; absent otherwise."""
    family: Sometimes[str] = UNSET
    """The sharded family that the table is of by the settings; absent where it is of none."""
    began_with: Sometimes[BeginningSchema] = UNSET


class ReportedFinding(Struct, frozen=True, forbid_unknown_fields=True):
    """One finding: a class, a rule, a place and a table."""

    rule: str
    """Id of the rule; `cdc-contracts rules show` explains it."""
    name: str = field(name="class")
    """Class of drift."""
    severity: Severity
    """Severity."""
    path: str
    """JSON Pointer into a message; array positions of rows are 0."""
    table: str | None
    """Table, null if a message has none, or if it is one of `tables`."""
    op: str | None
    """Op code as sent, null if there are several."""
    ops: dict[str, int]
    """Records by op code."""
    count: Count
    """Records with the finding."""
    denominator: Count
    """Readable records of the table, or of all of them."""
    first: ReportedMoment
    last: ReportedMoment
    partitions: tuple[FindingExtent, ...]
    """The same by partition."""
    expected: str
    """What the contract requires."""
    observed: tuple[str, ...]
    """What was sent instead, the most frequent first; shapes, not values."""
    document: str | None
    """Source document of the contract."""
    action: str
    """What to do about it."""
    fingerprint: Since2[Fingerprint] = UNSET
    """An identifier that is the same in every run for the same class, rule, path and table."""
    contract: Since2[str | None] = UNSET
    """The contract that most of the records were validated against."""
    explanation: Since2[str] = UNSET
    """What it means, and why it matters."""
    onset: Since2[FindingOnset] = UNSET
    histogram: Since2[tuple[ObservedShape, ...]] = UNSET
    """What was sent and how often, the most frequent first: shapes, or values if asked for."""
    similar: Since2[tuple[str, ...]] = UNSET
    """Known names that are similar to the unknown one."""
    explained_by: Since2[ExplainingStatement | None] = UNSET
    began_with: Sometimes[BeginningSchema] = UNSET
    example: Since2[ExampleMessage | None] = UNSET
    reproduce: Since2[str | None] = UNSET
    """The command that shows the finding again: on the first record, or in the range if no record has it by itself."""
    columns: Sometimes[tuple[ColumnFinding, ...]] = UNSET
    """All columns that changed for the same cause, the first being the finding itself; absent for a single column."""
    tables: Sometimes[tuple[TableFinding, ...]] = UNSET
    """All tables with the same finding, in order of their names; absent for a single table."""
    at_least: Sometimes[bool] = UNSET
    """True where only some of the messages could be counted, so that there may be more; absent otherwise."""


def weight(finding: ReportedFinding) -> tuple[Any, ...]:
    """Return the sort key of findings: the most severe and most frequent first; no two have the same."""
    heavy = SEVERITIES.index(finding.severity)
    named = finding.name, finding.rule, finding.path, finding.table or "", finding.fingerprint or ""
    return heavy, -finding.count, *named, finding.first.place
