"""What is inferred from messages, and what it rests on; the expected contracts are written by hand."""

from __future__ import annotations

import json
import random
import re
from contextlib import suppress
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pytest
import yaml
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.common.yaml_documents import parse_document
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contract_files import write_table_contract
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.tables.inference import column_evidence as bounds
from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.core.tables.inference.proposal_reports import head_of, notes_of, write_account
from cdc_contracts.registry.core.tables.inference.proposals import propose
from cdc_contracts.registry.core.tables.inference.record_evidence import collect_evidence
from cdc_contracts.registry.core.validate.validation_context import open_validation

TYPED, BARE, UNTYPED = "oms-community/canal@2", "dts/canal@2", "oms-community/default@2"


CODES = {"int": 4, "bigint": -5, "decimal": 3, "varchar": 12, "text": -1, "enum": 1}


def canal(row, types, *, keys=("id",), old=None, table="orders"):
    """An INSERT, or an UPDATE where there is an old row, as OMS Community writes it in Canal form."""
    return {
        "database": "shop", "table": table, "type": "INSERT" if old is None else "UPDATE", "isDdl": False,
        "es": 1718000000000, "ts": 1718000000262, "sql": "",
        "sqlType": {name: CODES[told.partition("(")[0].split()[0]] for name, told in types.items()}, "mysqlType": types,
        "pkNames": None if keys is None else list(keys), "data": [row], "old": None if old is None else [old],
    }  # fmt: skip


def bare(row, types):
    return {**canal(row, types), "id": 7}


def default(row, *, key="id"):
    """An INSERT in OMS's own form, which tells no types."""
    return {
        "prevStruct": None, "postStruct": row,
        "allMetaData": {
            "checkpoint": None, "record_primary_key": key, "record_primary_value": str(row.get(key)),
            "source_identity": None, "dbType": "OB_MYSQL", "storeDataSequence": 13, "table_name": "orders",
            "db": "shop", "timestamp": "1718000000", "uniqueId": "1",
        },
        "recordType": "INSERT",
    }  # fmt: skip


def records_of(messages, *, topic="t"):
    values = [one if isinstance(one, bytes | None) else json.dumps(one).encode() for one in messages]
    count = len(values)
    return pa.record_batch({
        "value": pa.array(values, pa.binary()), "topic": [topic] * count,
        "partition": pa.array([0] * count, pa.int32()), "offset": pa.array(range(count), pa.int64()),
    })  # fmt: skip


def kernel_of(reference, **parameters):
    return Kernel(open_validation(shipped_catalogue(), reference, ReadingOptions(parameters)))


def inferred(messages, reference, **parameters):
    kernel = kernel_of(reference, **parameters)
    found = collect_evidence(kernel, records_of(messages))
    return found, propose(found, kernel.validation.catalogue)


def says(proposal):
    return proposal.contract.model_dump(exclude_defaults=True)


def test_key_columns_are_taken_from_kafka_keys():
    source = {
        "version": "3.5.0.Final", "connector": "mysql", "name": "shop", "ts_ms": 1718000000000, "snapshot": "false",
        "db": "shop", "sequence": None, "ts_us": 1718000000000250, "ts_ns": 1718000000000250000, "table": "lines",
        "server_id": 1, "gtid": None, "file": "f", "pos": 4, "row": 0, "thread": None, "query": None,
    }  # fmt: skip
    rows = [{"note": "x", "line": number, "order": 7} for number in range(3)]
    messages = [
        {"before": None, "after": row, "source": source, "transaction": None, "op": "c", "ts_ms": 1718000001234,
         "ts_us": 1718000001234005, "ts_ns": 1718000001234005678}
        for row in rows
    ]  # fmt: skip
    keys = [json.dumps({"order": row["order"], "line": row["line"]}).encode() for row in rows]
    records = records_of(messages).append_column("key", pa.array(keys, pa.binary()))
    kernel = kernel_of("debezium/json@4")
    (proposal,) = propose(collect_evidence(kernel, records), kernel.validation.catalogue)
    assert (proposal.contract.table, proposal.contract.primary_key) == ("shop.lines", ("order", "line"))


