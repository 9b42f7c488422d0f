"""Model of the contract document: one version of a dialect as immutable values.

Keys and keywords are a closed vocabulary, listed in `docs/vocabulary.md`; an unknown one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.rule_modules import DRIFT_NOTES, DRIFT_RULES, rule_names
from cdc_contracts.registry.core.contract.column_model import Columns, Values
from cdc_contracts.registry.core.contract.discriminator_model import Evidence, Test
from cdc_contracts.registry.core.contract.document_model import ROW_OPS, Applies, Document, Op, Provenance
from cdc_contracts.registry.core.contract.envelope_model import NAME_PARAMETER, ChosenName, Ddl, Envelope
from cdc_contracts.registry.core.contract.image_model import Images, SplitUpdate
from cdc_contracts.registry.core.contract.releases import pattern_of_releases

if TYPE_CHECKING:
    Rule = str
    Note = str
else:  # each rule is a file that is called after it, and is not read for its name
    Rule = Literal[rule_names(DRIFT_RULES)]
    Note = Literal[rule_names(DRIFT_NOTES)]


def _matched_in_linear_time(pattern: str) -> str:
    try:
        compile_pattern(pattern)
    except ContractError as error:
        raise ValueError(error.what) from None
    return pattern


class AvroWire(Document):
    """Reader schemas in the order they are tried, and the frame that may precede the record."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"unread": "trailing_bytes"}

    schemas: tuple[str, ...]
    """The files of the reader schemas, in the order they are tried."""
    framing: tuple[Literal["bare", "confluent"], ...] = ("bare",)
    """What may precede the record: nothing, or Confluent's magic byte and schema id."""
    trailing_bytes: int = 0
    """How many bytes may follow the record."""
    fraction: Literal["micros", "nanos"] = "micros"
    """What a part of a second counts, unless the parameter `avro_timestamp_fraction` says otherwise."""


class Meaning(Document):
    """The resolved `contract.yaml` of one version."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"halves": "split_update"}

    contract: str
    """The version that the file defines, as SYSTEM/DIALECT@N."""
    title: str | None = None
    """The product and the dialect, for people."""
    applies: Applies
    """For which releases or dates of the product the version holds."""
    status: Literal["current", "legacy"]
    """Whether the product still writes this version."""
    transport: Literal["json", "avro"]
    """Whether messages are JSON texts or Avro records."""
    avro: AvroWire | None = None
    """How records are read; only where the transport is avro."""
    provenance: Provenance
    """Where the facts come from."""
    not_separable_from: tuple[str, ...] = ()
    """Subjects whose messages may look the same."""
    control_of: tuple[str, ...] = ()
    """Subjects whose messages without rows stand unchanged among those of this one, and are read by their contracts."""
    envelope: Envelope
    """Where the facts about a change are in a message."""
    ops: dict[str, Op]
    """The canonical op of each op code."""
    tolerated_ops: tuple[str, ...] = ()
    """Op codes that the document does not list, which are accepted with a note."""
    images: Images
    """Where the rows of each op are, and how they are written."""
    split_update: SplitUpdate | None = None
    """How the two messages of a split update are joined."""
    ddl: Ddl | None = None
    """Where the text and the code of a DDL statement are."""
    columns: Columns
    """Where the types of columns are."""
    values: Values
    """Which mapping of source types to value forms holds."""
    parameters: tuple[
        Literal["source_mode", "time_zone", "timestamp_zone", "avro_timestamp_fraction", "null_values", "row_columns"],
        ...,
    ] = ()
    """Facts that messages do not contain, so that the user has to supply them."""
    names: dict[Annotated[str, Field(pattern=NAME_PARAMETER)], ChosenName] = Field(default_factory=dict)
    """Members and op codes that users may call otherwise, by the parameter that says how."""
    rules: tuple[Rule, ...]
    """The rules across fields that messages are validated by."""
    notes: tuple[Note, ...] = ()
    """The rules across fields whose findings are only noted."""
    enums: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The values that a member may have, by JSON Pointer."""
    patterns: dict[str, Annotated[str, AfterValidator(_matched_in_linear_time)]] = Field(default_factory=dict)
    """The pattern that the text of a member has to match, by JSON Pointer."""
    discriminators: tuple[Test, ...]
    """Tests on one message that all hold for messages of this subject."""
    claim: Literal["on-declaration-or-key"] | None = None
    """What a message has to contain to be attributed to this version; its shape alone is not specific enough."""
    version_evidence: tuple[Evidence, ...] = ()
    """What distinguishes the versions of the subject over many messages."""
    undocumented: tuple[
        Literal["insert-images", "init-images", "update-before-and-after-images", "value-forms",
                "value-forms-except-integer-and-text"], ...
    ] = ()  # fmt: skip
    """What the source document does not specify."""
    losses: dict[str, str] = Field(default_factory=dict)
    """What values of a source type lose on their way into messages, by type, for people; no reader can restore it."""
    full_load: Literal["own-op", "as-insert", "as-upsert"]
    """How rows of the full load are written."""

    def leaves_open(self, kind: str) -> bool:
        """Return whether no document says how values of a canonical kind are written in this version."""
        return "value-forms" in self.undocumented or (
            "value-forms-except-integer-and-text" in self.undocumented and kind not in ("integer", "text")
        )

    @model_validator(mode="after")
    def _names_releases(self) -> Meaning:
        if self.envelope.release is not None:
            pattern_of_releases(self.applies.since, self.applies.until)
        return self

    @model_validator(mode="after")
    def _names_what_is_there(self) -> Meaning:
        if self.names and self.transport != "json":
            raise ValueError("`names` is for `transport: json`")
        for name, what in self.names.items():
            if what.op_code is not None and what.op_code not in self.ops:
                raise ValueError(f"`names.{name}`: there is no op code {what.op_code}")
        return self

    @model_validator(mode="after")
    def _every_row_op_has_images(self) -> Meaning:
        reachable = set(self.ops.values()) | {flag.means for flag in self.envelope.op.flags}
        missing = sorted(op for op in reachable & set(ROW_OPS) if self.images.of(op) is None)
        if missing:
            raise ValueError(f"op {missing[0]} is reachable but `images` does not define its row images")
        return self


class CanonicalMeaning(Document):
    """The `contract.yaml` of the canonical change: identity and source only."""

    contract: str
    """The version that the file defines, as SYSTEM/DIALECT@N."""
    title: str | None = None
    """What it is, for people."""
    status: Literal["current", "legacy"]
    """Whether changes are still written in this version."""
    provenance: Provenance
    """Where the facts come from."""
