"""A decimal as an object: its scale, and the Base64 of its unscaled big-endian two's complement."""

from cdc_contracts.registry.core.values import structures
from cdc_contracts.registry.core.values.form_schemas import OBJECT
from cdc_contracts.registry.core.values.value_form import Examples, NativeCheck, ValueForm

FORM = ValueForm(
    "decimal-object",
    "decimal",
    OBJECT,
    decoder="raw",
    schema={"type": ["object", "null"]},
    reader=structures.read_scaled,
    writer=structures.write_scaled,
    native=(NativeCheck("DECIMAL_OBJECT"),),
    examples=Examples(
        good=(
            ('{"scale": 2, "value": "AxY="}', "7.90"),
            ('{"value": "/w==", "scale": 3}', "-0.001"),
            ('{"scale": 0, "value": "AA=="}', "0"),
            ('{"scale": -2, "value": "BQ=="}', "500"),
            ('{"scale":2,"value":"AxY="}', "7.90"),
            ('{"scale":30,"value":"/w=="}', "-0.000000000000000000000000000001"),
            ('{"scale":31,"value":"/w=="}', "-0.0000000000000000000000000000001"),
            ('{"scale":0,"value":"gAAAAAAAAAAAAAAAAAAAAA=="}', "-170141183460469231731687303715884105728"),
            ('{"scale":0,"value":"AIAAAAAAAAAAAAAAAAAAAAA="}', "170141183460469231731687303715884105728"),
        ),
        bad=(
            "{}",
            '{"scale": 2}',
            '{"scale": 2, "value": ""}',
            '{"scale": 2, "value": "AxY"}',
            '{"scale": "2", "value": "AxY="}',
            '{"scale": 2.0, "value": "AxY="}',
            '{"scale": 2, "value": "AxY=", "more": 1}',
            '{"scale": 1000000000, "value": "AxY="}',
            '{"scale": -1000000000, "value": "AxY="}',
            '{"scale": 1e400, "value": "AxY="}',
            '{"scale":2,"value":""}',
            '{"scale":2,"value":"AxY"}',
            '{"scale":2,"value":"AxZ="}',
            '{"scale":2,"value":null}',
            '{"scale":2,"value":"AxY=","value":1}',
        ),
    ),
)