def test_types_keys_and_nulls_are_taken_from_the_messages():
    types = {"id": "bigint unsigned", "price": "decimal(10,2)", "note": "varchar(20)"}
    rows = [{"id": 1, "price": 3.10, "note": "x"}, {"id": 2, "price": 123.4, "note": None}]
    messages = [canal(row, types) for row in rows] + [canal({**rows[0], "note": "longer"}, types, old={"note": "x"})]
    found, (proposal,) = inferred([*messages, b"{", None], TYPED)
    assert says(proposal) == {
        "table": "shop.orders",
        "columns": {
            "id": {"type": "bigint unsigned", "nullable": False},
            "price": {"type": "decimal(10,2)"},
            "note": {"type": "varchar(20)"},
        },
        "primary_key": ("id",),
    }
    assert (found.read, found.left_out, proposal.remarks) == (5, 1, ())
    price, note = proposal.evidence.columns["price"], proposal.evidence.columns["note"]
    assert (price.values, price.nulls, price.numbers, price.whole, price.scale) == (4, 0, 4, 3, 1)
    assert (note.values, note.nulls, note.numbers, note.longest) == (4, 1, 0, 6)
    seen = price.types["decimal(10,2)"]
    assert (seen.count, seen.first, seen.last) == (3, ("t", 0, 0), ("t", 0, 2))
    assert notes_of(proposal)["note"] == "3 values, 1 NULL"
    assert head_of(proposal) == "Inferred from 3 rows, t 0@0 to t 0@2, read as oms-community/canal@2."


def test_a_decimal_without_digits_gets_those_that_were_seen():
    types = {"id": "int", "price": "decimal", "none": "decimal"}
    rows = [{"id": "1", "price": "1234.5", "none": None}, {"id": "2", "price": "-0.125", "none": None}]
    _, (proposal,) = inferred([bare(row, types) for row in rows], BARE)
    assert proposal.contract.types == {"id": "int", "price": "decimal(7,3)", "none": "decimal"}
    assert notes_of(proposal)["price"] == "2 values, no NULL seen, up to 4+3 digits; messages give none"


def test_types_that_changed_are_reported_and_the_widest_is_taken():
    rows = [({"id": 1, "n": 1}, {"id": "int", "n": "int"}), ({"id": 2, "n": 2}, {"id": "int", "n": "bigint"})]
    rows.append(({"id": 3, "n": "three"}, {"id": "varchar(5)", "n": "varchar(5)"}))
    rows[2][0]["id"] = "3"
    _, (proposal,) = inferred([canal(row, types) for row, types in [*rows[:2], rows[1]]], TYPED)
    assert proposal.contract.types == {"id": "int", "n": "bigint"}
    assert proposal.remarks == (
        "messages give several types for n: bigint in 2 rows, from t 0@1 on; int in 1 row, from t 0@0 on",
    )
    _, (proposal,) = inferred([canal(row, types) for row, types in [rows[0], rows[0], rows[2]]], TYPED)
    assert proposal.contract.types == {"id": "int", "n": "int"}
    assert [name for name, _ in proposal.columns[1].conflicts] == ["int", "varchar(5)"]


@pytest.mark.parametrize(
    ("keys", "key", "remark"),
    [
        ([["id"], ["id"]], ("id",), None),
        (
            [["id"], ["id", "shop"], ["id"]],
            ("id",),
            "messages give several primary keys; the others: id, shop in 1 row",
        ),
        ([[], []], (), "messages say that there is no primary key"),
    ],
)
def test_the_key_is_the_one_that_most_messages_name(keys, key, remark):
    types = {"id": "int", "shop": "int"}
    _, (proposal,) = inferred([canal({"id": 1, "shop": 2}, types, keys=one) for one in keys], TYPED)
    assert proposal.contract.primary_key == key
    assert proposal.remarks == (() if remark is None else (remark,))


def test_without_types_the_values_decide_and_a_remark_says_so():
    rows = [
        {"id": 1, "price": 12.25, "code": "00123", "at": "1480937452.878926", "yes": True, "none": None, "big": 10**20, "mixed": 1},
        {"id": 22, "price": 3, "code": "7", "at": "1480937452.1", "yes": False, "none": None, "big": 1, "mixed": "x"},
    ]  # fmt: skip
    _, (proposal,) = inferred([default(row) for row in rows], UNTYPED)
    assert proposal.contract.types == {
        "id": "bigint", "price": "decimal(4,2)", "code": "varchar(5)", "at": "varchar(17)", "yes": "boolean",
        "none": "varchar(1)", "big": "decimal(21,0)", "mixed": "varchar(1)",
    }  # fmt: skip
    assert not any(one.declared for one in proposal.columns)
    assert proposal.remarks == ("messages give no types; these are proposed from the values seen",)
    notes = notes_of(proposal)
    assert notes["price"] == "2 values, no NULL seen, proposed: numbers of up to 2+2 digits"
    assert notes["none"] == "0 values, 2 NULL, proposed: nothing but NULL was seen"
    assert "(number and text)" in notes["mixed"]


