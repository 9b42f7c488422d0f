from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftClass
from cdc_contracts.registry.core.common.findings import WARNING

_ADDED: Final = "added_by_an_upgrade"


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with one more member, in its objects first."""
    for at in (*message.objects(), ()):
        yield from message.put((*at, _ADDED), "x")


CLASS = DriftClass(
    id="D04", name="unknown-field", severity=WARNING,
    says="The message has a member that is not in the contract. Every row is still decoded.",
    action="Check whether the product was upgraded; add the member to a new version of the contract.",
    good='{"type":"INSERT","ts":1618323429026}', bad='{"type":"INSERT","ts":1618323429026,"shard":7}',
    breaks=breaks,
)  # fmt: skip
