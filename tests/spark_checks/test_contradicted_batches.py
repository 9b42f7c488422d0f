"""Evidence that turns against what a stream has published: the runs are named, with commands that read them again."""

import json
import shlex

import pyarrow.parquet as pq
import pytest
from chain_topics import FULL, NEW, OLD, render
from jsonschema import Draft202012Validator
from producing import produce

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.report.stored_reports import report_schema

ROWS = 8


@pytest.fixture
def call(spark, broker, tmp_path, monkeypatch, capsys):
    """A function that follows a topic into `out`, and returns its exit code, what it said and its report."""
    monkeypatch.chdir(tmp_path)

    def run(topic, *more, contract=NEW):
        capsys.readouterr()
        stream = ["decode", "topic", topic, "--to", "out", "--follow", "--once", "--max-offsets", f"{ROWS}"]
        code = main([*stream, "-b", broker.bootstrap, "--contract", contract, "--json", *more])
        out, err = capsys.readouterr()
        report = json.loads(out) if out else None
        assert report is None or not [*Draft202012Validator(report_schema()).iter_errors(report)]
        return code, err, report

    return run


def image(row, state):
    return {"id": f"{row}", "name": f"s{state}", "size": "1"}


def updates(rows, state, *, start, version=OLD):
    """Messages of UPDATEs that bring rows from a state to the next."""
    return [
        render(start + place, [(image(row, state), image(row, state + 1))], version, FULL)
        for place, row in enumerate(rows)
    ]


def inserts(rows, *, start):
    return [render(start + place, [(None, image(row, 0))], OLD, FULL) for place, row in enumerate(rows)]


def runs_in(folder):
    """The ids of the runs of a stream by batch, as their files say."""
    records = [json.loads(path.read_text()) for path in folder.glob("_runs/*.json")]
    return dict(sorted((record["stream"]["batch"], record["run"]) for record in records if record["stream"]))


def states_in(folder):
    """The states that every change left and entered, by partition and offset, as the finished runs have them."""
    records = [json.loads(path.read_text()) for path in folder.glob("_runs/*.json")]
    paths = [folder / part["path"] for record in records for part in record["files"] if part["table"] == "changes"]
    return {
        (row["partition"], row["offset"]): tuple(
            (dict(row[side]) or {}).get("name") if row[side] else None for side in ("before", "after")
        )
        for path in paths
        for row in pq.read_table(path, partitioning=None).to_pylist()
    }


def run_again(command):
    """The name of the command and its exit code."""
    words = shlex.split(command)
    assert words[0] == "cdc-contracts"
    return words[1], main(words[1:])


@pytest.mark.parametrize(
    "restarts",
    [
        pytest.param(False, id="in one start", marks=pytest.mark.nightly),
        pytest.param(True, id="with a restart before each batch"),
    ],
)
def test_batches_published_before_links_turn_are_named_and_the_command_reads_them_as_they_were(
    call, broker, make_topic, tmp_path, restarts
):
    # No row changes twice until the third batch: nothing tells the versions apart before.
    batches = [updates(range(8), 0, start=0), updates(range(8, 16), 0, start=8), updates(range(8), 1, start=16)]
    topic = make_topic([])
    for number, values in enumerate(batches):
        produce(broker, topic, values)
        if restarts and number < 2:
            assert call(topic)[0] == 0
    code, said, report = call(topic, "--report", "r.json")
    runs = runs_in(tmp_path / "out")
    assert (code, report["verdict"], [*runs]) == (1, "drift", [0, 1]), said
    named = report["contradicted"]
    assert [(one["batch"], one["run"]) for one in named["runs"]] == sorted(runs.items())
    assert [(one["from"], one["to"]) for run in named["runs"] for one in run["ranges"]] == [(0, 8), (8, 16)]
    assert (named["withheld"], json.loads((tmp_path / "r.json").read_text())) == (2, report)
    assert all(run in said for run in runs.values()), said
    assert all(command in said for command in named["read_again"])

    assert [run_again(command) for command in named["read_again"]] == [("decode", 0)]

    assert runs_in(tmp_path / "out") == {}
    truth = {(0, n): (f"s{n // 16}", f"s{n // 16 + 1}") for n in range(24)}
    assert states_in(tmp_path / "out") == truth
    produce(broker, topic, updates(range(8), 2, start=24))
    code, said, report = call(topic, "--new-epoch", "--checkpoint", "ck", contract=OLD)
    assert (code, report["ledger"]["partitions"][0]["start"], "contradicted" in report) == (0, 24, False), said
    assert states_in(tmp_path / "out") == {**truth, **{(0, n): ("s2", "s3") for n in range(24, 32)}}


