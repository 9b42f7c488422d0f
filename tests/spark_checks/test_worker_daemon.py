"""Python workers of a session are forked from a process that has imported what their tasks need."""

from cdc_contracts.spark_checks.spark_session import WORKER_DAEMON, _settings

SETTING = "spark.python.daemon.module"


def test_a_worker_has_imported_the_kernel_before_its_first_task(spark):
    def look_around(_):  # within a function, because workers cannot import this module
        import os
        import sys
        from pathlib import Path

        daemon = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
        yield (
            daemon[daemon.index("-m") + 1],
            sorted({"cdc_contracts.registry.engine.kernel", "pandas"} - set(sys.modules)),
        )

    found = spark.sparkContext.parallelize(range(4), 4).mapPartitions(look_around).collect()
    assert found == [(WORKER_DAEMON, [])] * 4


def test_a_daemon_that_the_user_names_is_started_instead(spark):
    system = spark.sparkContext._jvm.java.lang.System
    system.setProperty(SETTING, "pyspark.daemon")
    try:
        conf, local = _settings(spark.sparkContext._jvm, {}, 1, print)
    finally:
        system.clearProperty(SETTING)
    assert (conf.get(SETTING), local) == ("pyspark.daemon", True)


def test_workers_of_a_cluster_are_started_as_spark_starts_them(spark):
    conf, local = _settings(spark.sparkContext._jvm, {"spark.master": "spark://head:7077"}, None, print)
    assert (conf.get(SETTING), local) == (None, False)
