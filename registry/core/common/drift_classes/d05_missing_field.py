from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import ABSENT


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message without one of its members, the last first; columns stay."""
    for path, _ in reversed(message.places()):
        if path and not message.is_in_image(path):
            yield from message.put(path, ABSENT)


CLASS = DriftClass(
    id="D05", name="missing-field", severity=ERROR,
    says="A member that the contract requires is absent. A null is not the same as an absent member.",
    action="Look for a filter or transformation between product and topic, or an older product.",
    good='{"table":"orders","type":"INSERT"}', bad='{"type":"INSERT"}',
    breaks=breaks,
)  # fmt: skip
