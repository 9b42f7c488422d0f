"""The runs of a directory, without Spark: what counts, whatever was stopped half-way."""

import fcntl
import json
import os
import shutil

import duckdb
import pyarrow as pa
import pytest
from msgspec.structs import replace
from topics import scope_of
from written_reports import report_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES
from cdc_contracts.registry.core.records.output_schemas import LEDGER_SCHEMA
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.tables.canonical.table_layouts import ColumnLayout, TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace, TableWriter
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.runs.emptied_tables import describe_unfollowed, finalize_resets, find_emptied
from cdc_contracts.spark_checks.runs.finished_runs import PastRuns, grown_layouts
from cdc_contracts.spark_checks.runs.intent_log import LoggedIntent, LoggedReplay
from cdc_contracts.spark_checks.runs.quarantine_files import list_quarantine
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.runs.run_records import (
    RecordedBatch,
    RunRecord,
    write_ranges,
    write_record,
    write_stream,
    write_table_record,
)
from cdc_contracts.spark_checks.runs.transactions import check_settled
from cdc_contracts.spark_checks.table_readers import table_files
from cdc_contracts.spark_checks.tables.table_formats import WriteMode
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings, WriteKey

PARQUET, DELTA = WriteMode(), WriteMode("delta", None, current=True)
ORDERS = TableName("shop", None, "orders")
NOTHING = report_of({})
LEDGER = pa.RecordBatch.from_pylist(
    [{name: 0 if name != "topic" else "t" for name in LEDGER_SCHEMA.names if "timestamp" not in name}],
    schema=LEDGER_SCHEMA,
)


def layout(*columns, awaited=()):
    reported = tuple(ColumnLayout(name, type_, None, None) for name, type_ in columns)
    return TableLayout(ORDERS, reported, (), "messages", awaited)


def begun(run, spans, topics=(), *, key=None, write_mode=PARQUET, drops_repeats=False, compared=()):
    written = {"table_format": write_mode.table_format, "table_schema": None, "current": write_mode.current}
    described = {"contract": "x@1", "stream": write_stream(key), "topics": dict(topics), "ranges": write_ranges(spans)}
    repeats = {"drops_repeats": drops_repeats, "compared": tuple(sorted(compared))}
    return LoggedIntent(run=run, **described, **repeats, **written)


@pytest.fixture
def runs(tmp_path):
    return RunDirectory(str(tmp_path))


@pytest.fixture
def begin(runs):
    """Write the files of an attempt at a run; returns its place and the record it would have."""

    def write(run, token, window=(0, 10), *, replaces=(), layouts=(), topics=()):
        place = SinkPlace(runs.root, run, token)
        writer = TableWriter(place, "changes", LEDGER.schema, "00000-0")
        writer.write(LEDGER)
        parts = tuple(writer.close())
        return place, RunRecord(
            run=run, attempt=token, replaces=replaces, contract="x@1", contract_fingerprint="f",
            table_contracts_fingerprint="g", ranges=write_ranges({Source("t", 0): Span(*window)}), counts={},
            files=parts, table_format="parquet", table_schema=None, drops_repeats=False,
            tables=tuple(map(write_table_record, layouts)), topics=dict(topics), stream=RecordedBatch("query", 3),
        )  # fmt: skip

    return write


def test_a_run_counts_from_its_record_on_and_no_file_of_a_killed_attempt_stays(runs, begin, tmp_path):
    begin("aaaa", "killed")
    assert (runs.past(), runs.find("aaaa")) == ((), None)
    _, record = begin("aaaa", "done")
    begin("bbbb", "other")
    runs.commit(record, NOTHING)
    assert runs.find("aaaa").stream == RecordedBatch("query", 3)
    assert runs.report("aaaa") == NOTHING
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.parquet"))
    assert left == ["changes/run=aaaa/part-00000-0-done.parquet", "changes/run=bbbb/part-00000-0-other.parquet"]


def test_an_attempt_that_is_stopped_when_it_counts_already_takes_nothing_away(runs, begin, tmp_path):
    place, record = begin("aaaa", "done")
    runs.commit(record, NOTHING)
    runs.discard(place)
    assert len(list(tmp_path.rglob("*.parquet"))) == 1


def test_a_run_whose_files_another_process_has_removed_does_not_count(runs, begin):
    _, slow = begin("aaaa", "slow")
    _, fast = begin("aaaa", "fast")
    runs.commit(fast, NOTHING)
    with pytest.raises(UnavailableError, match="another process"):
        runs.commit(slow, NOTHING)
    assert runs.find("aaaa").attempt == "fast"


