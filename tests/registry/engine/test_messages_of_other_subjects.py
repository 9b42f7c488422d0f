"""Messages without rows that a contract lets stand among its own are read by the contracts that describe them."""

import json
from collections import Counter

import pytest
from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.validate.described_contexts import open_detected
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, open_validation

SOURCE = {"version": "3.5.0.Final", "connector": "mysql", "name": "cdc", "ts_ms": 1718000000000, "snapshot": "false",
          "db": "shop", "sequence": None, "table": "orders", "server_id": 1, "gtid": None, "file": "binlog.000001",
          "pos": 4, "row": 0, "thread": None, "query": None}  # fmt: skip
MICROS = {"ts_us": 1718000000000000, "ts_ns": 1718000000000000000}
DDL = {"source": SOURCE | MICROS, "ts_ms": 1718000000001, "databaseName": "shop", "schemaName": None,
       "ddl": "ALTER TABLE orders ADD n INT", "tableChanges": []}  # fmt: skip
BEGIN = {"status": "BEGIN", "id": "731:24000128", "event_count": None, "data_collections": None, "ts_ms": 1718000000000}
END = {**BEGIN, "status": "END", "event_count": 1, "data_collections": []}
HEARTBEAT = {"ts_ms": 1718000000000}
LOGICAL = {"op": "m", "ts_ms": 1718000000001, "source": SOURCE | MICROS | {"connector": "postgresql", "schema": ""},
           "message": {"prefix": "audit", "content": "cGVhcg=="}}  # fmt: skip
NOT_FLATTENED = {"before": None, "after": {"id": 1}, "source": SOURCE | MICROS, "op": "c", "ts_ms": 1718000000001,
                 "transaction": None}  # fmt: skip
ROW = {"id": 1, "name": "pear"}
MARKED = {**ROW, "__op": "c", "__table": "orders"}
OTHERS = [(DDL, "ddl"), (BEGIN, "begin"), (END, "commit"), (HEARTBEAT, "heartbeat"), (LOGICAL, "mark")]
FLAT = "debezium/flat@2"


def validation_of(reference=FLAT, **options):
    return open_validation(CATALOGUE, reference, ReadingOptions(**options))


def written(message):
    return json.dumps(message).encode()


@pytest.mark.parametrize(("message", "kind"), OTHERS)
def test_a_message_of_the_other_subject_is_its_control_message(message, kind):
    validated = validation_of().validate(written(message))

    assert (validated.verdict.outcome, validated.verdict.version.subject) == ("control", "debezium/json")
    assert validated.control.kind == kind


@pytest.mark.parametrize(("message", "kind"), OTHERS)
def test_one_message_alone_is_read_like_one_of_a_batch(message, kind):
    validated = MessageValidator(validation_of()).validate(written(message), decodes=True)

    assert (validated.verdict.outcome, validated.control.kind) == ("control", kind)


def test_a_row_change_of_the_other_subject_stays_a_message_of_another_dialect():
    validation = validation_of()
    validated = validation.validate(written(NOT_FLATTENED))

    assert validated.verdict.outcome == "other-dialect"
    assert validated.verdict.findings[0].observed == "debezium/json"
    (one,) = Kernel(validation).decode(batch_of_values([written(NOT_FLATTENED)]))
    assert [row["outcome"] for row in one.quarantine.to_pylist()] == ["other-dialect"]


def test_a_batch_has_the_same_outcomes_as_the_reference():
    values = [written(one) for one in (MARKED, DDL, ROW, BEGIN, NOT_FLATTENED, END, HEARTBEAT, LOGICAL, MARKED)]
    values += [b"null", None]
    validation = validation_of()

    tally = Kernel(validation).audit(batch_of_values(values, topic="t"))

    by_one = account(validation, Source("t", 0), list(enumerate(values)))
    (counts,) = tally.partitions.values()
    assert (counts.read, counts.conforming, counts.control, counts.tombstone) == (11, 3, 5, 1)
    assert tally.partitions.keys() == by_one.partitions.keys()
    (alone,) = by_one.partitions.values()
    assert (alone.conforming, alone.control, alone.tombstone) == (3, 5, 1)


