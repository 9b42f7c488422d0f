"""Lookalikes: messages of a subject that are almost alike, of which not all have the same verdict."""

from __future__ import annotations

from typing import Any

from mutations import DROP, to_bytes, to_json

from cdc_contracts.registry.core.values import Number


def canal(subject: str, **more: Any) -> bytes:
    row = {"id": Number("1"), "name": "n"} if subject.startswith("oms") else {"id": "1", "name": "n"}
    message = {
        "database": "shop", "table": "t", "type": "INSERT", "isDdl": False, "es": Number("1718000000000"),
        "ts": Number("1718000000001"), "sql": "", "sqlType": {"id": Number("-5"), "name": Number("12")},
        "mysqlType": {"id": "bigint", "name": "varchar"}, "pkNames": ["id"], "data": [row], "old": None,
        **({} if subject.startswith("oms") else {"id": Number("5")}), **more,
    }  # fmt: skip
    return to_bytes({name: value for name, value in message.items() if value is not DROP})


def statement(value: Any) -> bytes:
    about = {"dbType": "OB_MYSQL", "table_name": "t", "db": "shop", "timestamp": None}
    return to_bytes({"recordType": "DDL", "allMetaData": about, "postStruct": {"ddl": value}})


FULL = {"id": "1", "name": "n"}


def mark(extend: Any = None, **payload: Any) -> bytes:
    whole = {"op": "GTID", "timestamp": {"eventTime": Number("1718000000000")}, **payload}
    return to_json({"version": "2.0", "payload": whole, "extend": extend}).encode()


LOOKALIKES = {
    "a statement and what is none, in a place where rows stand": (
        "oms-community/default",
        [statement("DROP TABLE t"), statement(Number("7")), statement(None), statement(value=True)],
    ),
    "an op that is a number and one that is a truth value": (
        "oms-community/canal",
        [canal("oms", type=Number("1")), canal("oms", type=True), canal("oms", type=Number("0")), canal("oms", type=False)],
    ),
    "a flag that is a number and one that is a truth value": (
        "dts/canal",
        [canal("dts"), canal("dts", isDdl=Number("0")), canal("dts", isDdl=Number("1")), canal("dts", isDdl=True)],
    ),
    "rows of a DELETE, whole and not, where an UPDATE has changed columns only": (
        "dts/canal",
        [canal("dts", type="DELETE", data=None, old=[row]) for row in (FULL, {"name": "n"}, {"id": "1"}, {})],
    ),
    "rows of a DELETE beside a row that should not be there": (
        "dts/canal@1",
        [canal("dts", type="DELETE", data=[FULL], old=[row]) for row in (FULL, {"name": "n"}, {})],
    ),
    "rows of the full load where an UPDATE has changed columns only": (
        "dts/canal",
        [canal("dts", type="INIT", data=None, old=rows) for rows in ([FULL, FULL], [FULL, {"id": "2"}], [{}, FULL])],
    ),
    "changed columns without the row they were changed in": (
        "dts/canal",
        [canal("dts", type="UPDATE", data=data, old=[row]) for data in (None, DROP) for row in (FULL, {"id": "2"}, {"name": "m"})],
    ),
    "as many changed rows as rows, but not of the same row": (
        "dts/canal",
        [
            canal("dts", type="UPDATE", data=data, old=old)
            for data in ([FULL], [FULL, {}], [{}, FULL])
            for old in ([{}, FULL], [FULL, {}], [{"id": "2"}, {"name": "m"}])
        ],
    ),
    "lists and maps that hold values of other kinds": (
        "oms-community/dataworks",
        [mark(extend=value) for value in ({"a": "x"}, {"a": "y"}, {"a": [Number("1")]}, [], {"a": {}}, None)],
    ),
    "an object of the envelope whose members are of other kinds, where another record had a number": (
        "oms-community/dataworks",
        [
            mark(timestamp=value)
            for value in (Number("7"), {"eventTime": []}, {"eventTime": Number("1")}, {"eventTime": None}, {}, [])
        ],
    ),
}  # fmt: skip
