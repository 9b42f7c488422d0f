"""A wall-clock time, `YYYY-MM-DDTHH:mm:ssZ` with up to nine digits of a second; its `Z` says nothing of a zone."""

from cdc_contracts.registry.core.values import dates, datetimes
from cdc_contracts.registry.core.values.form_schemas import CLOCK, DATE, FAR_DATE, TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "iso-wallclock-z",
    "datetime",
    TEXT,
    schema=text_like(f"{DATE}T{CLOCK}Z"),
    reader=datetimes.read_iso_wallclock_z,
    writer=dates.write_z,
    native=(NativeCheck("ISO_INSTANT"),),
    examples=Examples(
        good=(('"2024-06-10T14:13:20.5Z"', "2024-06-10T14:13:20.5"),),
        bad=(
            '"2024-06-10T14:13:20"',
            '"2024-06-10 14:13:20Z"',
            '"2024-06-10T14:13:20+00:00"',
            '"2024-02-30T00:00:00Z"',
        ),
    ),
    kept_text=f"{FAR_DATE}T{CLOCK}Z",
)
