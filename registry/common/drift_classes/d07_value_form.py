"""Value form: a value that is not written in the documented form of its source type."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.common.drift_class import ConformingMessage, DriftCause, DriftClass, NumberToken
from cdc_contracts.registry.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the message with a value of the same kind in another form, columns first."""
    for path, value in message.columns_first():
        if isinstance(value, NumberToken):
            yield from message.put(path, NumberToken(f"{value}.5" if "." not in value else "-1"))
        elif isinstance(value, str):
            yield from message.put(path, value + "?")


CLASS = DriftClass(
    id="D07",
    name="value-form",
    severity=ERROR,
    says="A value is of the right JSON kind but not written in the documented form of its source type.",
    action="Compare the product version with the contract; the observed shape tells what was sent.",
    good='"1606233662.012345" for a TIMESTAMP',
    bad='"2020-11-24T16:01:02Z" for a TIMESTAMP',
    breaks=breaks,
    causes=(
        DriftCause(
            "time-unit",
            "Read in the unit that the contract names, the moment lies in another age (as 1970), or in none.",
        ),
        DriftCause(
            "no-such-time",
            "The table contract declares a date or time, and the calendar has none such. It stays as sent.",
        ),
        DriftCause(
            "trailing-zeros",
            "The document leaves zeros at the end of a fraction out. The moment is the same with them.",
        ),
    ),
)
