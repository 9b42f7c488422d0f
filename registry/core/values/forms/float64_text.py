"""A floating point number in the range of 64 bits, as the text of a JSON number."""

from cdc_contracts.registry.core.values import floats
from cdc_contracts.registry.core.values.form_schemas import JSON_NUMBER, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "float64-text",
    "float",
    TEXT,
    schema=text_like(JSON_NUMBER),
    reader=floats.read_float64,
    native=(NativeCheck("FLOATS"),),
    examples=Examples(good=(('"1.0E7"', "10000000"),), bad=('"NaN"', '"Infinity"', '"-Infinity"')),
)
