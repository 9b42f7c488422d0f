"""Messages of a table whose columns an option of the producer decides, as each value of the options writes them."""

import json
from pathlib import Path

from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract

CONTRACT = "debezium/json@4"
SAMPLE = json.loads(
    Path(CATALOGUE.version(CONTRACT).folder, "samples", "insert-from-mysql.json").read_text(encoding="utf-8")
)
SOURCE = SAMPLE["source"]
TABLE = {
    "table": f"{SOURCE['db']}.{SOURCE['table']}",
    "columns": {
        name: {"type": declared}
        for name, declared in (
            ("id", "int"), ("price", "decimal(10,2)"), ("day", "date"), ("made", "datetime(6)"), ("mark", "varbinary(8)"),
            ("late", "time(6)"),
        )
    },
}  # fmt: skip
DECIMALS = {"precise": "BOs=", "string": "12.59", "double": 12.59}
"""12.59 as each value of decimal.handling.mode writes it: 0x04EB is 1259."""
TIMES = {
    "adaptive_time_microseconds": 1718000000000250, "microseconds": 1718000000000250, "connect": 1718000000000,
    "nanoseconds": 1718000000000250000, "isostring": "2024-06-10T06:13:20.00025Z",
}  # fmt: skip
"""2024-06-10 06:13:20.00025 as each value of time.precision.mode writes a DATETIME(6)."""
BYTES = {"hex": "0aff", "base64": "Cv8=", "base64-url-safe": "-_8=", "bytes": "+/8="}


def options_of(parameters=None):
    tables = TableContracts([parse_table_contract(TABLE, "orders.yaml")])
    return ReadingOptions(tables=tables, parameters=parameters or {})


def message(decimals="string", times="connect", marks="hex", price=None, late=0, op="c"):
    row = {
        "id": 1, "price": DECIMALS[decimals] if price is None else price, "made": TIMES[times], "mark": BYTES[marks],
        "late": "00:00:00Z" if times == "isostring" else late,
        "day": "2024-06-10Z" if times == "isostring" else 19884,
    }  # fmt: skip
    return json.dumps({**SAMPLE, "after": row, "op": op}).encode()
