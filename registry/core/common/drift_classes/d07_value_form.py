from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftCause, DriftClass, NumberToken
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with a value of the same kind in another form, columns first."""
    for path, value in message.columns_first():
        if isinstance(value, NumberToken):
            yield from message.put(path, NumberToken(f"{value}.5" if "." not in value else "-1"))
        elif isinstance(value, str):
            yield from message.put(path, value + "?")


CLASS = DriftClass(
    id="D07", name="value-form", severity=ERROR,
    says="A value has the right JSON type but not the documented form of its source type.",
    action="Compare the product version with the contract; the observed shape shows what was sent.",
    good='"1606233662.012345" for a TIMESTAMP', bad='"2020-11-24T16:01:02Z" for a TIMESTAMP',
    breaks=breaks,
    causes=(
        DriftCause(
            "time-unit",
            "Read in the contract's unit, the time is implausible (such as 1970) or out of range.",
        ),
        DriftCause(
            "no-such-time",
            "The table contract declares a date or time, but this one does not exist. It is kept as sent.",
        ),
        DriftCause(
            "no-single-instant",
            "Clocks of the given zone skip this local time or show it twice. It is kept as sent.",
        ),
        DriftCause(
            "no-scale",
            "No type says where the point of this number stands, so it is kept as sent. A table contract can say it.",
        ),
        DriftCause(
            "substitute",
            "The producer also sends this value in place of another, such as NULL or a date that does not exist.",
        ),
        DriftCause(
            "trailing-zeros",
            "The document omits trailing zeros of a fraction. They do not change the time.",
        ),
    ),
)  # fmt: skip
