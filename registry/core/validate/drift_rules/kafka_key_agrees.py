from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading, column_path
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, no_edits
from cdc_contracts.registry.core.validate.key_values import has_value
from cdc_contracts.registry.core.validate.rule_inputs import Reads, kafka_keys
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView, complete_rows


def check(view: RuleView) -> Iterator[Breach]:
    """The key is that of the row that is left after the change, or that there was before it (else a warning)."""
    reading = view.reading
    place = reading.meaning.envelope.key_place
    if place is None or reading.key is None:
        return
    if reading.key_columns is None:
        where = f" at {place.at}" if place.at else ""
        yield Breach("", f"a Kafka key with one JSON object{where}", "none", WARNING)
        return
    side = reading.sides[-1]
    source, rows = reading.source(side), complete_rows(reading, side) or []
    for name, value in reading.key_columns.items():
        held = [row[name] for row in rows if name in row]
        if held and not any(has_value(one, value, name, place, view.mapping) for one in held):
            yield Breach(column_path(reading, source, name), "the value in the Kafka key", "another value", WARNING)


def reads(meaning: Meaning) -> Reads:
    """Declare that the Kafka key is read."""
    return Reads(kafka_keys=kafka_keys(meaning))


def exercised_by(reading: Reading) -> bool:
    """Return whether a record with a row has a key that the contract reads."""
    return reading.meaning.envelope.key_place is not None and reading.key is not None and reading.holds_rows


RULE = DriftRule(
    name="kafka-key-agrees", severity=WARNING,
    says="The Kafka key of a row, if it has one, is an object of key columns with the values that the row has.",
    action="Check the key converter of the producer, and what changes keys or values in transit; the row is read from "
    "the value.",
    good='the Kafka key {"id":7} with "id": 7', bad='the Kafka key {"id":8}, or Struct{id=7}, with "id": 7',
    check=check, reads=reads, exercised_by=exercised_by, breaks=no_edits, listed_at=6,
)  # fmt: skip