def test_rows_and_control_messages_are_written_under_their_own_contracts():
    values = [written(one) for one in (MARKED, DDL, MARKED, LOGICAL)]

    (one,) = Kernel(validation_of()).decode(batch_of_values(values))

    assert [row["contract"] for row in one.changes.to_pylist()] == [FLAT, FLAT]
    assert [(row["contract"], row["kind"], row["offset"]) for row in one.control.to_pylist()] == [
        ("debezium/json@4", "ddl", 1), ("debezium/json@4", "mark", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("broken", [{"ts_ms": "now"}, {"databaseName": 7}])
def test_a_message_that_the_other_contract_refuses_is_never_taken_for_a_row(broken):
    validated = validation_of().validate(written(DDL | broken))

    assert validated.verdict.outcome == "drifted"
    assert "D05" in {finding.rule for finding in validated.verdict.findings}


def test_a_row_without_any_mark_is_one_that_may_be_new_or_changed():
    validated = validation_of(table="shop.orders").validate(written({**ROW, "source": "web", "status": "BEGIN"}))

    (change,) = validated.changes
    assert (validated.verdict.outcome, change.op, change.database, change.table) == (
        "conforming", "upsert", "shop", "orders",
    )  # fmt: skip
    assert change.after == {"id": "1", "name": "pear", "source": "web", "status": "BEGIN"}


def beside_block(row):
    kinds = {int: "int64", str: "string"}
    fields = [
        {"type": kinds.get(type(value), "string"), "optional": True, "field": name} for name, value in row.items()
    ]
    return {"schema": {"type": "struct", "fields": fields, "name": "cdc.shop.jobs.Value"}, "payload": row}


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(("reference", "within"), [(FLAT, dict), ("debezium/flat-schema@2", beside_block)])
def test_a_row_with_the_status_of_a_transaction_is_a_row(reference, within, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    rows = [{"id": "5", "status": status, "owner": "ann"} for status in ("BEGIN", "END", "NEW")]
    rows += [{"id": "5", "status": "BEGIN"}, {"status": "END"}, {"status": "END", "ts_ms": 7}]
    values, validation = [written(within(row)) for row in rows], validation_of(reference, table="shop.jobs")
    marks = [written(within(one)) for one in (BEGIN, {**BEGIN, "status": "END", "event_count": 1})]

    (one,) = Kernel(validation).decode(batch_of_values([*values, *marks] * 40))

    images = [dict(row["after"]) for row in one.changes.to_pylist()]
    assert images == [{name: str(value) for name, value in row.items()} for row in rows] * 40
    assert [row["kind"] for row in one.control.to_pylist()] == ["begin", "commit"] * 40
    assert [validation.validate(value).verdict.outcome for value in (*values, *marks)] == (
        ["conforming"] * len(values) + ["control"] * len(marks)
    )


def test_columns_named_like_members_of_the_other_subject_are_read_alike_on_both_paths():
    rows = [{**ROW, "source": value, "__op": "c"} for value in ("web", None, 7, {"connector": "mysql"}, {"a": 1})]
    rows += [{**ROW, "source": value} for value in ("web", None, 7, {"connector": "mysql"}, {"a": 1})]
    values = [written(one) for one in rows]
    validation = validation_of()

    (one,) = Kernel(validation).decode(batch_of_values(values))

    taken = {row["offset"]: row["op"] for row in one.changes.to_pylist()}
    reference = [validation.validate(value) for value in values]
    assert taken == {place: found.changes[0].op for place, found in enumerate(reference) if found.changes}
    assert taken.keys() == {0, 1, 2, 3, 4, 5, 6, 7, 9}


def detection_of(messages):
    accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
    for offset, message in enumerate(messages):
        accumulator.add(RecordPlace("t", 0, offset), written(message))
    return detect(accumulator)


def test_a_topic_of_rows_and_of_messages_of_the_other_subject_follows_one_contract():
    found = detection_of([MARKED, DDL] * 20)

    assert (found.verdict, found.subject) == ("likely", "debezium/flat")
    assert {version.subject for version in found.detected} == {"debezium/flat"}


def test_messages_of_the_other_subject_alone_are_its_own():
    found = detection_of([DDL] * 20)

    assert (found.verdict, found.version.reference) == ("certain", "debezium/json@4")


def test_a_row_without_any_mark_is_of_no_contract_unless_one_is_declared():
    assert detection_of([ROW] * 20).verdict == "not-in-catalogue"


def test_a_topic_that_was_flattened_in_its_middle_is_read_by_both_contracts():
    messages = [NOT_FLATTENED] * 20 + [MARKED] * 20
    found = detection_of(messages)
    assert found.verdict == "mixed"

    subjects = tuple(dict.fromkeys(version.subject for version in found.detected))
    for order in (subjects, subjects[::-1]):
        validation = open_detected(CATALOGUE, DetectedSubjects(order, ()), ReadingOptions())
        (one,) = Kernel(validation).decode(batch_of_values(list(map(written, messages))))
        assert one.quarantine.num_rows == 0
        named = Counter(row["contract"].partition("@")[0] for row in one.changes.to_pylist())
        assert named == {"debezium/json": 20, "debezium/flat": 20}
