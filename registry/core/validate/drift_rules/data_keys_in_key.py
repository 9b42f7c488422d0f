from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.validate.drift_rule import DriftRule
from cdc_contracts.registry.core.validate.partial_images import (
    has_partial_row,
    partial_keys_in_full,
    rename_changed_column,
)
from cdc_contracts.registry.core.validate.rule_inputs import compared_images

RULE = DriftRule(
    name="data-keys-in-key", severity=WARNING,
    says="The changed columns of a row are columns of the image they overlay.",
    action="Check for a column filter that affects only one of the images.",
    good='changed columns that "key" has too', bad='a changed column that "key" lacks',
    check=partial_keys_in_full, reads=compared_images, exercised_by=has_partial_row, breaks=rename_changed_column,
    listed_at=8,
)  # fmt: skip
