"""The year of a DateTime: 0, or 1901 to 2155."""

from cdc_contracts.registry.core.values import integers, named_records
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-year",
    "year",
    "DateTime",
    reader=named_records.read_year_part,
    native=(NativeCheck("YEARS", integers.FIRST_YEAR, integers.LAST_YEAR, record="DateTime"),),
    examples=Examples(
        good=(('"DateTime 2024"', "2024"), ('"DateTime 2024-01-01 00:00:00"', "2024")),
        bad=('"DateTime 1900"', '"DateTime 2156"', '"DateTime 07:08:09"'),
    ),
)
