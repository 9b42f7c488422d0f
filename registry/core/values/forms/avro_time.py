"""The clock of a DateTime, a signed duration to 838 hours."""

from cdc_contracts.registry.core.values import named_records
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-time",
    "time",
    "DateTime",
    reader=named_records.read_clock_part,
    native=(NativeCheck("TIME", record="DateTime"),),
    examples=Examples(
        good=(('"DateTime 12:30:00.5"', "12:30:00.5"),),
        bad=('"DateTime 2024-02-29"', '"DateTime 2024"', '"DateTime! "'),
    ),
)
