"""An instant, `YYYY-MM-DDTHH:mm:ss` with up to nine digits of a second, and `Z` or an offset from UTC: `+11:00`.

It is written in UTC; which offset it had is not kept.
"""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, FAR_DATE, OFFSET, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-instant-offset",
    "timestamp",
    TEXT,
    schema=text_like(f"{DATE}T{CLOCK}(?:Z|{OFFSET})"),
    reader=datetimes.read_iso_offset,
    native=(NativeCheck("ISO_OFFSET"),),
    examples=Examples(
        good=(
            ('"2018-07-13T12:23:45.456+11:00"', "2018-07-13T01:23:45.456Z"),
            ('"2024-06-10T06:13:20.5Z"', "2024-06-10T06:13:20.5Z"),
            ('"2018-03-27T01:34:56.007890-11:00"', "2018-03-27T12:34:56.00789Z"),
            ('"2024-02-29T23:30:00-00:45"', "2024-03-01T00:15:00Z"),
            ('"2024-01-01T00:00:00+05:53:28"', "2023-12-31T18:06:32Z"),
        ),
        bad=(
            '"Z"',
            '"2022-11-15T05:12:11"',
            '"2022-11-15 05:12:11+01:00"',
            '"2022-11-15T05:12:11+1:00"',
            '"2022-11-15T05:12:11+0100"',
            '"2022-11-15T05:12:11+18:01"',
            '"2022-11-15T05:12:11+01:60"',
            '"2022-11-15T05:12:11 +01:00"',
        ),
    ),
    kept_text=f"{FAR_DATE}T{CLOCK}(?:Z|{OFFSET})",
)
