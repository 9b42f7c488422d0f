"""Topics that change versions in mid-stream, decoded by a versions file: each part by its own, each record once."""

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from topics import rendered, scope_of

import cdc_contracts as cdc
from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.spark_checks.table_readers import read_table

OLD, NEW = "dts/canal@1", "dts/canal@2"
SWITCHES = (150, 40)
COUNT = 200


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def messages(partition):
    old, new = (rendered(one, COUNT, seed=partition + 3) for one in (OLD, NEW))
    return [*old[: SWITCHES[partition]], *new[SWITCHES[partition] :]]


def file_of(**bounds):
    """A versions file of two partitions of the topic `orders`: what is OLD up to, and NEW from."""
    return {
        str(partition): [{"to": until, "contract": OLD}, {"from": start, "contract": NEW}]
        for partition, (until, start) in enumerate(bounds["at"])
    }


def sent(partition):
    """The changes of a partition as they were sent, by offset."""
    validations = {one: scope_of(one) for one in (OLD, NEW)}
    return {
        offset: validations[OLD if offset < SWITCHES[partition] else NEW].validate(value).changes
        for offset, value in enumerate(messages(partition))
    }


def rows_of(out, table):
    """What a reader sees who trusts the records of finished runs alone."""
    records = [json.loads(path.read_text()) for path in sorted((out / "_runs").glob("*.json"))]
    paths = [out / part["path"] for record in records for part in record["files"] if part["table"] == table]
    return [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]


def assert_as_sent(rows, places):
    """Each of these places is there once, and both images are as they were sent."""
    reported = {partition: sent(partition) for partition in range(2)}
    assert Counter((row["partition"], row["offset"]) for row in rows) == Counter(places)
    for row in rows:
        change = reported[row["partition"]][row["offset"]][row["row_index"]]
        images = [None if row[side] is None else dict(row[side]) for side in ("before", "after")]
        assert images == [change.before, change.after]


def files(here):
    """The two partitions as files, and the versions file of them."""
    for partition in range(2):
        (here / f"p{partition}.jsonl").write_bytes(b"\n".join(messages(partition)) + b"\n")

    def write(*at, **more):
        ranges = file_of(at=at)
        reported = {f"p{partition}.jsonl": {partition: ranges[str(partition)]} for partition in range(2)}
        (here / "v.yaml").write_text(f"# {more.get('note', '')}\n" + json.dumps({"topics": reported}))

    return write


@pytest.mark.nightly
def test_what_a_file_leaves_open_is_decoded_once_by_a_replay_with_the_corrected_file(spark, here, capsys):
    write = files(here)
    decode = ["decode", "file", "p0.jsonl", "p1.jsonl", "--versions", "v.yaml", "--to", "out"]
    everything = [(partition, offset) for partition in range(2) for offset in range(COUNT)]
    left = [(0, offset) for offset in range(140, 160)] + [(1, offset) for offset in range(30, 50)]
    write((140, 160), (30, 50))
    assert main(decode) == 4
    assert_as_sent(rows_of(here / "out", "changes"), [place for place in everything if place not in left])
    quarantine = rows_of(here / "out", "quarantine")
    assert [(row["partition"], row["offset"]) for row in quarantine] == left
    assert {(row["outcome"], row["findings"][0]["rule"]) for row in quarantine} == {("ambiguous", "D16.left-open")}

    write((140, 160), (30, 50), note="a comment changes no run")
    assert main(decode) == 4
    assert "already exists" in capsys.readouterr().err
    replay = ["replay", "quarantine", "out", "--versions", "v.yaml"]
    write((150, 150), (30, 50), note="one switch is known now")
    assert main(replay) == 4
    assert "20 decoded, 20 stay in quarantine" in capsys.readouterr().err
    write((150, 150), (40, 40))
    assert main(replay) == 0
    assert "20 decoded, 0 stay in quarantine" in capsys.readouterr().err
    assert_as_sent(rows_of(here / "out", "changes"), everything)
    assert read_table(spark, str(here / "out"), "shop.orders").count() == 2 * COUNT
    before = sorted(path.name for path in Path("out/_runs").iterdir())
    assert main(replay) == 0  # nothing waits any more
    assert sorted(path.name for path in Path("out/_runs").iterdir()) == before


