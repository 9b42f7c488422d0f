from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.common.drift_class import DriftCause, DriftClass, EventStream
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import WARNING

_BACK: Final = 5


def refuse(stream: EventStream) -> None:
    """Raise UsageError if positions need not rise."""
    if not stream.rises:
        raise UsageError(
            f"the contract does not define the order of positions in {stream.version}", where="--drift order"
        )


def drifts(stream: EventStream, event: Any, wanted: bool) -> Any:  # noqa: FBT001
    """Give the event the position of an earlier one; exactly that of the event before where that is the drift."""
    latest = stream.latest
    if not wanted or latest is None or latest.position is None or stream.op_of(event) == "snapshot":
        return None
    if stream.op_of(latest) == "snapshot" or event.op.startswith("update-"):
        return None
    return replace(event, position=str(int(latest.position) - (0 if stream.repeats else _BACK)))


CLASS = DriftClass(
    id="D12", name="order", severity=WARNING,
    says="Positions decrease or repeat within a partition, although the documents say that they do not.",
    action="Check the producer's retries and restarts, and whether two producers write to the partition.",
    good="rising positions", bad="a repeated position",
    drifts=drifts, refuse=refuse,
    causes=(
        DriftCause(
            "goes-back",
            "A record follows one with a higher position: records were sent again, or by two producers.",
        ),
        DriftCause(
            "repeats",
            "A record has the same position as the previous one: it was sent twice, or two changes share a position.",
        ),
    ),
)  # fmt: skip
