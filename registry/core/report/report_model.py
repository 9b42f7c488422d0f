"""Report model: the report of an audit, a check or a decode on a range of records.

`registry.file_schemas.published_schemas` writes the published schema, `report.schema.json`, from it.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, field

from cdc_contracts.registry.core.common.exit_codes import Verdict
from cdc_contracts.registry.core.common.written_models import Count, Since2, Sometimes
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.contradicted_runs import ContradictedRuns
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding, ReportedPartition
from cdc_contracts.registry.core.report.reported_kinds import ReportedKind
from cdc_contracts.registry.core.report.reported_null_values import ReportedNullValues
from cdc_contracts.registry.core.report.reported_options import ReportedOption
from cdc_contracts.registry.core.report.reported_parts import ReportedParts
from cdc_contracts.registry.core.report.reported_profile import ReportedTopic
from cdc_contracts.registry.core.report.reported_schemas import ReportedSchemas
from cdc_contracts.registry.core.report.reported_slices import ReportedSlices
from cdc_contracts.registry.core.stats.run_evidence import RunEvidence

REPORT_VERSION: Final = 2
StopReason = Literal["interrupted", "time limit"]
PositiveCount = Annotated[int, Meta(ge=1)]
Bound = Count | str | None
"""An offset, a time, or nothing."""


class TopicRange(Struct, frozen=True, forbid_unknown_fields=True):
    """A range."""

    start: str = field(name="from")
    """First offsets."""
    end: str = field(name="to")
    """Offsets before which it ends."""


class ReportSource(Struct, frozen=True, kw_only=True):
    """What was read."""

    kind: Literal["kafka", "file", "quarantine", "dataframe"]
    """Kind of the source: topics of a broker, files, the quarantine of runs, or a DataFrame."""
    bootstrap: Sometimes[str] = UNSET
    """Brokers, without secrets."""
    directory: Sometimes[str] = UNSET
    """The directory of the runs."""
    runs: Sometimes[Count] = UNSET
    """How many runs quarantined the records that were read."""
    topics: Sometimes[tuple[str, ...]] = UNSET
    """Topics."""
    paths: Sometimes[tuple[str, ...]] = UNSET
    """Files."""
    ranges: Sometimes[dict[str, TopicRange]] = UNSET
    """Range of each topic, as --from and --to take it."""
    blank_lines: Sometimes[Count] = UNSET
    """Empty lines of a file."""
    contracts: Sometimes[dict[str, str]] = UNSET
    """The contract of each topic, where several contracts are validated against."""
    contract_folders: Sometimes[tuple[str, ...]] = UNSET
    """Folders of contracts beside those shipped."""
    tables: Sometimes[str] = UNSET
    """File or folder of the table contracts."""
    parameters: Sometimes[dict[str, str]] = UNSET
    """Parameters of the run, also the options of a producer that a sample decided."""
    schema_registry: Sometimes[str] = UNSET
    """Where the schemas of framed records were, without credentials."""
    detections: Sometimes[dict[str, ReportedDetection]] = UNSET
    """What was detected in each topic, where there are several topics and no contract was declared."""


class RangeCoverage(Struct, frozen=True, forbid_unknown_fields=True):
    """How much of the range was read."""

    read: Count
    """Messages read."""
    of: Count
    """Offsets of the range."""
    sample: str | None
    """Which part was read where not all of it was."""
    slices: Sometimes[ReportedSlices] = UNSET
    """What the slices of a sample say about all messages of the range."""


class KnownFindings(Struct, frozen=True, forbid_unknown_fields=True):
    """The known findings that are left out of the report; null if all are reported."""

    file: str
    """The file that lists them."""
    known: Count
    """Findings left out."""


class PartitionWindow(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """A partition, and the range of its offsets."""

    start: Count
    """First offset of the range."""
    end: Count
    """Offset before which it ends."""


class PartitionLedger(PartitionWindow, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A partition."""

    read: Count
    """Messages read."""
    conforming: Count
    """Messages that hold rows and conform."""
    control: Count
    """Messages without a row that conform."""
    tombstone: Count
    """Records without a value."""
    quarantined: Count
    """Messages that were quarantined."""
    contradicted: Sometimes[Count] = UNSET
    """Messages that hold rows and fit the version they were read by, which row changes prove to be the wrong one."""
    excluded: Since2[Count] = UNSET
    """Messages of tables that were excluded from validation."""
    changes: Count
    """Rows in conforming and in contradicted messages."""
    gaps: Count
    """Offsets of the range that hold no record."""
    first_timestamp: str | None
    """Time of the first record."""
    last_timestamp: str | None
    """Time of the last record."""


