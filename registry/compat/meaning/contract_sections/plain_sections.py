"""Plain sections: keys of a contract that are compared as they stand: each its rule, and any message may show it."""

from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import BREAKING, NOTE, CompatibilityRule
from cdc_contracts.registry.compat.meaning.contract_section import (
    NEW_VERSION,
    ContractSection,
    always,
    describe_names,
    describe_whole,
)

TRANSPORT: Final = CompatibilityRule(
    id="C350", name="transport", severity=BREAKING,
    says="Messages are bytes of another kind: JSON in one version, Avro in the other.",
    action=NEW_VERSION,
    good="transport: json in both", bad="transport: json, then avro",
)  # fmt: skip
AVRO_WIRE: Final = CompatibilityRule(
    id="C351", name="avro-wire", severity=BREAKING,
    says="The Avro schemas that records are read by, or the frames that may stand before them, differ.",
    action="Keep every schema and frame that a topic may still hold.",
    good="framing: [bare, confluent] in both", bad="framing: [bare, confluent], then [bare]",
)  # fmt: skip
OP_TOLERATED: Final = CompatibilityRule(
    id="C315", name="op-tolerated", severity=NOTE,
    says="A code is accepted with a note in one version only; it is read alike in both.",
    action="Nothing: no reader is concerned.",
    good="tolerated_ops: [UPDATE_BEFORE] in both", bad="tolerated_ops: [UPDATE_BEFORE], then none",
)  # fmt: skip
NOTE_CHANGED: Final = CompatibilityRule(
    id="C362", name="note-changed", severity=NOTE,
    says="What is only noted about messages differs.",
    action="Nothing: no reader is concerned.",
    good="notes: [event-time-whole-seconds] in both", bad="notes: [event-time-whole-seconds], then none",
)  # fmt: skip
PARAMETER: Final = CompatibilityRule(
    id="C365", name="parameter", severity=NOTE,
    says="What a user must or may say besides the messages differs. By itself it reads no message otherwise.",
    action="Look whether runs give the parameter.",
    good="parameters: [time_zone] in both", bad="parameters: [time_zone], then none",
)  # fmt: skip
FULL_LOAD: Final = CompatibilityRule(
    id="C371", name="full-load", severity=NOTE,
    says="Whether rows of a full load can be told from changes is said otherwise. The op map decides what is read.",
    action="Look whether a reader treats the full load apart.",
    good="full_load: own-op in both", bad="full_load: as-insert, then own-op",
)  # fmt: skip

TRANSPORT_SECTION = ContractSection(name="transport", listed_at=1, tell=describe_whole, rule_of=always(TRANSPORT))
AVRO_SECTION = ContractSection(name="avro", listed_at=2, tell=describe_whole, rule_of=always(AVRO_WIRE))
TOLERATED_OPS_SECTION = ContractSection(
    name="tolerated_ops", listed_at=4, tell=describe_names, rule_of=always(OP_TOLERATED)
)
NOTES_SECTION = ContractSection(name="notes", listed_at=11, tell=describe_names, rule_of=always(NOTE_CHANGED))
PARAMETERS_SECTION = ContractSection(name="parameters", listed_at=14, tell=describe_names, rule_of=always(PARAMETER))
FULL_LOAD_SECTION = ContractSection(name="full_load", listed_at=20, tell=describe_whole, rule_of=always(FULL_LOAD))
