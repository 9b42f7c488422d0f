"""Plain sections: keys of a contract that are compared as they stand: each its rule, and any message may show it."""

from typing import Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    NEW_VERSION,
    ContractSection,
    always,
    describe_members,
    describe_names,
    describe_whole,
)

TRANSPORT: Final = CompatibilityRule(
    id="C350", name="transport", severity=BREAKING,
    says="Messages have another encoding: JSON in one version, Avro in the other.",
    action=NEW_VERSION,
    good="transport: json in both", bad="transport: json, then avro",
)  # fmt: skip
AVRO_WIRE: Final = CompatibilityRule(
    id="C351", name="avro-wire", severity=BREAKING,
    says="The Avro schemas for reading records, or the framing bytes allowed before them, differ.",
    action="Keep every schema and framing that a topic may still hold.",
    good="framing: [bare, confluent] in both", bad="framing: [bare, confluent], then [bare]",
)  # fmt: skip
OP_TOLERATED: Final = CompatibilityRule(
    id="C315", name="op-tolerated", severity=NOTE,
    says="A code is accepted with a note in only one version; both read it in the same way.",
    action="Nothing: no reader is affected.",
    good="tolerated_ops: [UPDATE_BEFORE] in both", bad="tolerated_ops: [UPDATE_BEFORE], then none",
)  # fmt: skip
NOTE_CHANGED: Final = CompatibilityRule(
    id="C362", name="note-changed", severity=NOTE,
    says="The notes that are reported about messages differ.",
    action="Nothing: no reader is affected.",
    good="notes: [event-time-whole-seconds] in both", bad="notes: [event-time-whole-seconds], then none",
)  # fmt: skip
PARAMETER: Final = CompatibilityRule(
    id="C365", name="parameter", severity=NOTE,
    says="The parameters that a user must or may give differ. This alone does not change how a message is read.",
    action="Check whether your runs set the parameter.",
    good="parameters: [time_zone] in both", bad="parameters: [time_zone], then none",
)  # fmt: skip
FULL_LOAD: Final = CompatibilityRule(
    id="C371", name="full-load", severity=NOTE,
    says="The statement whether full-load rows can be told from changes differs. The op map decides how messages "
    "are read.",
    action="Check whether a reader treats the full load separately.",
    good="full_load: own-op in both", bad="full_load: as-insert, then own-op",
)  # fmt: skip

TRANSPORT_SECTION = ContractSection(name="transport", listed_at=1, list_facts=describe_whole, rule_of=always(TRANSPORT))
AVRO_SECTION = ContractSection(name="avro", listed_at=2, list_facts=describe_whole, rule_of=always(AVRO_WIRE))
TOLERATED_OPS_SECTION = ContractSection(
    name="tolerated_ops", listed_at=4, list_facts=describe_names, rule_of=always(OP_TOLERATED)
)
NOTES_SECTION = ContractSection(name="notes", listed_at=11, list_facts=describe_names, rule_of=always(NOTE_CHANGED))
PARAMETERS_SECTION = ContractSection(
    name="parameters", listed_at=14, list_facts=describe_names, rule_of=always(PARAMETER)
)
NAMES_SECTION = ContractSection(name="names", listed_at=21, list_facts=describe_members, rule_of=always(PARAMETER))
FULL_LOAD_SECTION = ContractSection(
    name="full_load", listed_at=20, list_facts=describe_whole, rule_of=always(FULL_LOAD)
)