@pytest.mark.parametrize("text", ["", "null", "[]", '{"run": "aa', "\xff", "[" * 100_000], ids=range(6))
@pytest.mark.parametrize("folder", ["_runs", "_begun", "_reports"])
def test_a_record_that_was_cut_off_is_refused_by_name(runs, begin, tmp_path, folder, text):
    _, record = begin("aaaa", "done")
    runs.begun.add(begun("bbbb", {Source("t", 0): Span(10, 20)}))
    runs.commit(record, NOTHING)
    damaged = tmp_path / folder / f"{'bbbb' if folder == '_begun' else 'aaaa'}.json"
    damaged.write_text(text, encoding="latin-1")
    fresh = RunDirectory(str(tmp_path))
    with pytest.raises(UnavailableError, match="the file is damaged") as refused:
        (fresh.begun.notes if folder == "_begun" else lambda: fresh.finished("aaaa"))()
    assert (refused.value.where, "from a copy" in refused.value.hint) == (str(damaged), True)


def test_a_copy_of_a_record_is_refused_since_its_rows_would_count_twice(runs, begin, tmp_path):
    runs.commit(begin("aaaa", "done")[1], NOTHING)
    shutil.copy(tmp_path / "_runs" / "aaaa.json", tmp_path / "_runs" / "aaaa (copy).json")
    for fresh in (runs, RunDirectory(str(tmp_path))):
        with pytest.raises(UnavailableError, match="this is a copy of the record of run aaaa") as refused:
            list(fresh.records())
        assert refused.value.where == f"{tmp_path}/_runs/aaaa (copy).json"
    (tmp_path / "_runs" / "aaaa (copy).json").unlink()
    assert [record.run for record in runs.records()] == ["aaaa"]


def test_a_finished_run_whose_file_is_gone_is_not_reported_as_finished(runs, begin, tmp_path):
    runs.commit(begin("aaaa", "done")[1], NOTHING)
    assert runs.finished("aaaa") is not None
    (file,) = (tmp_path / "changes").rglob("*.parquet")
    file.unlink()
    with pytest.raises(UnavailableError, match="missing or truncated") as refused:
        runs.finished("aaaa")
    assert refused.value.where == f"{tmp_path}/changes/run=aaaa/{file.name}"


def test_a_run_that_was_replaced_does_not_count_even_where_its_record_is_left(runs, begin, tmp_path):
    _, old = begin("aaaa", "old")
    runs.commit(old, NOTHING)
    shutil.copytree(tmp_path, tmp_path.parent / "before")
    _, new = begin("bbbb", "new", (5, 15), replaces=("old",))
    runs.commit(new, NOTHING, replaced=["aaaa"])
    assert [path.stem for path in (tmp_path / "_runs").iterdir()] == ["bbbb"]
    # As a kill right after the new record was written leaves it.
    shutil.copytree(tmp_path.parent / "before", tmp_path, dirs_exist_ok=True)
    fresh = RunDirectory(str(tmp_path))
    assert [past.run for past in fresh.past()] == ["bbbb"]
    assert fresh.find("aaaa") is None
    # The same run once more, or a third one, finds no other to replace, and takes the place of the only record of it.
    for run, token, replaces in (("bbbb", "once more", ()), ("cccc", "third", ("new",))):
        killed = RunDirectory(str(shutil.copytree(tmp_path, tmp_path.parent / token)))
        place = SinkPlace(killed.root, run, token)
        writer = TableWriter(place, "changes", LEDGER.schema, "00000-0")
        writer.write(LEDGER)
        over = replace(new, run=run, attempt=token, replaces=replaces, files=tuple(writer.close()))
        killed.commit(over, NOTHING, replaced={"bbbb"} - {run})
        assert [past.run for past in RunDirectory(killed.directory).past()] == [run]
        assert [path.parent.name for path in (tmp_path.parent / token).rglob("*.parquet")] == [f"run={run}"]
    fresh.objects(fresh.find("bbbb"))
    assert [path.parent.name for path in tmp_path.rglob("*.parquet")] == ["run=bbbb"]
    # And back again: the attempts tell which of the two is the newer.
    shutil.copytree(tmp_path, tmp_path.parent / "between")
    _, again = begin("aaaa", "newest", replaces=("new",))
    runs.commit(again, NOTHING, replaced=["bbbb"])
    shutil.copytree(tmp_path.parent / "between", tmp_path, dirs_exist_ok=True)
    assert [past.run for past in RunDirectory(str(tmp_path)).past()] == ["aaaa"]


