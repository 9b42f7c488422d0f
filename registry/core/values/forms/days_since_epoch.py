"""A date as days since 1970-01-01."""

from cdc_contracts.registry.core.values import dates
from cdc_contracts.registry.core.values.civil_time import EARLIEST_DAY, FIRST_DAY, LAST_DAY, LATEST_DAY
from cdc_contracts.registry.core.values.form_schemas import NUMBER, at_least
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "days-since-epoch",
    "date",
    NUMBER,
    decoder="int",
    schema=at_least(FIRST_DAY),
    reader=dates.read_days,
    writer=dates.write_days,
    native=(NativeCheck("DAYS", FIRST_DAY, LAST_DAY),),
    examples=Examples(good=(("19884", "2024-06-10"),), bad=("-719529", "2932897", "1.0")),
    kept=(EARLIEST_DAY, LATEST_DAY),
)
