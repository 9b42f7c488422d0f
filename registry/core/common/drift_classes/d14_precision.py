from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftCause, DriftClass, NumberToken
from cdc_contracts.registry.core.common.findings import ERROR

_LONG_NUMBER: Final = "1" * 5000


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with a number that is too long in one of its columns."""
    for path, value in message.columns_first():
        if message.is_in_image(path):
            if isinstance(value, NumberToken):
                yield from message.put(path, NumberToken(_LONG_NUMBER))
            elif isinstance(value, str):
                head = value.partition(" ")[0] + " " if message.is_record else ""
                yield from message.put(path, head + _LONG_NUMBER)


CLASS = DriftClass(
    id="D14", name="precision", severity=ERROR,
    says="A value cannot be kept exactly: a number with more than 4,096 characters when written out, or a value that "
    "the type of its column, in its table contract or else in the message, does not hold (D14.range, D14.scale, "
    "D14.second-digits).",
    action="Compare the table contract with the table: the column may have been widened. No database column holds a "
    "number of 4,096 characters: look for its producer.",
    good="12.10 in a decimal(10,2)", bad="12.105 in a decimal(10,2); 1E999999999",
    breaks=breaks,
    causes=(
        DriftCause("digits", "Written out, it has more than 4,096 characters."),
        DriftCause("range", "The number is out of range for the type of its column."),
        DriftCause("scale", "The number has more digits after the point than the type of its column."),
        DriftCause(
            "not-whole",
            "The value is read but for what its type does not hold: the sign of a zero, a number too small to be told "
            "from 0, the clock of a date.",
        ),
        DriftCause(
            "second-digits",
            "The time has more digits of a second than the type of its column, and than tables keep.",
        ),
    ),
)  # fmt: skip
