from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftCause, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message cut off."""
    yield message.value[: len(message.value) * 2 // 3]


CLASS = DriftClass(
    id="D01", name="malformed", severity=ERROR,
    says="The value is not one JSON text (or one record of the Avro schema): broken encoding, trailing data, NaN, a "
    "lone surrogate, nesting deeper than 128, no object at the top.",
    action="Find the producer or converter that writes these bytes; `decode` keeps them whole in its quarantine.",
    good='{"type":"INSERT"}', bad='{"type":"INSERT"} trailing',
    breaks=breaks,
    causes=(
        DriftCause("utf8", "The bytes are not UTF-8: another character set, or not text at all."),
        DriftCause("json", "The text continues after the JSON value, ends before it is complete, or is not JSON."),
        DriftCause("bom", "The text starts with a byte order mark, which JSON does not allow."),
        DriftCause("empty", "The value is present but empty."),
        DriftCause("too-long", "The value is longer than the limit for a message."),
        DriftCause("depth", "Arrays and objects are nested deeper than the limit."),
        DriftCause("base64", "The value was expected to be a message in base64, and is not."),
        DriftCause(
            "connect-json", "The value was expected to be a Connect envelope with a message as its payload, and is not."
        ),
        DriftCause("surrogate", "A text contains a lone surrogate: it was cut inside a character."),
        DriftCause("not-object", "The value is JSON, but not an object."),
        DriftCause(
            "null-text",
            "The value is the JSON text null, which is no tombstone: converters write it for a record without a value "
            "that has a schema, as of a deleted row. Only its key says which row, and compaction keeps it. "
            "For contracts of flattened rows, `--parameter null_values=deletion` reads it as that deletion.",
        ),
        DriftCause("duplicate-member", "A member occurs twice, and readers differ on which one counts."),
        DriftCause("avro", "The bytes are not a record of the schema, or bytes are left over after it."),
        DriftCause("not-validated", "This program failed on the message: please report the bug."),
    ),
)  # fmt: skip
