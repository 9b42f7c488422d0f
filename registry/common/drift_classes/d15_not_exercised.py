from cdc_contracts.registry.common.drift_class import DriftClass
from cdc_contracts.registry.common.findings import INFO

CLASS = DriftClass(
    id="D15", name="not-exercised", severity=INFO,
    says="A rule of the contract was never put to the test by the messages read.",
    action="Read a longer range before trusting a green result.",
    good="a topic with every op", bad="a topic without a DELETE",
)  # fmt: skip
