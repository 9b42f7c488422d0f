"""An interval in microseconds, its months and years by an average length: which they were is lost.

The number stays as it is, for no interval can be told from it.
"""

from cdc_contracts.registry.core.values import integers
from cdc_contracts.registry.core.values.form_schemas import NUMBER, any_of
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "interval-micros",
    "integer",
    NUMBER,
    decoder="int",
    schema=any_of("integer"),
    reader=integers.read_integer,
    writer=integers.write_number,
    native=(NativeCheck("INTEGERS"),),
    examples=Examples(good=(("37091106789000", "37091106789000"), ("-1", "-1")), bad=("1.0", "1e3")),
)
