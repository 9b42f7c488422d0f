"""Cross-field: members of a message that do not agree with each other; each rule is a separate file."""

from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message as it breaks one rule of its contract after the other."""
    yield from message.breaking_rules()


CLASS = DriftClass(
    id="D09", name="cross-field", severity=ERROR,
    says="Two members of a message contradict each other.",
    action="Read the rule named after the dot; the paths show which members disagree.",
    good='an UPDATE with "old" and "data"', bad='an UPDATE without "old"',
    breaks=breaks,
)  # fmt: skip
