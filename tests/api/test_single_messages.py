"""Single messages by the Python interface: checked, decoded into exact values, explained."""

import json
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import cdc_contracts as cdc

ROOT = Path(__file__).parents[2]
TYPES = {
    "id": "bigint unsigned", "total": "decimal", "rate": "double", "note": "text", "day": "date", "at": "time",
    "made": "datetime", "seen": "timestamp", "photo": "blob",
}  # fmt: skip
ROW = {
    "id": "18446744073709551615", "total": "12345678901234567.10", "rate": "0.5", "note": "", "day": "2024-02-29",
    "at": "-08:00:00.5", "made": "2024-05-06 12:53:20.5", "seen": "2024-05-06 12:53:20.000001", "photo": None,
}  # fmt: skip


def canal(kind, data, old=None, **changed):
    message = {
        "id": 7, "database": "shop", "table": "orders", "pkNames": ["id"], "isDdl": False, "type": kind,
        "es": 1718000000000, "ts": 1718000000250, "sql": "", "sqlType": dict.fromkeys(TYPES, 12), "mysqlType": TYPES,
        "data": data, "old": old, "gtid": None,
    }  # fmt: skip
    return json.dumps(message | changed).encode()


@pytest.fixture(scope="module")
def orders():
    return cdc.contract("dts/canal@2", parameters={"timestamp_zone": "+08:00"})


def test_the_values_of_a_row_are_exact_values_of_python(orders):
    decoded = orders.decode(canal("INSERT", [ROW]))
    (change,) = decoded.changes
    assert (decoded.ok, decoded.outcome, decoded.contract, decoded.table) == (
        True, "conforming", "dts/canal@2", "shop.orders"
    )  # fmt: skip
    assert (change.op, change.database, change.table, change.primary_key) == ("insert", "shop", "orders", ("id",))
    assert change.before is None
    assert change.after == {
        "id": 18446744073709551615, "total": Decimal("12345678901234567.10"), "rate": 0.5, "note": "",
        "day": date(2024, 2, 29), "at": "-08:00:00.5", "made": datetime.fromisoformat("2024-05-06T12:53:20.500"),
        "seen": datetime(2024, 5, 6, 4, 53, 20, 1, tzinfo=UTC), "photo": None,
    }  # fmt: skip
    assert str(change.after["total"]) == "12345678901234567.10"
    assert (change.after["made"].tzinfo, change.after["seen"].tzinfo) == (None, UTC)
    assert (change.event_time, change.position) == (datetime(2024, 6, 10, 6, 13, 20, tzinfo=UTC), "7")
    assert change.row is change.after


def test_a_timestamp_without_a_known_zone_is_naive():
    (change,) = cdc.contract("dts/canal@2").decode(canal("INSERT", [ROW])).changes
    assert change.after["seen"] == datetime.fromisoformat("2024-05-06T12:53:20.000001")


def test_null_missing_and_empty_are_three_things(orders):
    types = {"id": "bigint", "note": "text", "name": "varchar"}
    message = canal(
        "INSERT", [{"id": "1", "note": None, "name": ""}], mysqlType=types, sqlType=dict.fromkeys(types, 12)
    )
    (change,) = orders.decode(message).changes
    assert change.after == {"id": 1, "note": None, "name": ""}
    assert "total" not in change.row
    assert change.before is None


def test_a_number_without_a_type_is_a_decimal_with_its_digits():
    sample = ROOT / "contracts/oms-community/default/v2/samples/insert.json"
    message = json.loads(sample.read_bytes())
    message["postStruct"] = {"id": 1, "note": None, "name": "", "exact": 0.10}
    (change,) = cdc.contract("oms-community/default@2").decode(json.dumps(message).replace("0.1}", "0.10}")).changes
    assert change.after == {"id": Decimal(1), "note": None, "name": "", "exact": Decimal("0.10")}
    assert str(change.after["exact"]) == "0.10"


def test_both_sides_of_the_swap_are_read_as_their_contract_says():
    first, second = dict(ROW, note="first"), dict(ROW, note="second")
    message = canal("UPDATE", [first], [second])
    notes = {}
    for reference in ("dts/canal@1", "dts/canal@2"):
        (change,) = cdc.contract(reference).decode(message).changes
        notes[reference] = (change.before["note"], change.after["note"])
    assert notes == {"dts/canal@1": ("first", "second"), "dts/canal@2": ("second", "first")}


def test_what_no_value_of_python_is_stays_text_and_is_named(orders):
    decoded = orders.decode(canal("INSERT", [dict(ROW, made="0000-00-00 00:00:00")]))
    (change,) = decoded.changes
    assert change.after["made"] == "0000-00-00 00:00:00"
    assert change.kept_as_text == ("after.made",)


