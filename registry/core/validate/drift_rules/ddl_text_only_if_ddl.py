from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.document_model import DDL_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads, places_at
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Only a DDL or TRUNCATE message contains a statement (else a warning)."""
    ddl = view.reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at and view.reading.op not in DDL_OPS and view.reading.ddl_text:
        yield Breach(ddl.text.at, "empty", "text", WARNING)


def reads(meaning: Meaning) -> Reads:
    """Declare that the presence of a statement is read."""
    return Reads(filled=places_at(meaning.ddl.text) if meaning.ddl else ())


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a statement."""
    ddl = reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at:
        yield {split_pointer(ddl.text.at): "DROP TABLE orders"}


RULE = DriftRule(
    name="ddl-text-only-if-ddl", severity=WARNING,
    says="Only a DDL message contains a DDL statement; TRUNCATE counts as DDL.",
    action="Check whether the producer was upgraded; the row is still read.",
    good='"isDdl": false with "sql": ""', bad='"isDdl": false with "sql": "ALTER TABLE …"',
    check=check, reads=reads, without_rows=True, breaks=breaks, listed_at=10,
)  # fmt: skip
