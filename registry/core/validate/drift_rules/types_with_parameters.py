from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.value_mappings import drop_parameters
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """A type that every table declares with a length has one in the message, too."""
    for name, result in (view.reading.types or {}).items():
        if view.reading.meaning.columns.needs_parameters(result):
            path = join_pointer(*split_pointer(view.reading.types_at[0]), name)
            yield Breach(path, "a type with its length", "a type without parameters", ERROR)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a type that has lost its length."""
    columns = reading.meaning.columns
    for name, result in (reading.types or {}).items():
        if columns.needs_parameters(drop_parameters(result)):
            yield {(*split_pointer(reading.types_at[0]), name): drop_parameters(result)}


RULE = DriftRule(
    name="types-with-parameters", severity=ERROR,
    says="Column types that are never declared without a length are given with it.",
    action="Another product may have written the message: check it with `detect`.",
    good='"mysqlType": {"name": "varchar(20)"}', bad='"mysqlType": {"name": "varchar"}',
    check=check, exercised_by=lambda reading: bool(reading.types), breaks=breaks, listed_at=21,
)  # fmt: skip
