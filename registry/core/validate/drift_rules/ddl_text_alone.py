from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer, split_pointer
from cdc_contracts.registry.core.message.reading import Reading, non_column_members
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView
from cdc_contracts.registry.core.values import Number


def check(view: RuleView) -> Iterator[Breach]:
    """A statement that replaces a row has no other columns (else a warning: only the statement is read)."""
    meaning = view.reading.meaning
    if view.reading.op != "ddl" or meaning.ddl is None or meaning.ddl.text is None or meaning.ddl.text.at is None:
        return
    *above, name = split_pointer(meaning.ddl.text.at)
    image = join_pointer(*above)
    held = view.reading.at(image) if image in meaning.images.pointers() else ABSENT
    if isinstance(held, dict) and name in held and held.keys() - non_column_members(meaning, image) - {name}:
        yield Breach(image, f"{name} alone", "other columns beside it", WARNING)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message of a statement with a column beside it."""
    ddl = reading.meaning.ddl
    if reading.op == "ddl" and ddl and ddl.text and ddl.text.at:
        *above, _ = split_pointer(ddl.text.at)
        if above:
            yield {(*above, "beside"): Number("1")}


RULE = DriftRule(
    name="ddl-text-alone", severity=WARNING,
    says="An image that holds a DDL statement instead of a row has no other columns.",
    action="Check whether the product was upgraded; only the statement is read.",
    good='"postStruct": {"ddl": "ALTER TABLE …"}', bad='"postStruct": {"ddl": "ALTER TABLE …", "id": 1}',
    check=check, without_rows=True, breaks=breaks, listed_at=12,
)  # fmt: skip
