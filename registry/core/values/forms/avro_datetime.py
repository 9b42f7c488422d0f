"""Date and clock of a DateTime."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-datetime",
    "datetime",
    "DateTime",
    reader=datetimes.read_sql,
    writer=datetimes.write_sql,
    native=(NativeCheck("SQL_DATETIME", record="DateTime"),),
    examples=Examples(
        good=(('"DateTime 2024-06-10 14:13:20.5"', "2024-06-10T14:13:20.5"),),
        bad=('"DateTime 2024-05-06"', '"DateTime 12:53:20"', '"DateTime! "'),
    ),
)