@pytest.mark.nightly
def test_batches_that_are_proven_to_be_of_their_version_are_not_named(call, broker, make_topic, tmp_path):
    batches = [
        *(updates(range(8), state, start=8 * state, version=NEW) for state in (0, 1)),
        *(updates(range(8, 16), state, start=16 + 8 * state) for state in (0, 1)),
    ]
    topic = make_topic([(0, value) for values in batches for value in values])
    code, said, report = call(topic)
    runs, named = runs_in(tmp_path / "out"), report["contradicted"]
    assert (code, [*runs], named["withheld"]) == (1, [0, 1, 2], 3), said
    assert [one["run"] for one in named["runs"]] == [runs[2]]

    assert [run_again(command) for command in named["read_again"]] == [("decode", 0)]

    assert runs_in(tmp_path / "out") == {0: runs[0], 1: runs[1]}
    assert states_in(tmp_path / "out") == {(0, n): (f"s{n // 8 % 2}", f"s{n // 8 % 2 + 1}") for n in range(32)}


@pytest.mark.nightly
def test_a_batch_in_which_the_version_changes_is_read_again_by_ranges(call, broker, make_topic, tmp_path):
    sent = [(row, state, NEW) for state in (0, 1) for row in range(8)]
    sent += [(0, 2, NEW), (1, 2, NEW), *((row, state, OLD) for state in (0, 1) for row in range(8, 15))]
    values = [updates([row], state, start=at, version=version)[0] for at, (row, state, version) in enumerate(sent)]
    topic = make_topic([(0, value) for value in values])
    code, said, report = call(topic)
    runs, named = runs_in(tmp_path / "out"), report["contradicted"]
    assert (code, [*runs], [one["run"] for one in named["runs"]]) == (1, [0, 1, 2], [runs[2]]), said

    (found, _), decoded = [run_again(command) for command in named["read_again"]]
    assert (found, decoded) == ("detect", ("decode", 0))

    truth = {(0, at): (f"s{state}", f"s{state + 1}") for at, (_, state, _) in enumerate(sent)}
    assert states_in(tmp_path / "out") == truth


def test_a_batch_that_contradicts_earlier_ones_and_reads_alike_itself_is_published_and_names_them(
    call, broker, make_topic, tmp_path
):
    # INSERTs that come late, in another partition: every version reads them alike.
    topic = make_topic([(0, value) for value in updates(range(8), 0, start=8)], partitions=2)
    assert call(topic)[0] == 0
    produce(broker, topic, inserts(range(8), start=0), partition=1)
    code, said, report = call(topic)
    runs, named = runs_in(tmp_path / "out"), report["contradicted"]
    assert (code, report["verdict"], [*runs], named["withheld"]) == (1, "drift", [0, 1], None), said
    assert [one["run"] for one in named["runs"]] == [runs[0]]
    assert runs[0] in said
    assert call(topic)[2]["contradicted"] == named

    assert [run_again(command) for command in named["read_again"]] == [("decode", 0)]

    truth = {(partition, n): ((None, "s0") if partition else ("s0", "s1")) for partition in (0, 1) for n in range(8)}
    assert states_in(tmp_path / "out") == truth
