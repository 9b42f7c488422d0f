"""A number of single precision, held as a double."""

from cdc_contracts.registry.core.values import named_records
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-float32",
    "float",
    "Float",
    reader=named_records.read_single,
    native=(NativeCheck("FLOATS", writes=False, record="Float"),),
    examples=Examples(good=(('"Float 0.5"', "0.5"),), bad=('"Float nan"', '"Float inf"', '"Float 3.5e+38"')),
)