def test_what_is_proposed_is_in_words_of_the_source():
    message = default({"ID": 1, "NAME": "x", "PRICE": 1.5}, key="ID")
    message["allMetaData"]["dbType"] = "OB_ORACLE"
    _, (proposal,) = inferred([message], "oms/default@2", source_mode="oracle")
    assert proposal.contract.types == {"ID": "NUMBER(19,0)", "NAME": "VARCHAR2(1)", "PRICE": "NUMBER(2,1)"}


@pytest.mark.parametrize("reference", [TYPED, UNTYPED])
def test_what_is_proposed_takes_the_messages_it_was_made_from(reference, tmp_path):
    rows = [{"id": number, "price": number / 8, "name": f"n{number}", "none": None} for number in range(50)]
    types = {"id": "int", "price": "decimal(10,3)", "name": "varchar(9)", "none": "text"}
    messages = [default(row) if reference == UNTYPED else canal(row, types) for row in rows]
    found, (proposal,) = inferred(messages, reference)
    text = write_table_contract(proposal.contract, notes_of(proposal), head_of(proposal))
    (tmp_path / "orders.yaml").write_text(text, encoding="utf-8")
    from cdc_contracts.registry.core.contract.table_contracts import read_table_contracts

    validation = open_validation(shipped_catalogue(), reference, ReadingOptions(tables=read_table_contracts(tmp_path)))
    tally = Kernel(validation).audit(records_of(messages))
    assert sum(counts.conforming for counts in tally.partitions.values()) == len(messages)
    assert not tally.findings
    assert found.left_out == 0


def test_evidence_is_the_same_however_the_records_were_cut():
    types = [{"id": "int", "price": "decimal(10,2)"}, {"id": "int", "price": "decimal(12,2)", "more": "text"}]
    values = [
        canal({"id": n, "price": n / 4, **({"more": None if n % 3 else "x" * n} if n % 2 else {})}, types[n % 2], table=f"t{n % 3}")
        for n in range(60)
    ]  # fmt: skip
    records = records_of([*values, b"[]"])
    kernel = kernel_of(TYPED)

    def account(cuts, order):
        total = InferenceEvidence()
        parts = [records.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, records.num_rows], strict=True)]
        for number in order(range(len(parts))):
            total.merge(collect_evidence(kernel, parts[number]))
        return write_account(total, propose(total, kernel.validation.catalogue))

    whole = account([], list)
    assert [one["table"] for one in whole["tables"]] == ["shop.t0", "shop.t1", "shop.t2"]
    shuffle = random.Random(7)
    for _ in range(8):
        cuts = sorted(shuffle.sample(range(1, 60), 5))
        assert account(cuts, lambda numbers: shuffle.sample(list(numbers), len(numbers))) == whole


def test_names_that_would_end_a_comment_end_none():
    name = 'a\n"b": {type: evil}  # \u2028'
    types = {"id": "int", name: "enum('x\ny: z')"}
    _, (proposal,) = inferred([canal({"id": 1, name: "x"}, types, table="t\nx: 1")], TYPED)
    text = write_table_contract(proposal.contract, notes_of(proposal), head_of(proposal))
    assert parse_table_contract(parse_document(text, "x"), "x") == proposal.contract
    assert yaml.safe_load(text)["table"] == "shop.t\nx: 1"


