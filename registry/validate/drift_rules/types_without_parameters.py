from collections.abc import Iterator

from cdc_contracts.registry.common.findings import WARNING
from cdc_contracts.registry.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.contract.value_mappings import drop_parameters
from cdc_contracts.registry.message.reading import Reading
from cdc_contracts.registry.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """A type is given without its length, precision or members (a warning: the row is read all the same)."""
    for name, result in (view.reading.types or {}).items():
        if drop_parameters(result) != result:
            path = join_pointer(*split_pointer(view.reading.types_at[0]), name)
            yield Breach(path, "a type without parameters", "a type with parameters", WARNING)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with the length of a type."""
    for name, told in (reading.types or {}).items():
        yield {(*split_pointer(reading.types_at[0]), name): f"{told}(20)"}


RULE = DriftRule(
    name="types-without-parameters", severity=WARNING,
    says="Types are told by their names alone, without a length, a precision or the members of an ENUM.",
    action="Another product may have written the message: look at it with `detect`. The row is read all the same.",
    good='"mysqlType": {"name": "varchar"}', bad='"mysqlType": {"name": "varchar(20)"}',
    check=check, exercised_by=lambda reading: bool(reading.types), breaks=breaks, listed_at=16,
)  # fmt: skip
