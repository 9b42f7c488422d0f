"""Table contracts that tests of schemas share: one column of each family, and names that few languages allow."""

from __future__ import annotations

from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.generate.event_streams import ORDERS

ORDERS_TABLE = TableContract.model_validate({
    "table": "shop.orders", "primary_key": ["id"], "columns": {name: {"type": reported} for name, reported in ORDERS.types.items()},
})  # fmt: skip
ODD = TableContract.model_validate({
    "table": "shop.odd table",
    "columns": {name: {"type": "int"} for name in (
        'say "a"', "back`tick", "a b", "a_b", "class", "model_dump", "copy", "_under", "1st", "str", "größe", "line\nbreak",
        "it's", "None", "$ref", "before",
    )},
})  # fmt: skip