class Ledger(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every record counted once."""

    read: Count
    """Messages read."""
    conforming: Count
    """Messages that hold rows and conform."""
    control: Count
    """Messages without a row that conform."""
    tombstone: Count
    """Records without a value."""
    quarantined: Count
    """Messages that were quarantined."""
    contradicted: Sometimes[Count] = UNSET
    """Messages that hold rows and fit the version they were read by, which row changes prove to be the wrong one."""
    excluded: Since2[Count] = UNSET
    """Messages of tables that were excluded from validation."""
    changes: Count
    """Rows in conforming and in contradicted messages."""
    partitions: tuple[PartitionLedger, ...]
    """The same by partition."""

    @property
    def validated(self) -> int:
        """How many records were to be validated."""
        return self.read - (self.excluded or 0)

    @property
    def valued(self) -> int:
        """How many of them have a value."""
        return self.validated - self.tombstone


class OtherFindings(Struct, frozen=True, forbid_unknown_fields=True):
    """The findings that the report does not keep."""

    findings: Count | None
    """How many; null if unknown."""
    records: Count
    """Records with such a finding, counted once for each finding."""


class UnprovenVersion(Struct, frozen=True, forbid_unknown_fields=True):
    """A declared version that no message could confirm or contradict."""

    contract: str
    """The declared version."""
    others: tuple[str, ...]
    """The versions that fit as well."""
    records: Count
    """Records that fit several versions."""
    topic: Sometimes[str] = UNSET
    """Topic of the range that it is declared for (`--versions`)."""
    partition: Sometimes[Count] = UNSET
    """Partition of the range."""
    start: Sometimes[Bound] = field(name="from", default=UNSET)
    """First offset, or time, of the range; null for the beginning."""
    end: Sometimes[Bound] = field(name="to", default=UNSET)
    """Offset, or time, before which the range ends; null for the end."""


class ReportedStretch(Struct, frozen=True, forbid_unknown_fields=True):
    """Records that support one version."""

    contract: str
    """The version."""
    links: Count
    """How many links support it."""
    records: Count
    """How many row changes they belong to."""
    first_offset: Count
    """First of them."""
    last_offset: Count
    """Last of them."""
    first_timestamp: str | None
    """Time of the first record."""
    last_timestamp: str | None
    """Time of the last record."""
    proven: bool
    """Whether they are enough to prove it."""


class ReportedPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a change is."""

    partition: Count
    """Partition."""
    offset: Count
    """Offset."""


class ReportedPair(Struct, frozen=True, forbid_unknown_fields=True):
    """Two changes of one row that only one version joins."""

    by: Literal["link", "state"]
    """Whether one follows the other, or they enter and leave the same state of the row, in whatever order."""
    changes: tuple[ReportedPlace, ReportedPlace]
    """Where they are."""


class ReportedChains(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """A partition."""

    links: dict[str, int]
    """Consecutive changes of a row that connect under this version only."""
    torn: Count
    """Consecutive changes that connect under no version."""
    doubtful: bool
    """Whether they contradict each other so often that they prove nothing."""
    stretches: tuple[ReportedStretch, ...]
    """The sequence of versions, in the order of the offsets."""
    states: Sometimes[dict[str, int]] = UNSET
    """States of rows in the topic that vote for this version, whatever the order of changes."""
    pairs: Sometimes[dict[str, ReportedPair]] = UNSET
    """The first two changes to look at for each version with a link or a vote."""


class ReportedRun(Struct, frozen=True, forbid_unknown_fields=True):
    """One run."""

    contract: str
    """The version."""
    records: PositiveCount
    """Records proven to be of it."""
    first_offset: Count
    """Offset of the first."""
    last_offset: Count
    """Offset of the last."""
    first_timestamp: str | None
    """Time of the first."""
    last_timestamp: str | None
    """Time of the last."""
    certain_from: Sometimes[Count] = UNSET
    """Offset from which on the version is certain, where that is after the first: few links may be by chance."""
    certain_to: Sometimes[Count] = UNSET
    """Offset up to which, and including which, the version is certain, where that is before the last."""


class PartitionTimeline(PartitionWindow, frozen=True, forbid_unknown_fields=True):
    """A partition."""

    cut: bool
    """Whether there are more runs than the report lists."""
    runs: tuple[ReportedRun, ...]
    """Runs of consecutive proven records of one version."""


class VersionSwitch(ReportedPartition, frozen=True, forbid_unknown_fields=True):
    """A switch."""

    old: str = field(name="from")
    """Version before."""
    new: str = field(name="to")
    """Version after."""
    after: Count
    """Last offset proven to be of the version before."""
    at: Count
    """First offset proven to be of the version after."""
    after_timestamp: Since2[str | None] = UNSET
    """Time of the record at `after`."""
    at_timestamp: Since2[str | None] = UNSET
    """Time of the record at `at`."""


class DeclaredRange(Struct, frozen=True, forbid_unknown_fields=True):
    """A range."""

    topic: str
    """Topic."""
    partition: Count | None
    """Partition; null for every one that is not named."""
    start: Bound = field(name="from")
    """First offset, or time; null for the beginning."""
    end: Bound = field(name="to")
    """Offset, or time, before which it ends; null for the end."""
    contract: str
    """The version that holds there."""
    options: Sometimes[dict[str, str]] = UNSET
    """The options of the producer that are declared there."""


class TableRepeats(Struct, frozen=True, forbid_unknown_fields=True):
    """Repeats of a table in a partition."""

    table: str
    """Table."""
    topic: str
    """Topic."""
    partition: Count
    """Partition."""
    rows: PositiveCount
    """How many rows."""
    offset: Count
    """Offset of the first that repeats another."""
    first_offset: Count
    """Offset of the row that it repeats."""


class RepeatedRows(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that the source sent more than once, by their position in it; only in a report of `decode`."""

    rows: Count = 0
    """How many rows repeat others."""
    dropped: Count = 0
    """How many of them are not in the typed tables."""
    compared_with: tuple[str, ...] = ()
    """Earlier runs whose rows they were compared with, besides each other."""
    tables: tuple[TableRepeats, ...] = ()
    """The same by table and partition."""


class Report(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The report of `audit`, and of `check` and `decode` with --json, on a range of records."""

    report_version: int = REPORT_VERSION
    """Version of this document."""
    tool: Since2[str] = UNSET
    """The program that wrote it, with its version."""
    source: ReportSource
    contract: str
    """The contract as it was declared."""
    fail_on: Since2[tuple[str, ...]] = UNSET
    """Severities and classes that fail the run."""
    verdict: Verdict
    """pass, drift, or inconclusive where the records do not allow a verdict."""
    detection: Since2[ReportedDetection | None] = UNSET
    coverage: Since2[RangeCoverage] = UNSET
    stopped: Since2[StopReason | None] = UNSET
    """Why the run ended before the end of the range; null if it did not."""
    baseline: Since2[KnownFindings | None] = UNSET
    ledger: Ledger
    findings: tuple[ReportedFinding, ...]
    """Findings, the most severe first."""
    findings_cut: bool
    """Whether there were more findings than the report keeps."""
    findings_other: Since2[OtherFindings] = UNSET
    versions_seen: dict[str, int]
    """Records that fit one version of the subject and no other."""
    versions_undecided: Count
    """Records that fit several versions."""
    unproven: Sometimes[tuple[UnprovenVersion, ...]] = UNSET
    """Declared versions that no message distinguishes from other versions."""
    chains: Sometimes[tuple[ReportedChains, ...]] = UNSET
    """Key chains of each partition: consecutive changes of a row that connect under one reading only."""
    chains_left_out: Sometimes[Count] = UNSET
    """Row changes of rows whose chains were not followed: there were too many rows."""
    timeline: Since2[tuple[PartitionTimeline, ...]] = UNSET
    """The sequence of versions in each partition, by the records that prove their version."""
    switches: tuple[VersionSwitch, ...]
    """Where a partition switches from one version to another."""
    versions: Sometimes[tuple[DeclaredRange, ...]] = UNSET
    """Which version was declared where (`--versions`); what no range covers belongs to no version."""
    repeats: Sometimes[RepeatedRows] = UNSET
    evidence: Sometimes[RunEvidence] = UNSET
    """What the verdict follows from."""
    contradicted: Sometimes[ContradictedRuns] = UNSET
    """Published batches of a stream (`decode --follow`) with records that later evidence is about."""
    options: Sometimes[tuple[ReportedOption, ...]] = UNSET
    """What the values of each topic say of the options of its producer that nobody states."""
    kinds: Sometimes[tuple[ReportedKind, ...]] = UNSET
    """The kinds of source database whose rows are in topics that have several."""
    parts: Sometimes[tuple[ReportedParts, ...]] = UNSET
    """Parts of seconds of Avro by column, where they are read as nanoseconds and no parameter says so."""
    null_values: Sometimes[ReportedNullValues] = UNSET
    """Records without a value, where these may be deletions and no parameter says whether they are."""
    schemas: Sometimes[ReportedSchemas] = UNSET
    profile: Sometimes[tuple[ReportedTopic, ...]] = UNSET
    """What the rows of each topic hold (`--profile`)."""
