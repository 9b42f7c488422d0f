from collections.abc import Iterator

from cdc_contracts.registry.core.common.drift_class import ConformingMessage, DriftCause, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR


def breaks(message: ConformingMessage) -> Iterator[bytes]:
    """Yield the same event as the other versions of the subject write it."""
    yield from message.by_other_versions()


CLASS = DriftClass(
    id="D03", name="other-version", severity=ERROR,
    says="The message is of another version of the subject than the one it is validated under. It fits only that other "
    "version, or the earlier and later changes of its row show it.",
    action="Check when the project or instance was created or restarted; audit with the version that fits.",
    good='a DELETE with its row in "data", validated as dts/canal@2',
    bad='a DELETE with its row in "old", validated as dts/canal@2',
    breaks=breaks,
    causes=(
        DriftCause(
            "images",
            "The row is where the other version has it; read as this version, before and after are swapped.",
            of_another_subject="The message is not of the version it is validated against: the changes of rows "
            "prove a version of another subject.",
        ),
        DriftCause("value-form", per_column=True),
        DriftCause(
            "option",
            "From here on values are as another value of an option of the producer writes them; the release may be the "
            "same. See when the connector was restarted with another configuration.",
            instead=True, per_column=True,
        ),
    ),
)  # fmt: skip
