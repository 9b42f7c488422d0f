import json
from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads, kafka_keys, places_at
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def check(view: RuleView) -> Iterator[Breach]:
    """Key names are columns of the completed image (else a warning: the row can be read without them)."""
    key = view.reading.primary_key
    if key:
        absent = any(name not in row for rows in view.full_rows() for row in rows for name in key)
        if absent:
            yield Breach(view.reading.key_path, "columns of the image", "absent column", WARNING)


def reads(meaning: Meaning) -> Reads:
    """Declare that the names of the key are read."""
    return Reads(values=places_at(meaning.envelope.primary_key), kafka_keys=kafka_keys(meaning))


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with one more key column, which no image has."""
    place = reading.meaning.envelope.primary_key
    if place is None or place.in_value is None:
        return
    key = [*(reading.primary_key or ()), "renamed"]
    names: Any = key
    if place.reading == "joined-u0001":
        names = "\u0001".join(key)
    elif place.reading == "json-text-groups":
        names = json.dumps({place.member: key})
    yield {split_pointer(place.in_value): names}


RULE = DriftRule(
    name="primary-key-in-image", severity=WARNING,
    says="The primary key columns are columns of the completed image.",
    action="Check whether the key columns were renamed or filtered; the row is still read.",
    good='"pkNames": ["id"] with "data": [{"id": "1"}]', bad='"pkNames": ["key"] with "data": [{"id": "1"}]',
    check=check, reads=reads, exercised_by=lambda reading: bool(reading.primary_key), breaks=breaks, listed_at=4,
)  # fmt: skip
