"""Key values: whether a Kafka key has the value that a column of its row has."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.json_structures import ArrayText
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.primary_keys import are_alike
from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context
from cdc_contracts.registry.core.values.value_form import WIRES


def has_value(held: Any, value: Any, name: str, place: KeyPlace, mapping: ValueMapping) -> bool:
    """Return whether a column holds the value that a key has for it, written alike.

    A value that is a JSON text in the key may be written otherwise there; then both have to be read to one text.
    """
    if are_alike(value, held):
        return True
    if held is None or value is None or name not in {column for _, column in place.json_texts}:
        return False
    text = _text_of(value, mapping)
    return text is not None and text == _text_of(held, mapping)


def _text_of(value: Any, mapping: ValueMapping) -> str | None:
    """Return the canonical text of a value without a type; None if there is none."""
    kind = "array" if isinstance(value, ArrayText) else WIRES[kind_of(value)]
    form = mapping.form_of_kind(kind)
    try:
        return None if form is None else FORMS[form].read(value, Context()).text
    except BrokenValue:
        return None
