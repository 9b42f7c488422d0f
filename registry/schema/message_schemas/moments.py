"""Moments: in which unit the times of the envelope count, as bounds of their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.message.envelope_times import SPANS, limits_of, unit_of_form
from cdc_contracts.registry.schema.message_schemas.clauses import any_of, within


def moments(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield what the times of an envelope may count.

    A checkpoint reads no row, and one in another unit is only warned of: nothing is asked of it here.
    """
    for place in meaning.envelope.times:
        if place == meaning.envelope.checkpoint or place.at is None or unit_of_form(place) is None:
            continue
        if place.form == "epoch-seconds-text":
            yield within(place.at, _text_of_unit(place), required=False)
        elif place.form == "epoch-millis-list-last":
            continue  # which item of an array is the last, no keyword says
        else:
            yield within(place.at, _number_of_unit(place), required=False)


def _number_of_unit(place: Place) -> dict[str, Any]:
    """Return what refuses numbers that are moments of our time in another unit, or no moment at all."""
    wanted = unit_of_form(place)
    first, last = limits_of(place)
    others = [span for unit, span in SPANS.items() if unit != wanted]
    inside = [
        {"type": "number", "minimum": low, "maximum": end - 1}
        for low, end in others
        if first <= low and end - 1 <= last
    ]
    result: dict[str, Any] = {"minimum": first, "maximum": last}
    if inside:
        result["not"] = any_of(inside)
    if place.absent_value is not None and not first <= place.absent_value <= last:
        return any_of([{"const": place.absent_value}, result])
    return result


def _text_of_unit(place: Place) -> dict[str, Any]:
    """Return what refuses the same of a count that travels as text: its digits identify most of the numbers of a unit.

    Moments from 2001 to 2096 begin with 1, 2 or 3 and have ten digits in seconds, thirteen in milliseconds, and so on.
    """
    digits = [len(str(low)) for unit, (low, _) in SPANS.items() if unit != unit_of_form(place)]
    return {"not": {"type": "string", "pattern": f"^(?:{'|'.join(f'[123][0-9]{{{count}}}' for count in digits)})$"}}