def test_of_very_many_tables_and_columns_the_first_are_kept(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_TABLES", 3)
    monkeypatch.setattr(bounds, "MOST_COLUMNS", 2)
    names = ["f", "b", "e", "a", "d", "c"]
    row = {"id": 1, **dict.fromkeys(names, 2)}
    messages = [canal(row, dict.fromkeys(row, "int"), table=f"t{name}") for name in names]
    found, proposals = inferred(messages, TYPED)
    assert [one.contract.table for one in proposals] == ["shop.ta", "shop.tb", "shop.tc"]
    assert found.cut
    assert all(set(one.contract.columns) == {"a", "b"} for one in proposals)


def test_messages_without_rows_show_nothing():
    found, proposals = inferred([b"{}", None, b"x"], TYPED)
    assert (found.read, found.left_out, proposals) == (3, 2, [])


UNTOLD = [one for one in CATALOGUE.all_versions() if one.meaning.columns.types == "none"]


@pytest.mark.parametrize("version", UNTOLD, ids=str)
def test_what_is_proposed_for_a_dialect_without_types_takes_its_messages(version):
    table = None if version.meaning.envelope.table is None or version.meaning.envelope.table.at else "shop.orders"
    values = rendered(version.reference, 60, controls=17)
    before = Kernel(open_validation(CATALOGUE, version.reference, ReadingOptions(table=table)))
    found = collect_evidence(before, records_of(values))
    proposals = propose(found, CATALOGUE)
    tables = TableContracts([one.contract for one in proposals])
    after = Kernel(open_validation(CATALOGUE, version.reference, ReadingOptions(tables=tables, table=table)))
    assert len(proposals) == 1
    assert after.audit(records_of(values)).outcomes == before.audit(records_of(values)).outcomes


# --- what is inferred takes all that it was inferred from

EDGES = SourceTable(
    "orders",
    {
        "id": "bigint unsigned", "t": "tinyint unsigned", "i": "int unsigned", "n": "int", "d": "decimal(65,30)",
        "d2": "decimal(10,2)", "f": "double", "g": "float", "b": "bit(64)", "y": "year", "at": "timestamp(6)",
        "made": "datetime(6)", "tm": "time(6)", "day": "date", "note": "text", "photo": "blob",
    },
    ("id",), None, "shop",
)  # fmt: skip
EDGE_ROWS = (
    {
        "id": "18446744073709551615", "t": "255", "i": "4294967295", "n": "-2147483648",
        "d": "12345678901234567890123456789012345.123456789012345678901234567890", "d2": "-99999999.99", "f": "5e-324",
        "g": "1.5", "b": "18446744073709551615", "y": "2155", "at": "2024-06-10T06:13:20.123456Z",
        "made": "9999-12-31T23:59:59.999999", "tm": "-838:59:59", "day": "9999-12-31", "note": "x" * 300, "photo": "AAEC",
    },
    {
        "id": "0", "t": "0", "i": "0", "n": "2147483647", "d": "-0.000000000000000000000000000001", "d2": "0.00",
        "f": "1.7976931348623157e+308", "g": "-3.4e+38", "b": "0", "y": "1901", "at": "1970-01-01T00:00:01Z",
        "made": "1000-01-01T00:00:00", "tm": "838:59:59", "day": "1000-01-01", "note": "", "photo": "",
    },
)  # fmt: skip
LARGE = SourceTable("orders", ORDERS.types, ("id",), None, "shop")
BARE_TYPES = {
    b" unsigned": b"", b'"bigint"': b'"int"', b'"tinyint"': b'"tinyint(1)"', b'"decimal(65,30)"': b'"decimal(5,1)"',
    b'"decimal(20,2)"': b'"decimal(4,1)"', b'"bit(64)"': b'"bit(1)"', b'"bit(8)"': b'"bit(1)"',
}  # fmt: skip
"""Types as a source may tell them that leaves out a word, or was changed since."""


def edges(version):
    """Each value at an edge in a row of its own, for one that a dialect has no place for keeps none of the others."""
    renderer, empty = Renderer(version, ReadingOptions(table="shop.orders")), dict.fromkeys(EDGES.types)
    for row in EDGE_ROWS:
        for name in EDGES.types:
            with suppress(Exception):
                yield renderer.render(Event("insert", EDGES, None, {**empty, "id": row["id"], name: row[name]}))


def large(version):
    """The whole stream of rows, of which the ids are beyond every signed integer."""
    renderer = Renderer(version, ReadingOptions(table="shop.orders"))
    for event in row_stream(5, 60, snapshot=10):
        images = {
            side: image and {**image, "id": str(2**63 + int(image["id"]))}
            for side, image in (("before", event.before), ("after", event.after))
        }
        yield renderer.render(replace(event, table=event.table and LARGE, **images))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("values", [edges, large])
@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_what_is_inferred_takes_all_that_it_was_inferred_from(version, values, part):
    rendered_values = list(values(version))
    bare = [reduce(lambda text, pair: text.replace(*pair), BARE_TYPES.items(), value) for value in rendered_values]
    for messages in part((rendered_values, bare) if version.meaning.transport == "json" else (rendered_values,), 2):
        before = Kernel(open_validation(CATALOGUE, version.reference, ReadingOptions(table="shop.orders")))
        records = records_of(messages)
        proposals = propose(collect_evidence(before, records), CATALOGUE)
        tables = TableContracts([one.contract for one in proposals])
        after = Kernel(
            open_validation(CATALOGUE, version.reference, ReadingOptions(tables=tables, table="shop.orders"))
        )
        untold, told = before.audit(records), after.audit(records)

        assert told.outcomes == untold.outcomes
        if messages is bare and not untold.outcomes["conforming"]:
            assert proposals == []  # no value is within the type that its message names
            continue
        assert len(proposals) == 1
        assert messages is bare or told.outcomes["conforming"] > len(messages) // 2
        new = [(key.rule, key.path) for key in told.findings.keys() - untold.findings.keys()]
        assert messages is bare or new == [], proposals[0].contract.types
        for named in proposals[0].contract.types.values():
            digits = re.search(r"(?i)(?:decimal|number)\((\d+),(\d+)\)", named)
            assert digits is None or (int(digits[1]) <= 65 and int(digits[2]) <= 30), named
