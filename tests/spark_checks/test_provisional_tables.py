"""Rows that tasks type while they validate are those that are typed once the whole run is known, and no others count."""

import json
import random
from itertools import count

import pyarrow.parquet as pq
import pytest
from topics import rendered, scope_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LocalEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.transactions import Attempt
from cdc_contracts.spark_checks.tables import decode_tasks, parquet_tables, provisional_tables, typed_files
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables, WriteJob

REFERENCE = "oms-community/canal@2"
CODES = {"int": 4, "bigint": -5, "varchar(9)": 12, "decimal(9,2)": 3, "datetime": 93}
VALUES = {
    "int": 7,
    "bigint": 9_000_000_000,
    "varchar(9)": "text",
    "decimal(9,2)": 1.25,
    "datetime": "2024-05-01 10:00:00",
}


def change(table, types, number=0):
    """An INSERT of a table with columns of these types; its messages carry them."""
    return json.dumps({
        "database": "shop", "table": table, "type": "INSERT", "isDdl": False, "es": 1_700_000_000_000 + number,
        "ts": 1_700_000_000_000, "sql": "", "pkNames": ["id"], "mysqlType": types,
        "sqlType": {name: CODES[type_] for name, type_ in types.items()},
        "data": [{name: VALUES[type_] for name, type_ in types.items()}], "old": None,
    }).encode()  # fmt: skip


def ddl(text):
    return json.dumps({
        "database": "shop", "table": "a", "type": "ALTER", "isDdl": True, "es": 1_700_000_000_000,
        "ts": 1_700_000_000_000, "sql": text, "pkNames": None, "mysqlType": None, "sqlType": None, "data": None,
        "old": None,
    }).encode()  # fmt: skip