def test_records_of_earlier_releases_are_read(runs, begin, tmp_path):
    _, record = begin("aaaa", "done")
    kept = ("run", "contract", "contract_fingerprint", "range", "counts", "files")
    (tmp_path / "_runs").mkdir()
    document = {name: write_record(record)[name] for name in kept}
    (tmp_path / "_runs" / "aaaa.json").write_text(json.dumps(document))
    (past,) = runs.past().overlapping("bbbb", {Source("t", 0): Span(9, 20)})
    assert (past.run, past.layouts, past.positions) == ("aaaa", (), {})
    assert runs.past().overlapping("bbbb", {Source("t", 0): Span(10, 20), Source("t", 1): Span(0, 5)}) == []
    assert runs.past().overlapping("bbbb", {Source("t", 0): Span(5, 5)}) == []


def test_what_a_run_relies_on_is_looked_at_while_no_other_can_publish(runs, begin, tmp_path):
    _, record = begin("aaaa", "done")
    looked = []

    def look(*_):
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        looked.append(runs.past().names)

    (tmp_path / "_runs").mkdir()
    folder = os.open(tmp_path / "_runs", os.O_RDONLY)
    try:
        runs.begun.add_replay("bbbb", {"of": []}, look)
        runs.commit(record, NOTHING, check=look)
    finally:
        os.close(folder)
    assert looked == [frozenset()] * 2


def test_a_reader_that_takes_its_columns_from_the_first_file_sees_all_of_them(runs, begin, tmp_path):
    narrow, wide = layout(("id", pa.int64())), layout(("id", pa.int64()), ("note", pa.string()))
    for run, one, window in (("aaaa", narrow, (0, 10)), ("bbbb", wide, (10, 20)), ("cccc", narrow, (20, 30))):
        place, record = begin(run, run, window)
        rows = pa.RecordBatch.from_pylist([{"after": {}}], pa.schema([("after", one.image)]))
        writer = TableWriter(place, f"tables/{ORDERS.text}", rows.schema, "00000-0")
        writer.write(rows)
        parts = tuple(writer.close())
        runs.commit(replace(record, tables=(write_table_record(one, rows=1, parts=parts),)), NOTHING)
    paths = [one.path for one in table_files(str(tmp_path))]
    assert len(paths) == 3
    assert duckdb.read_parquet(paths).select("after.*").columns == ["id", "note"]


@pytest.mark.parametrize("replaces", [False, True])
def test_a_directory_keeps_to_the_format_of_its_tables(runs, begin, tmp_path, replaces):
    runs.commit(replace(begin("aaaa", "one")[1], table_format="delta"), NOTHING)
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    source, output = read_files([tmp_path / "a.jsonl"], parse_range(), tasks=1), Output(str(tmp_path), replace=replaces)
    with pytest.raises(UnavailableError, match="aaaa keeps its tables as delta in the directory") as refused:
        decode_input(LOCAL, source, scope_of("dts/canal@2"), output, fail_on="error")
    assert refused.value.hint == "Choose another directory, or continue with --table-format delta."


def test_a_directory_that_keeps_current_rows_goes_on_keeping_them(runs, begin, tmp_path):
    runs.commit(replace(begin("aaaa", "one")[1], current=True), NOTHING)
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    source = read_files([tmp_path / "a.jsonl"], parse_range(), tasks=1)
    with pytest.raises(UnavailableError, match="aaaa keeps the current rows of its tables: they would") as refused:
        decode_input(LOCAL, source, scope_of("dts/canal@2"), Output(str(tmp_path)), fail_on="error")
    assert refused.value.hint == "Choose another directory, or continue with --current."


def test_what_empties_a_table_is_kept_and_one_that_may_mean_several_tables_empties_none(runs, begin):
    def truncation(database, offset):
        reported = {"contract": "x@1", "topic": "t", "partition": 0, "offset": offset, "position": None}
        return TableReset(database, None, ("orders",), "TRUNCATE", emptied=True, **reported)

    others = TableName("other", None, "orders")
    first, vague = finalize_resets([truncation("shop", 4), truncation(None, 5)], [ORDERS, others], NO_FAMILIES)
    assert (first.emptied, vague.emptied) == (True, False)
    record = replace(begin("aaaa", "one")[1], table_format="delta", current=True, upheavals=(first, vague))
    runs.commit(record, NOTHING)
    assert list(describe_unfollowed(record)) == ["not applied to current rows: TRUNCATE of orders (t/0@5)"]

    spans, new = {Source("t", 0): Span(10, 20)}, truncation("other", 12)
    past = runs.past()
    found = find_emptied([new], spans, past, [ORDERS, others], NO_FAMILIES)
    assert found == {
        others: Emptyings((new,), spans),
        ORDERS: Emptyings((), spans, ((first, {Source("t", 0): Span(0, 10)}),)),
    }


