from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads, places_at
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView
from cdc_contracts.registry.core.values import Number


def check(view: RuleView) -> Iterator[Breach]:
    """The joined key values are the wire text of the key columns of an image (a warning)."""
    reading, key = view.reading, view.reading.primary_key
    place = reading.meaning.envelope.primary_key_values
    joined = reading.place(place)
    if not key or place is None or place.at is None or not isinstance(joined, str):
        return
    rows = [row for rows in view.full_rows() for row in rows if all(name in row for name in key)]
    if rows and all("\u0001".join(_wire_text(row[name]) for name in key) != joined for row in rows):
        yield Breach(place.at, "the values of the key columns", "other values", WARNING)


def _wire_text(value: Any) -> str:
    if isinstance(value, Number):
        return "0" if value.token == "-0" else value.token  # noqa: S105  a JSON token
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def reads(meaning: Meaning) -> Reads:
    """Declare that the names of the key are read, and how its joined values are related to rows."""
    envelope = meaning.envelope
    return Reads(values=places_at(envelope.primary_key), joined=places_at(envelope.primary_key_values))


def exercised_by(reading: Reading) -> bool:
    """Return whether a message names a key and has its values."""
    return bool(reading.primary_key) and isinstance(reading.place(reading.meaning.envelope.primary_key_values), str)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with another last value of the key."""
    place = reading.meaning.envelope.primary_key_values
    joined = reading.place(place)
    if place is not None and place.at is not None and isinstance(joined, str):
        yield {split_pointer(place.at): joined + "0"}


RULE = DriftRule(
    name="primary-key-values-agree", severity=WARNING,
    says="The joined primary key values equal the values of the key columns in an image.",
    action="Check whether the image was changed in transit; the row is read from the image.",
    good='key value "17" with "id": 17', bad='key value "18" with "id": 17',
    check=check, reads=reads, exercised_by=exercised_by, breaks=breaks, listed_at=5,
)  # fmt: skip
