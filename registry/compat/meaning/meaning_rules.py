"""Meaning rules: each way in which two contracts may understand messages differently.

A breaking rule breaks where a message shows it. Where none that was tried does, the finding is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, NOTE, UNDECIDED

_NEW_VERSION: Final = "Leave the published version as it is and make a new one, with the release or date it holds from."

MEANING_RULES: Final = (
    CompatibilityRule(
        "C300", "another-dialect", BREAKING,
        "No message of the one contract is one of the other: they are two dialects, not two versions. All else that "
        "differs is told as notes.",
        "Make it a subject of its own.",
        "dts/canal@1 and dts/canal@2", "dts/canal@2 and oms/default@1",
    ),
    # values
    CompatibilityRule(
        "C301", "value-form", BREAKING,
        "A source type is written in another value form: what one version reads right the other refuses or misreads.",
        _NEW_VERSION + " Readers need the version that fits what the producer writes.",
        "TIMESTAMP: epoch-seconds.fraction in both", "TIMESTAMP: epoch-seconds-integer, then epoch-seconds.fraction",
    ),
    CompatibilityRule(
        "C302", "source-type-removed", BREAKING,
        "A source type has no value form any more: columns of it are refused.",
        "Keep the type under a value form as long as any source has it.",
        "integer-text: [INT, BIGINT] in both", "integer-text: [INT, BIGINT], then [INT]",
    ),
    CompatibilityRule(
        "C303", "source-type-added", BREAKING,
        "A source type has a value form that it had not: readers of the old version refuse columns of it.",
        "Let readers take the new version before any table has such a column.",
        "integer-text: [INT] in both", "integer-text: [INT], then [INT, BIGINT]",
    ),
    CompatibilityRule(
        "C304", "type-names", BREAKING,
        "Names of source types are looked up otherwise: a type as messages tell it is known to one version only.",
        _NEW_VERSION,
        "names: [upper, drop-parameters] in both", "names: [upper, drop-parameters], then [upper]",
    ),
    CompatibilityRule(
        "C305", "invalid-value", BREAKING,
        "A time that does not exist is kept in one version and refused or taken for a value in the other.",
        _NEW_VERSION,
        "sql-date: keep-text in both", "sql-date: keep-text, then nothing",
    ),
    CompatibilityRule(
        "C306", "untyped-form", BREAKING,
        "A value of a column without a type is read in another form.",
        _NEW_VERSION,
        "untyped: {number: json-number} in both", "untyped: {text: text}, then {text: base64}",
    ),
    CompatibilityRule(
        "C307", "mapping-choice", BREAKING,
        "Which value mapping holds is decided otherwise: the same column is read in another form.",
        _NEW_VERSION,
        "mapping: oms-mysql in both", "mapping: oms-mysql, then one by the mode of the source",
    ),
    CompatibilityRule(
        "C308", "undocumented-form", BREAKING,
        "How values are written is documented in one version only: the other keeps text that this one refuses.",
        "Say `undocumented` as long as the document is silent; a reader must expect any text there.",
        "undocumented: [value-forms] in both", "undocumented: [value-forms], then nothing",
    ),
    # ops
    CompatibilityRule(
        "C310", "op-code-meaning", BREAKING,
        "An op code means another op: a reader of the other version does the wrong thing with the row.",
        _NEW_VERSION,
        "ROW: snapshot in both", "ROW: snapshot, then ROW: insert",
    ),
    CompatibilityRule(
        "C311", "op-code-removed", BREAKING,
        "An op code is not known any more: the new version refuses its messages.",
        "Keep the code as long as a topic may hold messages of it.",
        "{INSERT: insert, INIT: snapshot} in both", "{INSERT: insert, INIT: snapshot}, then {INSERT: insert}",
    ),
    CompatibilityRule(
        "C312", "op-code-added", BREAKING,
        "An op code is new: readers of the old version refuse its messages.",
        "Let readers take the new version before the producer sends the code.",
        "{INSERT: insert} in both", "{INSERT: insert}, then {INSERT: insert, INIT: snapshot}",
    ),
    CompatibilityRule(
        "C313", "op-place", BREAKING,
        "The op code is another member: nothing can be read without it.",
        _NEW_VERSION,
        "op: {at: /type} in both", "op: {at: /type}, then {at: /opType}",
    ),
    CompatibilityRule(
        "C314", "op-flag", BREAKING,
        "A member that overrules the op code is read otherwise: the same message is another op.",
        _NEW_VERSION,
        "flags: [{at: /isDdl, is: true, means: ddl}] in both", "the flag, then none",
    ),
    CompatibilityRule(
        "C315", "op-tolerated", NOTE,
        "A code is accepted with a note in one version only; it is read alike in both.",
        "Nothing: no reader is concerned.",
        "tolerated_ops: [UPDATE_BEFORE] in both", "tolerated_ops: [UPDATE_BEFORE], then none",
    ),
    # images
    CompatibilityRule(
        "C320", "image-place", BREAKING,
        "The row of an op stands elsewhere, or is completed otherwise. Whoever reads by the other version takes the "
        "row before for the row after, or finds none, and no error says so.",
        _NEW_VERSION + " Decode every range by the version that wrote it.",
        "delete: {before: {at: /old}} in both", "delete: {before: {at: /old}}, then {before: {at: /data}}",
    ),
    CompatibilityRule(
        "C321", "image-container", BREAKING,
        "Images are written otherwise: as one object, a list of one row, a list of rows, or by position.",
        _NEW_VERSION,
        "container: list-of-rows in both", "container: list-of-one, then list-of-rows",
    ),
    CompatibilityRule(
        "C322", "halves", BREAKING,
        "What joins the two halves of an update differs: halves go together that do not belong together, or none do.",
        _NEW_VERSION,
        "pair_by: [position, table] in both", "pair_by: [position, table], then [transaction]",
    ),
    # the envelope
    CompatibilityRule(
        "C330", "fact-place", BREAKING,
        "A fact of the envelope is another member, or is told by one version only.",
        _NEW_VERSION,
        "event_time: {at: /es} in both", "event_time: {at: /es}, then {at: /ts}",
    ),
    CompatibilityRule(
        "C331", "fact-reading", BREAKING,
        "The same member is read otherwise: another unit, another split of names, another value that means none.",
        _NEW_VERSION,
        "form: epoch-millis in both", "form: epoch-millis, then epoch-seconds",
    ),
    CompatibilityRule(
        "C332", "position-order", UNDECIDED,
        "Whether positions can be compared differs. No message shows it: readers that order by them are concerned.",
        "Look whether a reader orders or deduplicates by the position.",
        "order: integer in both", "order: integer, then opaque",
    ),
    CompatibilityRule(
        "C333", "position-rise", NOTE,
        "How positions rise within a partition differs. It is checked over a stream and never refuses a message.",
        "Look at the `order` findings of the next audit.",
        "rises: always in both", "rises: always, then or-stays",
    ),
    CompatibilityRule(
        "C334", "ddl-place", BREAKING,
        "The text or the code of a DDL statement is another member.",
        _NEW_VERSION,
        "ddl: {text: {at: /sql}} in both", "ddl: {text: {at: /sql}}, then {text: {at: /ddl}}",
    ),
    # columns
    CompatibilityRule(
        "C340", "column-types-place", BREAKING,
        "The source types of columns stand elsewhere, or are told otherwise: values are read without them.",
        _NEW_VERSION,
        "types: {at: /mysqlType} in both", "types: {at: /mysqlType}, then none",
    ),
    CompatibilityRule(
        "C341", "column-codes", BREAKING,
        "The numeric type codes are elsewhere, or are checked by another table: one version refuses them.",
        "Check codes by the table that both versions share, or by `any`.",
        "codes: {table: any} in both", "codes: {table: any}, then java.sql.Types",
    ),
    CompatibilityRule(
        "C342", "column-hints", NOTE,
        "The schema block of messages is described otherwise. It is never used to read a row.",
        "Nothing: no reader is concerned.",
        "hints: {at: /schema} in both", "hints: {at: /schema}, then none",
    ),
    # the wire
    CompatibilityRule(
        "C350", "transport", BREAKING,
        "Messages are bytes of another kind: JSON in one version, Avro in the other.",
        _NEW_VERSION,
        "transport: json in both", "transport: json, then avro",
    ),
    CompatibilityRule(
        "C351", "avro-wire", BREAKING,
        "The Avro schemas that records are read by, or the frames that may stand before them, differ.",
        "Keep every schema and frame that a topic may still hold.",
        "framing: [bare, confluent] in both", "framing: [bare, confluent], then [bare]",
    ),
    # rules
    CompatibilityRule(
        "C360", "rule-added", BREAKING,
        "A rule across fields holds that did not: messages that break it were read before and are refused now. "
        "A rule that only warns is a note.",
        "Check the rule against an audit of the topic before readers take the new version.",
        "rules: [columns-typed] in both", "rules: [], then [columns-typed]",
    ),
    CompatibilityRule(
        "C361", "rule-removed", BREAKING,
        "A rule across fields holds no more: the new version reads messages that readers of the old one refuse. "
        "A rule that only warns is a note.",
        "Keep the rule where messages have not changed.",
        "rules: [columns-typed] in both", "rules: [columns-typed], then []",
    ),
    CompatibilityRule(
        "C362", "note-changed", NOTE,
        "What is only noted about messages differs.",
        "Nothing: no reader is concerned.",
        "notes: [event-time-whole-seconds] in both", "notes: [event-time-whole-seconds], then none",
    ),
    CompatibilityRule(
        "C363", "member-codes", BREAKING,
        "A member may hold other codes: one version refuses what the other takes.",
        "Let readers take the new version first where codes are added; keep codes that topics may hold.",
        'enums: {/version: ["1"]} in both', 'enums: {/version: ["1"]}, then ["1", "2"]',
    ),
    CompatibilityRule(
        "C364", "member-pattern", BREAKING,
        "A member is written by another pattern: one version refuses what the other takes.",
        _NEW_VERSION,
        "patterns: {/pos: ^[0-9]+$} in both", "patterns: {/pos: ^[0-9]+$}, then ^[0-9]+@[0-9]+$",
    ),
    CompatibilityRule(
        "C365", "parameter", NOTE,
        "What a user must or may say besides the messages differs. By itself it reads no message otherwise.",
        "Look whether runs give the parameter.",
        "parameters: [time_zone] in both", "parameters: [time_zone], then none",
    ),
    # what no reader reads
    CompatibilityRule(
        "C370", "recognition", NOTE,
        "What the contract is known by differs: tests on a message, evidence over many, look-alikes. No row is read "
        "otherwise.",
        "Run `detect` on messages of the topic.",
        "the same discriminators in both", "[{present: /id}], then [{present: /id}, {absent: /gtid}]",
    ),
    CompatibilityRule(
        "C371", "full-load", NOTE,
        "Whether rows of a full load can be told from changes is said otherwise. The op map decides what is read.",
        "Look whether a reader treats the full load apart.",
        "full_load: own-op in both", "full_load: as-insert, then own-op",
    ),
    CompatibilityRule(
        "C372", "undocumented", NOTE,
        "What the document is silent about differs. It is read alike, and marked in reports.",
        "Nothing: no reader is concerned.",
        "undocumented: [insert-images] in both", "undocumented: [insert-images], then none",
    ),
)  # fmt: skip

RULE_OF: Final[Mapping[str, CompatibilityRule]] = MappingProxyType({rule.name: rule for rule in MEANING_RULES})
"""Every rule of meaning by its name."""
