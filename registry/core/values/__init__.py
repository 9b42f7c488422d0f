"""Value forms: how one source type is written on the wire, and its canonical text.

In: one JSON value and a context. Out: canonical text, or why the value breaks its form.

Begin with `forms/`: one file per form. A form reads one JSON value (`read`) and writes one (`write`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.common.exact_number import Number
from cdc_contracts.registry.core.common.rule_modules import VALUE_FORMS, find_records
from cdc_contracts.registry.core.values.form_values import (
    FIRST_MISFIT,
    FIRST_RECORD,
    KEPT_AS_SENT,
    NOTED_MISFIT,
    READ,
    RECORDS,
    BrokenValue,
    Context,
    Flag,
    Value,
)
from cdc_contracts.registry.core.values.text_values import token_of
from cdc_contracts.registry.core.values.value_form import JSON_KINDS, WIRES, ValueForm
from cdc_contracts.registry.core.values.value_shapes import describe_shape

FORMS: Final[Mapping[str, ValueForm]] = MappingProxyType(
    {form.name: form for form in find_records(VALUE_FORMS, ValueForm)}
)
"""Every value form by its name."""

__all__ = [
    "FIRST_MISFIT",
    "FIRST_RECORD",
    "FORMS",
    "JSON_KINDS",
    "KEPT_AS_SENT",
    "NOTED_MISFIT",
    "READ",
    "RECORDS",
    "WIRES",
    "BrokenValue",
    "Context",
    "Flag",
    "Number",
    "Value",
    "ValueForm",
    "describe_shape",
    "token_of",
]
