"""Value forms: how one source type is written on the wire, and its canonical text.

Begin with `table.py`: one row per form. A form reads one JSON value (`read`, the reference), a whole
Arrow column (`column`, `check`: the fast path, which never disagrees with `read`) and writes one (`write`).
"""

from cdc_contracts.registry.forms.form import Form
from cdc_contracts.registry.forms.shapes import describe_shape, describe_shapes
from cdc_contracts.registry.forms.table import FORMS
from cdc_contracts.registry.forms.values import (
    FIRST_MISFIT,
    FIRST_RECORD,
    NOTED_MISFIT,
    RECORDS,
    BrokenValue,
    Column,
    Context,
    Flag,
    Number,
    Value,
)

__all__ = [
    "FIRST_MISFIT",
    "FIRST_RECORD",
    "FORMS",
    "NOTED_MISFIT",
    "RECORDS",
    "BrokenValue",
    "Column",
    "Context",
    "Flag",
    "Form",
    "Number",
    "Value",
    "describe_shape",
    "describe_shapes",
]
