"""A wall-clock time with its zone."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples

FORM = record_form(
    "avro-zoned",
    "datetime",
    "TimestampWithTimeZone",
    reader=datetimes.read_sql_zone,
    writer=datetimes.write_sql_zone,
    examples=Examples(
        good=(('"TimestampWithTimeZone 2024-06-10 14:13:20.5 Asia/Shanghai"', "2024-06-10T14:13:20.5[Asia/Shanghai]"),),
        bad=('"TimestampWithTimeZone! "',),
    ),
)
