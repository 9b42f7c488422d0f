"""Wrapped messages: the wrapping that `--unwrap` would remove from values that fit no contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.message.unreadable_bytes import find_fault
from cdc_contracts.registry.core.message.unwrapping import WRAPPINGS, unwrap
from cdc_contracts.registry.core.message.wrapping_guesses import guess_bytes, guess_wrapping
from cdc_contracts.registry.core.validate.candidates import is_near, open_validations
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

_NOWHERE: Final = RecordPlace("", 0, 0)


def describe_wrapping(accumulator: EvidenceAccumulator) -> str | None:
    """Return the likely wrapping of most values that no contract accepts, and how to read them; None if unclear."""
    validations = open_validations(
        accumulator.catalogue, accumulator.reading_options, accumulator.validators.validators
    )
    result = Counter(
        hint for value in accumulator.samples for hint in list(_hints(accumulator, value, validations))[:1]
    )
    hint, count = max(result.items(), key=lambda one: one[1], default=(None, 0))
    return hint if 2 * count > len(accumulator.samples) else None


def _hints(accumulator: EvidenceAccumulator, value: bytes, validations: Sequence[ValidationContext]) -> Iterator[str]:
    for wrapping, says in WRAPPINGS.items():
        try:
            inside = unwrap(value, wrapping)
        except Unreadable:
            continue
        if inside is not None and accumulator.validators.add(_NOWHERE, inside).fits:
            yield f"The values look like {says}: --unwrap {wrapping} reads what is inside."
    try:
        guess = guess_bytes(value) or guess_wrapping(parse_message(value), lambda inside: is_near(inside, validations))
    except Unreadable as error:
        fault = find_fault(value, error)
        if fault.guess is not None:
            yield f"The values look like {fault.guess}. {fault.action}"
        return
    if guess is not None:
        yield f"The values look like {guess.with_action}"
