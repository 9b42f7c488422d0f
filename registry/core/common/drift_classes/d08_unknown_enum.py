from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftCause, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR

_UNHEARD: Final = "UNHEARD_OF"


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with an unknown op code."""
    yield from message.put(message.op_at, _UNHEARD)


CLASS = DriftClass(
    id="D08", name="unknown-enum", severity=ERROR,
    says="A code is not in the contract's list of allowed codes: an op, a type name or a type code.",
    action="Look the code up in the product's newer document; add it to a new version of the contract.",
    good='{"type":"INSERT"}', bad='{"type":"UPSERT"}',
    breaks=breaks,
    causes=(
        DriftCause("op", "The effect of such a message on a row is unknown, so it is not decoded."),
        DriftCause(
            "source-type", "The value form of that type is unknown, so its values are not decoded.", per_column=True
        ),
        DriftCause(
            "source-kind",
            "The document describes no such messages from a source of that kind; the row is read all the same.",
        ),
    ),
)  # fmt: skip