class SeveralTasks(LocalEngine):
    """The engine of this process as several tasks, each of some neighbouring records."""

    def __init__(self, tasks):
        self.share = tasks

    def run_in_order(self, source, work, *, mergeable=False):
        batches = list(source.in_order())
        rows = sum(batch.num_rows for batch in batches)
        size, found = -(-rows // self.share), []
        for start in range(0, rows, size):
            mine, before = [], 0
            for batch in batches:
                first, last = max(start - before, 0), min(start + size - before, batch.num_rows)
                mine += [batch.slice(first, last - first)] if first < last else []
                before += batch.num_rows
            found += [(one.as_py(),) for result in work(iter(mine)) for one in result.column(0)]
        return found


class AfterTheRun(ParquetTables):
    """Tables whose rows are typed once the run is known."""

    typed_above = None


@pytest.fixture
def retyped(monkeypatch):
    """The tables of which rows were typed in a second pass; None stands for all of a file."""
    found, run = [], WriteJob.run
    monkeypatch.setattr(WriteJob, "run", lambda job, numbers: found.extend(job.wanted.values()) or run(job, numbers))
    return found


@pytest.fixture
def decode(tmp_path, monkeypatch):
    """Decode runs of messages into a directory, and return what it holds."""
    numbers = count()
    monkeypatch.setattr(decode_tasks, "attempt_name", lambda: f"{next(numbers):05d}-0")

    def run(out, runs, *, tables=None, contract=REFERENCE, tasks=1, contracts=(), **options):
        directory, held = tmp_path / out, []
        for place, messages in enumerate(runs):
            path = tmp_path / f"{place}.jsonl"
            path.write_bytes(b"\n".join(messages) + b"\n")
            validation = scope_of(contract, tables=TableContracts(contracts))
            output = Output(str(directory), tables=tables or ParquetTables(), **options)
            source = read_files([path], parse_range(), tasks=1)
            decoded = decode_input(SeveralTasks(tasks), source, validation, output, fail_on="error")
            held.append(what_counts(directory, decoded))
        there = {str(path.relative_to(directory)) for path in directory.rglob("*.parquet")}
        records = [json.loads(path.read_text()) for path in (directory / "_runs").glob("*.json")]
        assert there == {part["path"] for record in records for part in files_of(record)}
        return held

    return run


def files_of(record):
    return [*record["files"], *(part for one in record["tables"] for part in one["files"])]


def place_of(row):
    return tuple(row.get(name, row.get(f"_{name}", 0)) for name in ("topic", "partition", "offset", "row_index"))


def what_counts(directory, decoded):
    """The rows of a run by table with the schema of their files, its record but for names of files, and its report."""
    record = json.loads((directory / "_runs" / f"{decoded.run}.json").read_text())
    rows, schemas = {}, {}
    for part in files_of(record):
        read = pq.read_table(directory / part["path"], partitioning=None)
        folder = part["path"].partition("/run=")[0]
        rows.setdefault(folder, []).extend(read.to_pylist())
        schemas.setdefault(folder, set()).add(str(pq.read_schema(directory / part["path"])))
    rows = {folder: sorted(found, key=place_of) for folder, found in rows.items()}
    record.pop("attempt")
    record["files"] = sorted((part["table"], part["rows"]) for part in record["files"])
    for one in record["tables"]:
        one["files"] = sum(part["rows"] for part in one["files"])
    return rows, schemas, record, (directory / "_reports" / f"{decoded.run}.json").read_bytes()


def joined(record):
    """A record without how many files an output has, which is how many tasks there were."""
    return {
        **record,
        "files": {table: sum(n for one, n in record["files"] if one == table) for table, _ in record["files"]},
    }


def both(decode, runs, **options):
    """Decode in one pass and in two; what counts is the same, and is returned."""
    before = decode("before", runs, tables=AfterTheRun(), **{**options, "tasks": 1})
    after = decode("after", runs, **options)
    for (rows, schemas, record, report), (mine, own_schemas, own_record, own_report) in zip(before, after, strict=True):
        assert mine == rows
        assert own_schemas == schemas
        assert joined(own_record) == joined(record)
        assert own_report == report
    return after


def alone(decode, runs, **options):
    """Decode runs with and without `changes/`; all else is the same."""
    kept = decode("kept", runs, tables=AfterTheRun(), **{**options, "tasks": 1})
    left = decode("left", runs, keeps_changes=False, **options)
    for (rows, schemas, record, report), (mine, own_schemas, own_record, own_report) in zip(kept, left, strict=True):
        rows.pop("changes", None)
        schemas.pop("changes", None)
        assert mine == rows
        assert own_schemas == schemas
        record = joined(record)  # noqa: PLW2901
        record["files"].pop("changes", None)
        assert own_record.pop("outputs") == ["tables"]
        assert joined(own_record) == record
        reported = json.loads(report)
        assert reported.pop("repeats")["rows"] == 0
        assert json.loads(own_report) == reported
    return left


ORDERS = {"id": "int", "note": "varchar(9)"}


def test_rows_whose_types_messages_carry_are_written_once(decode, retyped):
    runs = [[change("ab"[number % 2], ORDERS, number) for number in range(40)]]
    ((rows, *_),) = both(decode, runs, tasks=3)
    assert retyped == [None]  # of the pass that types after the run
    assert len(rows["tables/shop.a"]) == 20


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_only_a_table_that_another_task_has_seen_otherwise_is_typed_again(decode, retyped, tasks):
    wider = {**ORDERS, "more": "datetime"}
    messages = [change("ab"[number % 2], ORDERS, number) for number in range(20)]
    messages += [change("a", wider, 20), change("b", ORDERS, 21)]
    ((_, _, record, _),) = both(decode, [messages], tasks=tasks)
    layouts = {one["table"]: [column["name"] for column in one["layout"]["columns"]] for one in record["tables"]}
    assert layouts == {"shop.a": ["id", "note", "more"], "shop.b": ["id", "note"]}
    again = [sorted(name.table for name in names) for names in retyped[1:]]
    assert again == [["a"]] * (tasks - 1)


@pytest.mark.parametrize("later", [{**ORDERS, "more": "int"}, {"id": "varchar(9)", "note": "varchar(9)"}])
def test_a_table_whose_layout_changes_after_its_first_rows_were_typed_is_typed_again(
    decode, retyped, monkeypatch, later
):
    monkeypatch.setattr(provisional_tables, "FIRST_BYTES", 0)
    monkeypatch.setattr(typed_files, "_ENOUGH_BYTES", 0)
    monkeypatch.setattr(Kernel, "gather", one_by_one)
    both(decode, [[change("a", ORDERS), change("b", ORDERS), change("a", later), change("a", ORDERS)]])
    assert [sorted(name.table for name in names) for names in retyped[1:]] == [["a"]]


def one_by_one(_kernel, batches):
    for batch in batches:
        for place in range(batch.num_rows):
            yield batch.slice(place, 1)


def test_a_wider_integer_changes_no_layout(decode, retyped):
    both(decode, [[change("a", {"id": "int"}), change("a", {"id": "bigint"})]], tasks=2)
    assert retyped == [None]


def test_layouts_of_runs_before_and_columns_that_ddl_adds(decode, retyped):
    wider = {**ORDERS, "more": "int", "made": "datetime"}
    runs = [
        [change("a", ORDERS, number) for number in range(9)],
        [change("a", wider, 10), ddl("ALTER TABLE a ADD COLUMN more int"), change("a", wider, 11)],
        [change("a", wider, 12), change("c", wider, 13)],
    ]
    *_, (_, _, record, _) = both(decode, runs)
    assert [column["name"] for column in record["tables"][0]["layout"]["columns"]] == ["id", "note", "more"]
    assert retyped == [None, None, None]


def test_a_table_contract_says_what_a_dialect_without_types_does_not(decode, retyped):
    columns = {"id": {"type": "bigint unsigned", "nullable": False}, "total": {"type": "decimal(20,2)"}}
    contract = parse_table_contract({"table": "shop.orders", "columns": columns, "primary_key": ["id"]}, "orders.yaml")
    messages = rendered("oms-community/default@2", 60)
    both(decode, [messages], contract="oms-community/default@2", contracts=[contract], tasks=2)
    assert retyped == [None]


def test_repeats_that_are_dropped_have_everything_typed_again(decode, retyped):
    lines = rendered("dts/canal@2", 30)
    runs = [[*lines[:20], *lines[12:]]]
    both(decode, runs, contract="dts/canal@2", drop_duplicates=True, tasks=1)
    assert retyped == [None, None]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(8))
