"""Value forms: how one source type is written on the wire, and its canonical text.

In: one JSON value and a context. Out: canonical text, or why the value breaks its form.

Begin with `form_table.py`: one row per form. A form reads one JSON value (`read`) and writes one (`write`).
"""

from cdc_contracts.registry.values.form_table import FORMS
from cdc_contracts.registry.values.form_values import (
    FIRST_MISFIT,
    FIRST_RECORD,
    KEPT_AS_SENT,
    NOTED_MISFIT,
    READ,
    RECORDS,
    BrokenValue,
    Context,
    Flag,
    Number,
    Value,
)
from cdc_contracts.registry.values.value_form import ValueForm
from cdc_contracts.registry.values.value_shapes import describe_shape

__all__ = [
    "FIRST_MISFIT",
    "FIRST_RECORD",
    "FORMS",
    "KEPT_AS_SENT",
    "NOTED_MISFIT",
    "READ",
    "RECORDS",
    "BrokenValue",
    "Context",
    "Flag",
    "Number",
    "Value",
    "ValueForm",
    "describe_shape",
]
