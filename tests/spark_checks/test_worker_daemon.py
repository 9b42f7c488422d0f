"""Python workers of a session are forked from a process that has imported what their tasks need."""

from zipfile import ZipFile

from cdc_contracts.spark_checks.spark.spark_session import WORKER_DAEMON, _settings

SETTING = "spark.python.daemon.module"


def test_a_worker_has_imported_the_kernel_before_its_first_task(spark):
    def look_around(_):  # within a function, because workers cannot import this module
        import os
        import sys
        from pathlib import Path

        daemon = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
        yield (
            daemon[daemon.index("-m") + 1],
            sorted({"cdc_contracts.registry.core.engine.kernel", "pandas"} - set(sys.modules)),
        )

    found = spark.sparkContext.parallelize(range(4), 4).mapPartitions(look_around).collect()
    assert found == [(WORKER_DAEMON, [])] * 4


def test_a_worker_does_not_read_the_directories_of_archives_again_before_a_task(spark):
    def invalidate(_):
        import importlib
        import zipimport

        read, plain = [], zipimport._read_directory
        zipimport._read_directory = lambda archive: read.append(archive) or plain(archive)
        try:
            importlib.invalidate_caches()  # as Spark does before each task
        finally:
            zipimport._read_directory = plain
        yield read

    assert spark.sparkContext.parallelize([1], 1).mapPartitions(invalidate).collect() == [[]]


def test_a_module_of_an_archive_that_is_added_later_is_found(spark, tmp_path):
    def use(_):
        import added_for_a_test

        yield added_for_a_test.VALUE

    with ZipFile(tmp_path / "added.zip", "w") as archive:
        archive.writestr("added_for_a_test.py", "VALUE = 7")
    spark.sparkContext.addPyFile(str(tmp_path / "added.zip"))
    assert spark.sparkContext.parallelize([1], 1).mapPartitions(use).collect() == [7]


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
