"""A floating point number in the range of 64 bits."""

from cdc_contracts.registry.core.values import floats, integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "float64-number",
    "float",
    NUMBER,
    decoder="raw",
    schema=any_of("number"),
    reader=floats.read_float64,
    writer=integers.write_number,
    native=(NativeCheck("FLOATS"),),
    examples=Examples(
        good=(("0.1", "0.1"),),
        bad=("1e309", "-1e309", "1.7976931348623159e308"),
        edges=("0", "-0.5", "0.1", "1e-7", "1e+21"),
    ),
)
