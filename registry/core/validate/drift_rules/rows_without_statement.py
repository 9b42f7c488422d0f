from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.validate.drift_rule import DriftRule
from cdc_contracts.registry.core.validate.drift_rules.ddl_text_only_if_ddl import breaks, reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """A message with rows contains no statement (else a warning); any other message may."""
    ddl = view.reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at and view.reading.holds_rows and view.reading.ddl_text:
        yield Breach(ddl.text.at, "empty", "text", WARNING)


RULE = DriftRule(
    name="rows-without-statement", severity=WARNING,
    says="A message with rows contains no statement; marks and ends of transactions may.",
    action="Check whether the log holds statements instead of rows, or the producer was upgraded; the row is read.",
    good='"type": "INSERT" with "sql": ""', bad='"type": "INSERT" with "sql": "INSERT INTO …"',
    check=check, reads=reads, exercised_by=lambda reading: reading.holds_rows, breaks=breaks, listed_at=11,
)  # fmt: skip
