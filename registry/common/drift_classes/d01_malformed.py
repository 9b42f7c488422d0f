"""Malformed: the value of a message cannot be read at all."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.common.drift_class import ConformingMessage, DriftCause, DriftClass
from cdc_contracts.registry.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message cut off."""
    yield message.value[: len(message.value) * 2 // 3]


CLASS = DriftClass(
    id="D01",
    name="malformed",
    severity=ERROR,
    says="The value is not one JSON text (or one record of the Avro schema): broken encoding, trailing data, NaN, a "
    "lone surrogate, nesting deeper than 128, no object at the top.",
    action="Find the producer or converter that writes these bytes; `decode` keeps them whole in its quarantine.",
    good='{"type":"INSERT"}',
    bad='{"type":"INSERT"} trailing',
    breaks=breaks,
    causes=(
        DriftCause("utf8", "The bytes are not UTF-8: another character set, or something that is no text at all."),
        DriftCause("json", "The text does not end where its object does, ends before it, or is not JSON."),
        DriftCause("bom", "A byte order mark stands before the text, which JSON does not allow."),
        DriftCause("empty", "The value is there and holds nothing."),
        DriftCause("too-long", "The value is longer than a message may be."),
        DriftCause("depth", "Arrays and objects are nested deeper than any reader should follow."),
        DriftCause("base64", "The value was to be base64 with a message in it, and is not."),
        DriftCause("connect-json", "The value was to be a Connect envelope with a message as its payload, and is not."),
        DriftCause("surrogate", "Half of a surrogate pair stands alone: a text was cut inside a character."),
        DriftCause("not-object", "The value is JSON, but not an object."),
        DriftCause(
            "duplicate-member", "One member stands twice, and which of them counts is for each reader to guess."
        ),
        DriftCause("avro", "The bytes are no record of the schema, or bytes are left after it."),
        DriftCause("not-judged", "This program failed on the message: please report it."),
    ),
)
