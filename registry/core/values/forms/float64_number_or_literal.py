"""A number of double precision, or one of the texts `NaN`, `Infinity` and `-Infinity`."""

from cdc_contracts.registry.core.values import floats
from cdc_contracts.registry.core.values.form_schemas import EITHER, text_or
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "float64-number-or-literal",
    "float",
    EITHER,
    decoder="raw",
    schema=text_or("number", "-?Infinity|NaN"),
    reader=floats.read_float64_or_literal,
    writer=floats.write_float_or_literal,
    native=(NativeCheck("FLOATS"),),
    examples=Examples(
        good=(("0.1", "0.1"), ('"NaN"', "NaN"), ('"Infinity"', "Infinity"), ('"-Infinity"', "-Infinity")),
        bad=('"0.1"', '"nan"', '"+Infinity"', '"-NaN"', "1e309"),
    ),
    texts=floats.LITERALS,
)
