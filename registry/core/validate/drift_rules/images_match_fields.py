from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """A positional image has one value for each field, and each field has a name of its own.

    Any other image cannot be mapped to columns and stays a list.
    """
    for pointer in view.reading.meaning.images.pointers():
        if isinstance(view.reading.at(pointer), list):
            yield Breach(pointer, "one value for each field", "another number of values, or a name twice")


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with one name for its first two fields."""
    types = reading.meaning.columns.types
    if types == "none" or types.at is None or types.name is None:
        return
    fields = reading.at(types.at)
    if isinstance(fields, list) and len(fields) > 1 and isinstance(fields[0], dict):
        yield {(*split_pointer(types.at), 1, types.name): fields[0].get(types.name)}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the images of all contracts."""
    for meaning in meanings:
        yield from meaning.images.pointers()


RULE = DriftRule(
    name="images-match-fields", severity=ERROR,
    says="An image of an Avro record has one value for each field, and no two fields have the same name.",
    action="Values cannot be assigned to columns: keep the record and ask the vendor.",
    good="fields id and name, image of two values", bad="fields id and name, image of three values",
    check=check, exercised_by=lambda reading: reading.holds_rows, breaks=breaks, places=places, listed_at=13,
)  # fmt: skip
