"""Split updates complete: both messages of a split update arrive. Only the step that joins them can check this."""

from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, no_edits
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Both parts of a split update arrive: one message cannot show it; the step that joins them reports it."""
    return iter(())


RULE = DriftRule(
    name="split-updates-complete", severity=ERROR,
    says="Both halves of an update arrive. This cannot be checked on a single message: the step that joins halves "
    "reports it.",
    action="Read a range that contains both halves, or check for a filter between product and topic.",
    good="UPDATE_BEFOR and UPDATE_AFTER with one sequenceId", bad="UPDATE_AFTER alone, without its before image",
    check=check, exercised_by=lambda reading: reading.op in ("update-before", "update-after"), breaks=no_edits,
    listed_at=19,
)  # fmt: skip
