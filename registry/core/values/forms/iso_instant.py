"""An instant, `YYYY-MM-DDTHH:mm:ssZ` with up to nine digits of a second."""

from cdc_contracts.registry.core.values import datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, FAR_DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-instant",
    "timestamp",
    TEXT,
    schema=text_like(f"{DATE}T{CLOCK}Z"),
    reader=datetimes.read_iso_instant,
    native=(NativeCheck("ISO_INSTANT"),),
    examples=Examples(
        good=(('"2024-06-10T06:13:20.5Z"', "2024-06-10T06:13:20.5Z"),),
        bad=('"Z"', '"2022-11-15T05:12:11"', '"2022-11-15 05:12:11Z"'),
        edges=("1970-01-01T00:00:01Z", "2024-02-29T23:59:59Z", "2038-01-19T03:14:07Z"),
    ),
    kept_text=f"{FAR_DATE}T{CLOCK}Z",
)