def test_drift_is_a_result_and_not_an_exception(orders):
    checked = orders.check(canal("UPSERT", [ROW]))
    assert (checked.ok, checked.outcome, checked.contract) == (False, "drifted", "dts/canal@2")
    (finding,) = [one for one in checked.findings if one.severity == "error"]
    assert (finding.rule, finding.drift_class, finding.path) == ("D08.op", "unknown-enum", "/type")
    assert finding.sentence == (
        "unknown-enum at /type: expected one of INSERT, UPDATE, DELETE, INIT, DDL, observed UPSERT"
    )
    decoded = orders.decode(canal("UPSERT", [ROW]))
    assert (decoded.changes, decoded.control, decoded.findings) == ((), None, checked.findings)


def test_a_message_without_a_row_is_a_control_message(orders):
    decoded = orders.decode(canal("DDL", None, isDdl=True, sql="DROP TABLE orders", sqlType=None, mysqlType=None))
    assert (decoded.outcome, decoded.changes) == ("control", ())
    assert (decoded.control.kind, decoded.control.ddl_text) == ("ddl", "DROP TABLE orders")


def test_a_tombstone_conforms_and_has_nothing_to_read(orders):
    decoded = orders.decode(None)
    assert (decoded.ok, decoded.outcome, decoded.changes, decoded.control) == (True, "tombstone", (), None)


class ConfluentMessage:
    """A message as confluent-kafka has it: its parts are methods."""

    def __init__(self, value, error=None):
        self._value, self._error = value, error

    def value(self):
        return self._value

    def error(self):
        return self._error


class ConsumerRecord:
    """A record as aiokafka and kafka-python have it: its parts are attributes."""

    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, bytes.decode, ConfluentMessage, ConsumerRecord])
def test_a_message_is_bytes_text_or_a_record_of_a_client(orders, kind):
    value = canal("INSERT", [ROW])
    assert orders.decode(kind(value)) == orders.decode(value)


KEYED = (
    b'{"before":null,"after":{"id":7},"source":{"version":"3.5.0.Final","connector":"mysql","name":"shop",'
    b'"ts_ms":1718000000000,"snapshot":"false","db":"shop","sequence":null,"ts_us":1718000000000250,'
    b'"ts_ns":1718000000000250000,"table":"orders","server_id":1,"gtid":null,"file":"f","pos":4,"row":0,"thread":null,'
    b'"query":null},"transaction":null,"op":"c","ts_ms":1718000001234,"ts_us":1718000001234005,'
    b'"ts_ns":1718000001234005678}'
)


@pytest.mark.parametrize("kind", [ConfluentMessage, ConsumerRecord])
@pytest.mark.parametrize("key", [b'{"id":7}', '{"id":7}', bytearray(b'{"id":7}')])
def test_the_key_of_a_record_names_the_key_columns_of_a_row(kind, key):
    opened, record = cdc.contract("debezium/json@4"), kind(KEYED)
    record.key = (lambda: key) if kind is ConfluentMessage else key
    (change,) = opened.decode(record).changes
    assert change.primary_key == ("id",)
    assert opened.decode_batch([record, KEYED]).changes.column("primary_key").to_pylist() == [["id"], None]
    assert opened.decode_batch([record]).changes.column("kafka_key").to_pylist() == [b'{"id":7}']


@pytest.mark.parametrize("key", [None, {"id": 7}])
def test_a_key_that_is_no_bytes_states_nothing(key):
    opened, record = cdc.contract("debezium/json@4"), ConsumerRecord(KEYED)
    record.key = key
    assert (opened.check(record).findings, opened.decode(record).changes[0].primary_key) == ((), None)


def test_a_key_that_is_not_that_of_its_row_is_a_warning_and_explained():
    opened, record = cdc.contract("debezium/json@4"), ConsumerRecord(KEYED)
    record.key = b'{"id":8}'
    for result in (opened.check(record), opened.explain(record)):
        assert result.outcome == "conforming"
        assert [(one.rule, one.severity, one.path) for one in result.findings] == [
            ("D09.kafka-key-agrees", "warning", "/after/id")
        ]
    raised = cdc.contract("debezium/json@4", severities={"cross-field": "error"})
    assert (raised.check(record).outcome, raised.check(KEYED).outcome) == ("drifted", "conforming")