def test_whatever_comes_in_whatever_order_and_however_it_is_cut(decode, monkeypatch, seed):
    draw = random.Random(seed)
    monkeypatch.setattr(provisional_tables, "FIRST_BYTES", draw.choice([0, 2_000, 50_000]))
    monkeypatch.setattr(typed_files, "_ENOUGH_BYTES", draw.choice([0, 5_000]))
    monkeypatch.setattr(typed_files, "WAITING_BYTES", draw.choice([3_000, 10**8]))
    monkeypatch.setattr(typed_files, "MOST_OPEN", draw.choice([1, 3, 200]))
    if draw.random() < 0.5:
        monkeypatch.setattr(Kernel, "gather", one_by_one)
    runs = []
    for _ in range(draw.choice([1, 2])):
        messages = []
        for number in range(draw.choice([3, 60])):
            names = draw.sample(["id", "note", "Note", "more", "last"], draw.randint(1, 5))
            types = {name: draw.choice(list(CODES) if draw.random() < 0.1 else ["int"]) for name in names}
            shown = ORDERS if draw.random() < 0.8 else types
            messages.append(change(draw.choice("abcdef"), shown, number))
            if draw.random() < 0.05:
                messages.append(ddl(f"ALTER TABLE {draw.choice('abc')} ADD COLUMN {draw.choice(names)} int"))
        runs.append(messages)
    tasks = draw.choice([1, 1, 2, 7])
    both(decode, runs, tasks=tasks)
    alone(decode, runs, tasks=tasks)


@pytest.fixture
def read(monkeypatch):
    """How often the source was read."""
    found, run = [], SeveralTasks.run_in_order

    def count_and_run(engine, source, work, **options):
        found.append(source)
        return run(engine, source, work, **options)

    monkeypatch.setattr(SeveralTasks, "run_in_order", count_and_run)
    return found


@pytest.mark.parametrize(("later", "times"), [(ORDERS, 1), ({**ORDERS, "more": "int"}, 2)])
def test_tables_alone_need_the_source_again_only_where_a_later_task_shows_other_columns(decode, read, later, times):
    messages = [change("ab"[number % 2], ORDERS, number) for number in range(20)]
    alone(decode, [[*messages, change("a", later, 20)]], tasks=3)
    assert len(read) == 1 + times


def test_tables_alone_hold_the_quarantine_and_the_control_messages_as_ever(decode, tmp_path):
    runs = [
        [change("a", ORDERS), b"{", ddl("ALTER TABLE a ADD COLUMN more int"), change("a", {**ORDERS, "more": "int"})]
    ]
    ((rows, *_),) = alone(decode, runs)
    assert {name: len(held) for name, held in rows.items()} == {
        "tables/shop.a": 2, "quarantine": 1, "control": 1, "ledger": 1
    }  # fmt: skip
    assert not (tmp_path / "left" / "changes").exists()


def test_a_directory_keeps_changes_of_all_its_runs_or_of_none(decode):
    decode("out", [[change("a", ORDERS)]], keeps_changes=False)
    with pytest.raises(UnavailableError, match="was decoded with --outputs tables") as caught:
        decode("out", [[change("a", ORDERS), change("a", ORDERS)]])
    assert "continue with --outputs tables" in caught.value.hint


@pytest.mark.parametrize("options", [{"drop_duplicates": True}, {"tables": AfterTheRun()}])
def test_what_needs_changes_is_refused_without(options):
    with pytest.raises(UsageError, match=r"needs changes/"):
        Output("out", keeps_changes=False, **options)


@pytest.mark.parametrize("step", [(Attempt, "_finalize"), (parquet_tables, "keep_provisional")])
def test_nothing_is_left_of_a_run_that_fails_after_rows_were_typed(decode, tmp_path, monkeypatch, step):
    def fail(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(*step, fail)
    with pytest.raises(RuntimeError):
        decode("out", [[change("a", ORDERS)]])
    assert list((tmp_path / "out").rglob("*.parquet")) == []


def test_nothing_is_left_of_a_task_that_fails(decode, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(provisional_tables, "FIRST_BYTES", 0)
    monkeypatch.setattr(typed_files, "_ENOUGH_BYTES", 0)
    monkeypatch.setattr(provisional_tables.ProvisionalTables, "close", fail)
    with pytest.raises(RuntimeError):
        decode("out", [[change("a", ORDERS)]])
    assert list((tmp_path / "out").rglob("*.parquet")) == []
