"""Vocabulary of contracts as a page: every word a contract may use, its meaning, and how many contracts use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

from cdc_contracts.registry.authoring.explain.rulebook import cross_field_rules
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.document_model import CONTROL_OPS, ROW_OPS
from cdc_contracts.registry.core.contract.image_model import Images
from cdc_contracts.registry.core.contract.phrases import (
    CONTAINERS,
    FULL_LOAD,
    PARAMETERS,
    READINGS,
    UNDOCUMENTED,
    describe_evidence,
    describe_side,
    describe_test,
)
from cdc_contracts.registry.core.values import FORMS

Entry = tuple[str, str, int]
"""A word, its meaning, and the number of contracts that use it."""

TERMS: Final = (
    (
        "system, dialect, subject",
        "A producer (`dts`), one of its message formats (`canal`), and both together (`dts/canal`).",
    ),
    (
        "version",
        "An edition of a subject's format, such as `dts/canal@2`, with the releases or dates that it applies to.",
    ),
    ("contract", "The documents of one version: meaning, JSON Schema, Avro schema, value forms and samples."),
    ("envelope", "The members of a message around the row: op, names, times, position."),
    ("op", "What a message says happened: an insert, an update, a statement, a heartbeat."),
    ("image", "A row before or after a change. A partial image has only some of its columns."),
    ("value form", "How the values of one source type are written, such as `epoch-seconds.fraction`."),
    ("canonical text", "The text of a value after decoding, the same whatever the dialect."),
    ("control message", "A message without a row: DDL, a heartbeat, a transaction mark."),
    ("tombstone", "A Kafka record whose value is null."),
    ("drift", "A difference between messages and their contract."),
    ("finding", "One kind of drift or fault with rule, severity, path, what was expected and what was observed."),
    ("stray", "One of a few messages that fit none of the contracts that the others follow."),
    ("quarantine", "The records that do not conform, kept in full with their findings."),
    ("ledger", "The counts that add up: read = conforming + control + tombstone + quarantined + excluded."),
    ("run", "One audit, decode or replay of a range. A decode is published as a whole or not at all."),
    ("table contract", "A user's description of one source table: columns, types, key, time zone."),
    ("reference validator", "Validates one message at a time and decides what is right."),
    ("fast validator", "Validates batches with the same verdicts; the package `registry/core/engine`."),
    ("execution engine", "Where a run takes place, `--engine spark` or `local`. Both run the fast validator."),
    ("room", "A package directly below `registry/`; it imports only the rooms below it."),
)
"""The terms of the documentation."""

_SIDES: Final = (
    {"at": "/data"},
    {"at": "/old", "completed_from": "/data"},
    {"at": "/data", "or": "/old"},
    {"at": "/before", "optional": True},
    {"at": "", "not_columns": ["__deleted"]},
)
_TESTS: Final = (
    {"present": "/id"},
    {"absent": "/id"},
    {"unset": "/rowid"},
    {"alone": "/ts_ms"},
    {"equals": "/version", "value": "2.0"},
    {"in": "/type", "values": ["INSERT", "UPDATE"]},
    {"not-in": "/type", "values": ["ROW"]},
    {"prefix-of": "/rowid", "at": "/table", "then": "-"},
    {"not-prefix-of": "/rowid", "at": "/table", "then": "-"},
    {"avro-decodes": "envelope.avsc"},
    {"any": [{"present": "/id"}, {"equals": "/op", "value": "HEARTBEAT"}]},
)
_EVIDENCE: Final = (
    {"value-form": "TIMESTAMP", "is": "epoch-seconds.fraction"},
    {"image-of": "delete", "at": "/old"},
    {"key-chain": True},
    {"process-time-before": "2022-03-20T00:00:00+08:00"},
    {"key-seen": "/transId", "proves": "subject"},
    {"ddl-seen": True, "proves": "subject"},
    {"op-seen": ["INIT"], "proves": "version"},
    {"trailing-bytes": 0},
    {"column-form": True},
    {"code-seen": 94, "proves": "subject"},
)


def vocabulary(catalogue: Catalogue) -> Iterator[tuple[str, Sequence[Entry]]]:
    """Yield the parts of the vocabulary with their entries."""
    versions = list(catalogue.all_versions())
    texts = [_words(version.resolved) for version in versions]

    def used(key: str, value: str | None = None) -> int:
        return sum((key, value) in words if value is not None else key in {one for one, _ in words} for words in texts)

    for key, result in READINGS.items():
        yield f"How a place is read: `{key}`", [(name, says, used(key, name)) for name, says in result.items()]
    yield (
        "Ops of rows and of messages without one",
        [
            (name, "rows" if name in ROW_OPS else "no row", _with_op(versions, name))
            for name in (*ROW_OPS, *CONTROL_OPS)
        ],
    )
    containers = get_args(Images.model_fields["container"].annotation)
    yield (
        "How images are held: `container`",
        [(name, CONTAINERS[name], used("container", name)) for name in containers],
    )
    yield "Where to find the row of an op", [(_last(side), describe_side(side), used(_last(side))) for side in _SIDES]
    yield "Value forms", [(form.name, f"{form.says} Kind: {form.kind}.", _with_form(versions, form.name))
                          for form in FORMS.values()]  # fmt: skip
    yield (
        "Rules across fields",
        [
            (rule.name, f"{rule.says} ({rule.severity})", used("rules", rule.name) + used("notes", rule.name))
            for rule in cross_field_rules()
        ],
    )
    yield (
        "Tests on one message: `discriminators`",
        [(_first(one), describe_test(one), used(_first(one))) for one in _TESTS],
    )
    yield (
        "Evidence over many messages: `version_evidence`",
        [(_first(one), describe_evidence(one), used(_first(one))) for one in _EVIDENCE],
    )
    yield (
        "What the user states: `parameters`",
        [(name, says, used("parameters", name)) for name, says in PARAMETERS.items()],
    )
    yield (
        "What no document states: `undocumented`",
        [(name, says, used("undocumented", name)) for name, says in UNDOCUMENTED.items()],
    )
    yield (
        "How a full load looks: `full_load`",
        [(name, says, used("full_load", name)) for name, says in FULL_LOAD.items()],
    )


def _words(value: Any, key: str = "") -> set[tuple[str, str]]:
    """Return every key of a document with every scalar value under it, at any depth."""
    if isinstance(value, dict):
        return {pair for name, below in value.items() for pair in {(str(name), ""), *_words(below, str(name))}}
    if isinstance(value, list | tuple):
        return {pair for below in value for pair in _words(below, key)}
    return {(key, str(value))}


def _with_op(versions: Sequence[Version], op: str) -> int:
    return sum(
        op in {*version.meaning.ops.values(), *(flag.means for flag in version.meaning.envelope.op.flags)}
        for version in versions
    )


def _with_form(versions: Sequence[Version], form: str) -> int:
    return sum(
        any(form in _forms_of(version.catalogue.mapping(name).document) for name in version.mapping_names())
        for version in versions
    )


def _forms_of(mapping: Any) -> set[str]:
    of_options = {form for values in mapping.options.values() for forms in values.values() for form in forms}
    as_sent = {"as-sent"} if of_options else set()
    return {*mapping.forms, *mapping.untyped.values(), *of_options, *as_sent, mapping.arrays, mapping.default}


def _first(entry: dict[str, Any]) -> str:
    return next(iter(entry))


def _last(side: dict[str, Any]) -> str:
    return list(side)[-1]
