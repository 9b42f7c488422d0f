"""An interval as ISO 8601, such as `P1Y2M3DT4H5M6.789S`, with a sign on each part that is negative."""

from cdc_contracts.registry.core.values import intervals
from cdc_contracts.registry.core.values.form_schemas import TEXT, text_like
from cdc_contracts.registry.core.values.value_form import Examples, ValueForm

FORM = ValueForm(
    "iso-interval",
    "interval",
    TEXT,
    schema=text_like(intervals.ISO_LETTERS),
    reader=intervals.read_iso_interval,
    examples=Examples(
        good=(
            ('"P1Y2M3DT4H5M6.789S"', "P1Y2M3DT4H5M6.789S"),
            ('"P0Y0M0DT0H0M0S"', "P0D"),
            ('"P-1Y-2M3DT-4H5M-0.500S"', "P-1Y-2M3DT-4H5M-0.5S"),
            ('"P0Y0M-3DT0H0M0.0S"', "P-3D"),
            ('"PT-0S"', "P0D"),
        ),
        bad=('"P"', '"PT"', '"P1DT"', '"1Y"', '"-P1Y"', '"P1.5D"', '"PT1.S"', '"P1D2Y"'),
    ),
)