@pytest.mark.nightly
def test_another_meaning_of_the_file_is_another_run_and_a_wrong_range_publishes_nothing(spark, here, capsys):
    write = files(here)
    decode = ["decode", "file", "p0.jsonl", "p1.jsonl", "--versions", "v.yaml", "--to", "out"]
    write((COUNT, COUNT + 1), (40, 40))
    assert main(decode) == 1
    err = capsys.readouterr().err
    assert "nothing was published: p0.jsonl partition 0 offset 1" in err
    assert "is proven to be another version than dts/canal@1, which its range declares" in err
    assert not list(Path("out").glob("_runs/*.json"))
    write((150, 150), (40, 40))
    assert main(decode) == 0
    write((150, 151), (40, 40))
    assert main(decode) == 3
    assert "has decoded some of these records already" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_stream_decodes_each_range_by_its_own_version_in_whatever_batches_it_comes(
    spark, broker, make_topic, here, capsys
):
    values = [messages(partition) for partition in range(2)]
    topic = make_topic([(at % 2, values[at % 2][at // 2]) for at in range(2 * COUNT)], partitions=2)
    (here / "v.yaml").write_text(json.dumps({"topics": {topic: file_of(at=[(150, 150), (30, 50)])}}))
    command = ["decode", "topic", topic, "-b", broker.bootstrap, "--to", "out", "--versions", "v.yaml"]
    follow = [*command, "--follow", "--once", "--max-offsets", "130"]
    assert main(follow) == 4
    left = [(1, offset) for offset in range(30, 50)]
    everything = [(partition, offset) for partition in range(2) for offset in range(COUNT)]
    assert_as_sent(rows_of(here / "out", "changes"), [place for place in everything if place not in left])
    assert sorted((row["partition"], row["offset"]) for row in rows_of(here / "out", "quarantine")) == left
    assert len(list((here / "out/_runs").glob("*.json"))) == 4

    (here / "v.yaml").write_text(json.dumps({"topics": {topic: file_of(at=[(150, 150), (40, 40)])}}))
    assert main(["replay", "quarantine", "out", "--versions", "v.yaml"]) == 0
    assert_as_sent(rows_of(here / "out", "changes"), everything)
    capsys.readouterr()
    assert main(["audit", "topic", topic, "-b", broker.bootstrap, "--versions", "v.yaml", "--json"]) == 0
    by_spark = capsys.readouterr().out
    assert (
        main(["audit", "topic", topic, "-b", broker.bootstrap, "--versions", "v.yaml", "--json", "--engine", "local"])
        == 0
    )
    assert capsys.readouterr().out == by_spark
    assert main(["detect", "topic", topic, "-b", broker.bootstrap, "--write-versions", "w.yaml"]) == 4
    assert main(["audit", "topic", topic, "-b", broker.bootstrap, "--versions", "w.yaml", "--engine", "local"]) in (
        0,
        4,
    )


@pytest.mark.nightly
def test_a_data_frame_is_read_by_a_versions_file_too(spark, here):
    rows = [(value, "orders", partition, offset) for partition in range(2)
            for offset, value in enumerate(messages(partition))]  # fmt: skip
    df = spark.createDataFrame(rows, "value binary, topic string, partition int, offset long").repartition(3)
    ranges = {"topics": {"orders": file_of(at=[(one, one) for one in SWITCHES])}}
    (here / "versions.yaml").write_text(json.dumps(ranges))
    decoded = cdc.decode(df, versions=here / "versions.yaml")
    assert decoded.quarantine.count() == 0
    changes = [row.asDict(recursive=True) for row in decoded.changes.collect()]
    assert_as_sent(changes, [(p, offset) for p in range(2) for offset, sides in sent(p).items() for _ in sides])
    report = json.loads(cdc.audit(df, versions=here / "versions.yaml").frame.first().report)
    assert report["verdict"] == "pass"


@pytest.mark.parametrize("reported", [{}, {"contract": NEW, "versions": "versions.yaml"}])
def test_the_contract_of_a_data_frame_is_declared_in_one_way(spark, reported):
    df = spark.createDataFrame([], "value binary, topic string, partition int, offset long")
    with pytest.raises(UsageError, match="either a contract or a versions file"):
        cdc.audit(df, **reported)
