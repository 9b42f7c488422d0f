from cdc_contracts.registry.core.common.drift_class import DriftCause, DriftClass
from cdc_contracts.registry.core.common.findings import ERROR

CLASS = DriftClass(
    id="D16", name="ambiguous", severity=ERROR,
    says="The message fits several versions that read it differently; decoding it would be a guess.",
    action="Declare the version with --contract SUBJECT@N, or that of each part of a topic with --versions FILE.",
    good="an UPDATE validated against dts/canal@2", bad="the same UPDATE validated against dts/canal",
    causes=(
        DriftCause(
            "left-open",
            "No range of the versions file covers the position of the message, so it has no version.",
            instead=True,
        ),
    ),
)  # fmt: skip
