"""The date of a DateTime."""

from cdc_contracts.registry.core.values import named_records
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-date",
    "date",
    "DateTime",
    reader=named_records.read_date_part,
    native=(NativeCheck("DATE", record="DateTime"),),
    examples=Examples(
        good=(('"DateTime 2024-06-10"', "2024-06-10"),), bad=('"DateTime 07:08:09"', '"DateTime 2024"', '"DateTime! "')
    ),
)
