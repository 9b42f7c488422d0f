"""An exact decimal; trailing zeros count."""

from cdc_contracts.registry.core.values import decimals
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-decimal",
    "decimal",
    "Decimal",
    reader=decimals.read_decimal,
    native=(NativeCheck("DECIMALS", record="Decimal"),),
    examples=Examples(good=(('"Decimal 12.10"', "12.10"),), bad=('"Decimal .5"', '"Decimal 1."', '"Decimal NaN"')),
)
