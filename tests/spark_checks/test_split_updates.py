"""Updates in two halves: joined over what is stored, wherever batches and runs ended, and never lost."""

import json

import pyarrow.parquet as pq
import pytest
from topics import CATALOGUE, scope_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.message_samples import split_update
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.split_updates import join_split_updates
from cdc_contracts.spark_checks.table_readers import read_table

STREAMX = "dataworks/streamx@1"
EVENTS = [event for event in row_stream(7, 400, fractions=False) if event.op in ("insert", "update", "delete")]


def messages():
    renderer = Renderer(CATALOGUE.version(STREAMX), ReadingOptions())
    for event in EVENTS:
        for half in split_update(event) if event.op == "update" else (event,):
            yield renderer.render(half)


def decode(engine, path, out, window=("earliest", "latest"), tasks=2):
    source = read_files([path], parse_range(*window), tasks=tasks)
    return decode_input(engine, source, scope_of(STREAMX), Output(str(out)), fail_on="error")


def joined_rows(out):
    rows = pq.read_table(out / "joined").to_pylist()
    return sorted(
        ((row["offset"], dict(row["before"]), dict(row["after"]), row["update_part"]) for row in rows),
        key=lambda row: row[0],
    )


def test_halves_are_joined_alike_wherever_runs_and_tasks_end(spark, engine, tmp_path):
    lines = list(messages())
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    cut = next(place for place, line in enumerate(lines) if place > 50 and b'"UPDATE_AFTER"' in line)
    decode(engine, path, tmp_path / "once", tasks=1)
    decode(engine, path, tmp_path / "t[w]i{c}e?*", ("earliest", f"offset:{cut}"), tasks=3)
    decode(engine, path, tmp_path / "t[w]i{c}e?*", (f"offset:{cut}", "latest"), tasks=4)

    once = join_split_updates(spark, str(tmp_path / "once"))
    twice = join_split_updates(spark, str(tmp_path / "t[w]i{c}e?*"))

    updates = [event for event in EVENTS if event.op == "update"]
    assert once.rows == twice.rows == len(updates) > 100
    assert once.lone == twice.lone == []
    assert read_table(spark, str(tmp_path / "t[w]i{c}e?*"), "shop.orders").count() == len(lines)
    rows = joined_rows(tmp_path / "once")
    assert rows == joined_rows(tmp_path / "t[w]i{c}e?*")
    assert {row[3] for row in rows} == {"joined"}
    for (_, before, after, _), event in zip(rows, updates, strict=True):
        assert (before["id"], after["id"]) == (event.before["id"], event.after["id"])
        assert (before["note"], after["note"]) == (event.before["note"], event.after["note"])


@pytest.mark.nightly
def test_one_message_of_a_split_update_without_the_other_is_reported_with_its_offset_and_stays(
    spark, engine, tmp_path, capsys
):
    lines = list(messages())
    after = next(place for place, line in enumerate(lines) if b'"UPDATE_AFTER"' in line)
    before = next(place for place, line in enumerate(lines) if place > after and b'"UPDATE_BEFOR"' in line)
    kept = lines[: after - 1] + lines[after : before + 1] + lines[before + 2 :]
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(kept) + b"\n")
    decode(engine, path, tmp_path / "out")

    assert main(["decode", "join", str(tmp_path / "out"), "--json"]) == 1

    reported = json.loads(capsys.readouterr().out)
    alone = [(half["update_part"], half["offset"], half["topic"], half["table"]) for half in reported["unpaired"]]
    assert alone == [("after", after - 1, "topic.jsonl", "orders"), ("before", before - 1, "topic.jsonl", "orders")]
    assert reported["joined"] == len([event for event in EVENTS if event.op == "update"]) - 2
    assert reported["rule"] == "D09.split-updates-complete"


@pytest.mark.nightly
def test_one_message_of_a_split_update_that_was_sent_again_is_counted_and_is_no_loss(spark, engine, tmp_path, capsys):
    lines = list(messages())
    after = next(place for place, line in enumerate(lines) if b'"UPDATE_AFTER"' in line)
    path = tmp_path / "topic.jsonl"
    path.write_bytes(
        b"\n".join([*lines[: after + 1], lines[after], lines[after - 1], lines[after], *lines[after + 1 :]])
    )
    decode(engine, path, tmp_path / "out")

    assert main(["decode", "join", str(tmp_path / "out"), "--json"]) == 0

    reported = json.loads(capsys.readouterr().out)
    assert (reported["unpaired"], reported["repeated"]) == ([], 1)
    assert reported["joined"] == len([event for event in EVENTS if event.op == "update"]) + 1


def test_a_folder_without_a_finished_run_is_reported(tmp_path, capsys):
    assert main(["decode", "join", str(tmp_path)]) == 3
    assert "no finished run" in capsys.readouterr().err