def test_text_that_is_no_utf_8_is_a_finding(orders):
    assert orders.check('{"a": "\ud800"}').findings[0].rule == "D01.utf8"


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: cdc.contract("dts/cannal@2"), "there is no contract `dts/cannal`\n  Did you mean dts/canal?"),
        (lambda: cdc.contract("dts"), "`dts` is not a reference to a contract\n  Write SYSTEM/DIALECT or"),
        (lambda: cdc.contract(2), 'a reference is text, not of the type int\n  Give "dts/canal@2", for example'),
        (lambda: cdc.contract("auto"), "must be given\n  `cdc_contracts.detect(messages).contract` finds it."),
        (lambda: cdc.contract("dts/canal@2", tables=[1]), 'of the type list\n  Give a file, a folder, or {"table"'),
        (lambda: cdc.contract("dts/canal@2", tables="no/such"), "there is no file or folder no/such"),
        (lambda: cdc.contract("dts/canal@2", contracts="no/such"), "there is no folder no/such"),
        (lambda: cdc.contract("dts/canal@2", parameters={"zone": "Z"}), "there is no parameter `zone`\n  Known are "),
        (lambda: cdc.contract("dts/canal@2", parameters="+08:00"), 'parameters cannot be of the type str\n  Give {"timestamp'),
        (lambda: cdc.contract("dts/canal@2", parameters={"time_zone": 8}), "a value of parameters is text, not of the type int"),
        (lambda: cdc.contract("dts/canal@2", severities=["error"]), "severities cannot be of the type list"),
        (lambda: cdc.contract("dts/canal@2", contracts=5), "contracts cannot be of the type int\n  Give a folder"),
        (lambda: cdc.Contract("dts/canal@2"), 'is opened by a function\n  Write `cdc_contracts.contract("dts/canal@2")`.'),
        (lambda: cdc.detect(None), "messages cannot be of the type NoneType\n  Give an iterable of bytes"),
        (lambda: cdc.detect({"value": [b"{}"]}), "messages cannot be of the type dict"),
        (lambda: cdc.contract("dts/canal@2").check(5), "cannot be of the type int\n  Give bytes, str, None, or a record"),
        (lambda: cdc.contract("dts/canal@2").check(ConsumerRecord({})), "of the type dict\n  Consume without a deser"),
        (lambda: cdc.contract("dts/canal@2").check(ConfluentMessage(None, "end")), "an error instead of a message: end"),
        (lambda: cdc.contract("dts/canal@2").check({"type": "INSERT"}), "of the type dict\n  Give the bytes or the text as they were received."),
        (lambda: cdc.contract("dts/canal@2", table=5), "a table is text, not of the type int"),
        (lambda: cdc.detect([b"{}"], most=-1), "most is a whole number from 1, not -1"),
        (lambda: cdc.detect([b"{}"], most="all"), "most is a whole number from 1, not 'all'"),
        (lambda: cdc.detect(b"{}"), "several messages are needed, and this is one\n  Put it into a list."),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_to_pass(call, what):
    with pytest.raises(cdc.UsageError) as refused:
        call()
    assert what in str(refused.value)
    assert isinstance(refused.value, cdc.CdcContractsError)


def test_a_contract_that_is_sent_to_another_process_says_what_to_do(orders):
    with pytest.raises(TypeError, match="open it in each process that uses it"):
        pickle.dumps(orders)
    assert pickle.loads(pickle.dumps(orders.check(b"{}"))) == orders.check(b"{}")


def test_a_message_is_explained_as_the_command_explains_it(orders):
    explained = orders.explain(canal("UPSERT", [ROW]))
    assert (explained.outcome, explained.contract, explained.choice) == ("drifted", "dts/canal@2", "declared")
    assert explained.findings[0].meaning.startswith("A code is not in the contract's list")
    assert explained.document["why_version"] == 1
    assert "error D08.op: unknown-enum at /type" in str(explained)
    assert "12345678901234567" not in json.dumps(explained.document)
    assert "12345678901234567" in json.dumps(orders.explain(canal("INSERT", [ROW]), show_values=True).document)


def test_an_explanation_names_the_other_contracts_that_fit(orders):
    assert "dts/canal@1" in orders.explain(canal("INSERT", [ROW])).fits


def test_the_contract_of_messages_is_detected():
    samples = ROOT / "contracts/dts/canal/v2/samples"
    deletes = [(samples / name).read_bytes() for name in ("delete.json", "delete-two-rows.json")]
    found = cdc.detect(iter([*deletes, None]))
    assert (found.verdict, found.contract, found.messages) == ("certain", "dts/canal@2", 2)
    assert found.evidence
    assert cdc.detect([b"no message"]).contract is None


def test_table_contracts_may_be_given_as_their_content():
    contract = cdc.contract(
        "dts/shareplex",
        tables={"table": "shop.orders", "columns": {"id": {"type": "bigint"}}, "primary_key": ["id"]},
    )  # fmt: skip
    assert repr(contract) == "contract('dts/shareplex')"
    assert (contract.reference, contract.versions) == ("dts/shareplex", ("dts/shareplex@1",))


def test_what_is_exported_is_what_type_checkers_see():
    stub = (ROOT / ".src/cdc_contracts/__init__.pyi").read_text(encoding="utf-8")
    names = stub.partition("__all__ = ")[2]
    assert sorted(json.loads(names.replace(",\n]", "]"))) == sorted(cdc.__all__)
    for name in cdc.__all__:
        assert getattr(cdc, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(cdc, "nothing")  # noqa: B009  type checkers know that it is not there
