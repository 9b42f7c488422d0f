from cdc_contracts.registry.core.common.drift_class import DriftClass
from cdc_contracts.registry.core.common.findings import INFO

CLASS = DriftClass(
    id="D13", name="control-share", severity=INFO,
    says="The share of messages without a row.",
    action="Nothing, unless the share is unusual.",
    good="some heartbeats", bad="heartbeats only",
)  # fmt: skip
