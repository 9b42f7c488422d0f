"""A value of MongoDB Extended JSON, v1 or v2: its notations have one text.

Numbers are plain digits, instants text in UTC, bytes Base64 without their subtype, an ObjectId its hex digits. Any
other array or object is JSON text without blanks, with what stands in it for other values in relaxed notation.
"""

from cdc_contracts.registry.core.values import bson_values
from cdc_contracts.registry.core.values.form_schemas import BOOLEAN, EITHER, STRUCTURE
from cdc_contracts.registry.core.values.forms import json_number
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "extended-json",
    "opaque",
    EITHER | BOOLEAN | STRUCTURE,
    decoder="raw",
    schema={},
    reader=bson_values.read_extended_json,
    writer=bson_values.write_extended_json,
    native=(NativeCheck("EXTENDED_JSON", numbers=True),),
    examples=Examples(
        good=(
            ('{"$numberLong": "5"}', "5"),
            ('{"$oid": "5CEBDF84C9E3F8B35A8B4567"}', "5cebdf84c9e3f8b35a8b4567"),
            ('{"$date": 1558965508123}', "2019-05-27T13:58:28.123Z"),
            ('{"at": {"$date": {"$numberLong": "0"}}}', '{"at":{"$date":"1970-01-01T00:00:00Z"}}'),
            ('{"$binary": "AxY=", "$type": "00"}', "AxY="),
            ("7.90", "7.90"),
            ("true", "true"),
            ('"007"', "007"),
            ('"{\\"$oid\\":\\"5cebdf84c9e3f8b35a8b4567\\"}"', '{"$oid":"5cebdf84c9e3f8b35a8b4567"}'),
        ),
        bad=('{"$numberLong": "05"}', '{"$oid": "5ceb"}', '[{"$date": "2019-05-27"}]'),
    ),
    numbers=json_number.FORM,
)
