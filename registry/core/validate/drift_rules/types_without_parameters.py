from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.value_mappings import drop_parameters
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """A type is given without its length, precision or members (else a warning; the row is still read)."""
    for name, result in (view.reading.types or {}).items():
        if drop_parameters(result) != result:
            path = join_pointer(*split_pointer(view.reading.types_at[0]), name)
            yield Breach(path, "a type without parameters", "a type with parameters", WARNING)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with the length of a type."""
    for name, kind in (reading.types or {}).items():
        yield {(*split_pointer(reading.types_at[0]), name): f"{kind}(20)"}


RULE = DriftRule(
    name="types-without-parameters", severity=WARNING,
    says="Column types are bare names, without a length, a precision or ENUM members.",
    action="Another product may have written the message: check it with `detect`. The row is still read.",
    good='"mysqlType": {"name": "varchar"}', bad='"mysqlType": {"name": "varchar(20)"}',
    check=check, exercised_by=lambda reading: bool(reading.types), breaks=breaks, listed_at=20,
)  # fmt: skip
