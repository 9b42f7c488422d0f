"""Stream statistics: properties that no single message shows, kept small and mergeable in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cdc_contracts.registry.core.stats.column_writing import ColumnWriting
from cdc_contracts.registry.core.stats.option_evidence import OptionEvidence
from cdc_contracts.registry.core.stats.position_sequences import Sequences, Stretch, count_stretch
from cdc_contracts.registry.core.stats.schema_uses import SchemaUses
from cdc_contracts.registry.core.stats.second_parts import SecondParts
from cdc_contracts.registry.core.stats.source_kinds import SourceKinds
from cdc_contracts.registry.core.stats.substitute_evidence import SubstituteEvidence
from cdc_contracts.registry.core.stats.table_drift import TableShapes
from cdc_contracts.registry.core.validate.rule_coverage import RuleCoverage

STREAM_CLASSES: Final = ("other-version", "table-schema", "order", "control-share", "not-exercised")


class ControlKind(NamedTuple):
    """Messages of a partition without rows, by op; `path` is the pointer to the op."""

    topic: str
    partition: int
    path: str
    op: str


@dataclass
class StreamStatistics:
    """The order of positions, the shapes of rows, the writing of columns, control messages, and rule coverage.

    `options` is what columns say of the options of their producer, `substitutes` are values that are also sent in place
    of others, `controls` are the messages without rows, `kinds` those with rows by the kind of their source,
    `rule_coverage` are the exercised rules, `parts` the parts of seconds of Avro records that do not say what these
    count, `schemas` are the writer schemas that records name.

    `severities` has the severities in this run of the drift classes that only a stream shows.
    """

    sequences: Sequences = field(default_factory=Sequences)
    shapes: TableShapes = field(default_factory=TableShapes)
    writing: ColumnWriting = field(default_factory=ColumnWriting)
    options: OptionEvidence = field(default_factory=OptionEvidence)
    substitutes: SubstituteEvidence = field(default_factory=SubstituteEvidence)
    parts: SecondParts = field(default_factory=SecondParts)
    controls: dict[ControlKind, Stretch] = field(default_factory=dict)
    kinds: SourceKinds = field(default_factory=SourceKinds)
    rule_coverage: RuleCoverage = field(default_factory=RuleCoverage)
    schemas: SchemaUses = field(default_factory=SchemaUses)
    severities: dict[str, str] = field(default_factory=dict)

    def merge(self, other: StreamStatistics) -> None:
        """Merge the statistics of another part of the run; the order of merging does not matter."""
        self.sequences.merge(other.sequences)
        self.shapes.merge(other.shapes)
        self.writing.merge(other.writing)
        self.options.merge(other.options)
        self.substitutes.merge(other.substitutes)
        self.parts.merge(other.parts)
        for kind, stretch in other.controls.items():
            count_stretch(self.controls, kind, stretch)
        self.kinds.merge(other.kinds)
        self.rule_coverage.update(other.rule_coverage)
        self.schemas.merge(other.schemas)
        self.severities |= other.severities
