from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the same event as other subjects write it."""
    yield from message.by_other_subjects()


CLASS = DriftClass(
    id="D02", name="other-dialect", severity=ERROR,
    says="The message is in another dialect: it matches the discriminators of another subject, not those of this one.",
    action="Name the right contract with `--contract`, or split the topic.",
    good='{"payload":{"op":"INSERT"}} validated as oms-community/dataworks',
    bad='{"payload":{"op":"INSERT"}} validated as dts/canal',
    breaks=breaks,
)  # fmt: skip
