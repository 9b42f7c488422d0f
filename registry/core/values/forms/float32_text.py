"""A floating point number in the range of 32 bits, as the text of a JSON number."""

from cdc_contracts.registry.core.values import floats
from cdc_contracts.registry.core.values.form_schemas import JSON_NUMBER, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "float32-text",
    "float",
    TEXT,
    schema=text_like(JSON_NUMBER),
    reader=floats.read_float32,
    native=(NativeCheck("FLOATS"),),
    examples=Examples(good=(('"0.5"', "0.5"),), bad=('"3.4028236e38"', '"1e39"', '"-1e39"')),
)
