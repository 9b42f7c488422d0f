from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.message.envelope_times import unit_observed
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads, places_at
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView
from cdc_contracts.registry.core.values import Number


def check(view: RuleView) -> Iterator[Breach]:
    """The event time counts whole seconds (a note, E94)."""
    place = view.reading.meaning.envelope.event_time
    value = view.reading.place(place)
    counted = place is not None and unit_observed(value, place) is None
    if counted and place and place.at and is_integer(value) and value.token[-3:].strip("-0"):
        yield Breach(place.at, "whole seconds", "milliseconds", INFO)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with milliseconds of its own."""
    place = reading.meaning.envelope.event_time
    value = reading.place(place)
    if place is not None and place.at is not None and isinstance(value, Number):
        yield {split_pointer(place.at): Number(f"{value.token[:-3]}123")}


RULE = DriftRule(
    name="event-time-whole-seconds", severity=INFO,
    says="The event time is in milliseconds, of which the documents show whole seconds only.",
    action="Nothing: newer producers write milliseconds.",
    good='"es": 1609344671000', bad='"es": 1609344671123',
    check=check, reads=lambda meaning: Reads(seconds=places_at(meaning.envelope.event_time)), breaks=breaks,
    listed_at=23,
)  # fmt: skip
