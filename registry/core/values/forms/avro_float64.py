"""A number of double precision."""

from cdc_contracts.registry.core.values import floats
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-float64",
    "float",
    "Float",
    reader=floats.read_float64,
    native=(NativeCheck("FLOATS", record="Float"),),
    examples=Examples(good=(('"Float 0.1"', "0.1"),), bad=('"Float nan"', '"Float -inf"', '"Float 1e+400"')),
)