def test_a_replay_goes_where_the_runs_went(runs, begin):
    runs.commit(replace(begin("aaaa", "one")[1], table_schema="lake.bronze", current=True, drops_repeats=True), NOTHING)
    found = list_quarantine(runs)
    assert (found.find_schema(None), found.find_schema("lake.bronze")) == ("lake.bronze", "lake.bronze")
    assert (found.current, found.drops) == (True, True)
    with pytest.raises(UsageError, match=r"in table:lake\.bronze, not in lake\.silver"):
        found.find_schema("lake.silver")
    runs.commit(begin("bbbb", "other", (10, 20))[1], NOTHING)
    with pytest.raises(UsageError, match=r"in several places: table:lake\.bronze, the directory"):
        list_quarantine(runs).find_schema(None)


def test_a_replay_of_a_topic_that_no_run_has_read_is_refused(runs, begin):
    runs.commit(begin("aaaa", "one")[1], NOTHING)
    found = list_quarantine(runs)
    found.check_topics(["t"], "out")
    with pytest.raises(UsageError, match="no run there has read topic tt") as refused:
        found.check_topics(["t", "tt"], "out")
    assert (refused.value.where, refused.value.hint) == ("out", "Near it are: t.")


def test_a_directory_holds_rows_of_one_topic_of_a_name(runs, begin, tmp_path):
    for run, window, known in (
        ("aaaa", (0, 10), {"t": "first"}),
        ("bbbb", (10, 20), {}),
        ("cccc", (20, 30), {"u": "x"}),
    ):
        runs.commit(begin(run, run, window, topics=known)[1], NOTHING)
    runs.begun.add(begun("dddd", {Source("w", 0): Span(0, 1)}, {"w": "first"}))
    past = runs.past()
    runs.begun.check_topics({"t": "first", "u": "x", "v": "new"}, past)
    runs.begun.check_topics({}, past)
    runs.begun.check_topics({"t": "second"}, past, without=["aaaa"])
    fresh = RunDirectory(str(tmp_path))
    for known, run in (({"t": "second"}, "aaaa"), ({"t": "first", "w": "second"}, "dddd")):
        with pytest.raises(UnavailableError, match=f"is not the topic that run {run} read") as refused:
            fresh.begun.check_topics(known, past, without=["bbbb"])
        assert "another directory" in refused.value.hint


def test_layouts_of_runs_side_by_side_come_together_in_one_way():
    narrow = layout(("id", pa.int64()), ("b", pa.string()), awaited=("c", "z"))
    wide = layout(("id", pa.int64()), ("c", pa.string()), ("d", pa.date32()))
    for order in ([narrow, wide], [wide, narrow]):
        whole = grown_layouts(order)[ORDERS]
        assert [column.name for column in whole.columns] == ["id", "c", "d", "b"]
        assert whole.awaited == ("z",)


def test_a_run_does_not_count_where_another_has_resolved_a_type_differently_meanwhile():
    mine, theirs = layout(("id", pa.int64())), layout(("ID", pa.string()))
    check_settled({ORDERS: mine}, {ORDERS: mine})
    check_settled({}, {ORDERS: mine})
    with pytest.raises(UnavailableError, match="column id as string, not int64"):
        check_settled({ORDERS: theirs}, {ORDERS: mine})


def test_what_was_cut_off_in_tables_that_keep_versions_is_finished_by_the_same_run_only(runs, begin):
    spans = {Source("t", 0): Span(0, 10), Source("t", 1): Span(5, 7)}
    later = {Source("t", 0): Span(0, 12)}
    runs.begun.add(begun("aaaa", spans, {"t": "first"}))
    runs.begun.add(begun("aaaa", spans, {"t": "first"}))
    runs.begun.check_cut_off("bbbb", {Source("t", 0): Span(10, 12), Source("u", 0): Span(0, 9)})
    with pytest.raises(UnavailableError, match="aaaa was interrupted") as refused:
        runs.begun.add(begun("bbbb", later))
    assert """t --from '{"0": 0, "1": 5}' --until '{"0": 10, "1": 7}' under x@1""" in refused.value.hint
    _, record = begin("aaaa", "done")
    runs.commit(record, NOTHING)
    runs.begun.check_cut_off("bbbb", later)
    runs.begun.add(begun("cccc", {Source("v", 0): Span(0, 1)}, key=WriteKey("query", 4)))
    with pytest.raises(UnavailableError, match="cccc was interrupted") as refused:
        runs.begun.check_cut_off("dddd", {Source("v", 0): Span(0, 3)})
    assert "checkpoint" in refused.value.hint


