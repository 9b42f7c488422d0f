"""How many tasks a session runs at once, and which masters are of this machine."""

import pytest

from cdc_contracts.spark_checks.spark.cluster_workers import count_slots
from cdc_contracts.spark_checks.spark.spark_session import is_local


class Frame:
    """A DataFrame of a server with three cores; what is asked of it is noted."""

    def __init__(self, asked):
        self.asked = asked

    def select(self, _):
        return self

    def distinct(self):
        return self

    def count(self):
        self.asked.append("count")
        return 3


def client(asked):
    """A session as a client of Spark Connect has it: known by the module of its class."""
    conf = type("Conf", (), {"get": lambda self, name, default=None: default})()
    session = type("SparkSession", (), {"conf": conf, "range": lambda self, _: Frame(asked)})
    session.__module__ = "pyspark.sql.connect.session"
    return session()


def test_a_server_is_asked_once_by_a_session_how_many_tasks_it_runs(monkeypatch):
    monkeypatch.setattr("pyspark.sql.functions.spark_partition_id", lambda: None)
    asked = []
    session = client(asked)
    assert [count_slots(session), count_slots(session)] == [3, 3]
    assert asked == ["count"]
    assert count_slots(client(asked)) == 3
    assert asked == ["count", "count"]


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2,4]", True), ("local-cluster[2,1,1024]", False), ("", False),
     ("spark://local:7077", False)],
)  # fmt: skip
def test_a_master_is_local_if_spark_runs_in_one_process(master, local):
    assert is_local(master) is local
