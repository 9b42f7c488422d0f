"""A geometry as text, or as bytes shown in Base64."""

from cdc_contracts.registry.core.values.named_records import either_form
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck

FORM = either_form(
    "avro-geometry",
    "opaque",
    ("TextGeometry", "BinaryGeometry"),
    native=(NativeCheck("ANY_TEXT", record="TextGeometry"), NativeCheck("BASE64", record="BinaryGeometry")),
    examples=Examples(good=(('"TextGeometry POINT(1 2)"', "POINT(1 2)"),), bad=('"BinaryGeometry A"',)),
)