def test_a_run_that_looked_before_another_was_done_may_not_write_what_that_one_has(runs, begin, tmp_path):
    mine, theirs = {Source("t", 0): Span(0, 12)}, {Source("t", 0): Span(0, 10)}
    other = RunDirectory(str(tmp_path))
    other.begun.check_cut_off("bbbb", mine)
    runs.begun.add(begun("aaaa", theirs))
    runs.commit(begin("aaaa", "done")[1], NOTHING)
    with pytest.raises(UnavailableError, match="run aaaa has decoded some of these records in the meantime"):
        other.begun.add(begun("bbbb", mine))
    assert other.begun.notes() == []


def test_a_run_that_was_started_is_finished_in_the_way_it_was_started(runs, begin):
    spans = {Source("t", 0): Span(10, 20)}
    runs.commit(replace(begin("aaaa", "done")[1], table_format="delta"), NOTHING)
    runs.begun.add(begun("bbbb", spans, write_mode=DELTA, drops_repeats=True, compared=frozenset({"aaaa"})))
    runs.commit(replace(begin("cccc", "late", (20, 30))[1], table_format="delta"), NOTHING)
    past = runs.past()
    # What is noted first holds: the rows that are in tables already were compared with those of `aaaa` alone.
    runs.begun.add(begun("bbbb", spans, write_mode=DELTA, drops_repeats=True, compared=past.names))
    assert (runs.begun.comparable("bbbb", past).names, runs.begun.comparable("dddd", past)) == ({"aaaa"}, past)
    runs.begun.check_repeats("bbbb", dropped=True)
    runs.begun.check_repeats("dddd", dropped=False)
    with pytest.raises(UnavailableError, match="started with --drop-duplicates"):
        runs.begun.check_repeats("bbbb", dropped=False)
    runs.begun.check_write_mode(DELTA, past)
    with pytest.raises(UnavailableError, match="run bbbb keeps the current rows") as refused:
        runs.begun.check_write_mode(WriteMode("delta"), past)
    assert refused.value.hint == "Choose another directory, or continue with --current."
    with pytest.raises(UnavailableError, match="run bbbb keeps its tables as delta in the directory"):
        runs.begun.check_write_mode(PARQUET, PastRuns())


def test_a_replay_that_was_started_is_reported_until_it_is_done_and_keeps_no_run_out(runs, begin):
    noted = LoggedReplay(("cccc",), (), ())
    for _ in range(2):
        runs.begun.add_replay("aaaa", noted, lambda: None)
    with pytest.raises(UnavailableError, match="replay aaaa with another contract was started"):
        runs.begun.add_replay("dddd", noted, lambda: None)
    runs.begun.add(begun("bbbb", {Source("t", 0): Span(0, 10)}))
    assert [(note.run, bool(note.replay)) for note in runs.begun.notes()] == [("aaaa", True), ("bbbb", False)]
    _, record = begin("bbbb", "done")
    runs.commit(record, NOTHING)
    runs.begun.forget("aaaa")
    assert runs.begun.notes() == []


def test_an_intent_is_written_member_by_member_and_a_broken_one_is_refused_with_its_path(runs, tmp_path):
    runs.begun.add(begun("aaaa", {Source("t", 0): Span(0, 10)}, {"t": "Zk3"}, key=WriteKey("query", 4)))
    runs.begun.add_replay("bbbb", LoggedReplay(("cccc",), (), ("t",)), lambda: None)
    folder = tmp_path / "_begun"
    written = {
        "run": "aaaa", "contract": "x@1", "stream": {"query": "query", "batch": 4}, "topics": {"t": "Zk3"},
        "range": [{"topic": "t", "partition": 0, "start": 0, "end": 10}], "drops_repeats": False, "compared": [],
        "table_format": "parquet", "table_schema": None, "current": False,
    }  # fmt: skip
    replay = {"run": "bbbb", "replay": {"of": ["cccc"], "after": [], "topics": ["t"]}}
    assert (folder / "aaaa.json").read_text() == json.dumps(written, indent=2) + "\n"
    assert (folder / "bbbb.json").read_text() == json.dumps(replay, indent=2) + "\n"
    (folder / "aaaa.json").write_text(json.dumps(written | {"range": [{"topic": "t"}]}))
    with pytest.raises(UnavailableError, match=r"`partition` - at `\$\.range\[0\]`") as refused:
        runs.begun.notes()
    assert refused.value.where == str(folder / "aaaa.json")
