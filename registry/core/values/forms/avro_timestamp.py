"""An instant in seconds since 1970-01-01T00:00:00Z and a part."""

from cdc_contracts.registry.core.values import named_records, timestamps
from cdc_contracts.registry.core.values.named_records import record_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = record_form(
    "avro-timestamp",
    "timestamp",
    "Timestamp",
    reader=named_records.read_instant,
    writer=timestamps.write_seconds_fraction,
    native=(NativeCheck("SECONDS_FRACTION", most=timestamps.LAST_SECOND, record="Timestamp"),),
    examples=Examples(
        good=(('"Timestamp 1718000000.5"', "2024-06-10T06:13:20.5Z"),),
        bad=('"Timestamp -1"', '"Timestamp "', '"Timestamp! "'),
    ),
)
