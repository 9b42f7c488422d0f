from cdc_contracts.registry.core.common.drift_class import DriftClass
from cdc_contracts.registry.core.common.findings import INFO

CLASS = DriftClass(
    id="D15", name="not-exercised", severity=INFO,
    says="None of the messages read exercises this rule of the contract.",
    action="Read a longer range before trusting a green result.",
    good="a topic with every op", bad="a topic without a DELETE",
)  # fmt: skip
