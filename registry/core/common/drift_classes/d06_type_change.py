from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftClass, NumberToken
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with a text for a number, or a number for a text, columns first."""
    for path, value in message.columns_first():
        if isinstance(value, bool):
            yield from message.put(path, "true")
        elif isinstance(value, NumberToken):
            yield from message.put(path, str(value))
        elif isinstance(value, str):
            yield from message.put(path, message.in_another_record(value) or NumberToken("7"))


CLASS = DriftClass(
    id="D06", name="type-change", severity=ERROR,
    says="A value has another JSON type than the contract says: text instead of a number, an object instead of text.",
    action="Compare the product version and its serialization options with the contract.",
    good='{"es":1609344671000}', bad='{"es":"1609344671000"}',
    breaks=breaks,
)  # fmt: skip
