"""Runs that end early: what is halted has ended."""

import threading
import time
from contextlib import suppress

import pytest

from cdc_contracts.spark_checks.engines.stopping import halt


@pytest.mark.nightly
def test_a_task_of_a_session_that_is_halted_writes_nothing_later(spark, tmp_path):
    """Not even one that is busy when it is cancelled, and does not look whether it was."""
    begun, written = tmp_path / "begun", tmp_path / "written"

    def work(batches):
        begun.touch()
        time.sleep(1)
        written.touch()
        yield from batches

    def run():
        with suppress(Exception):
            spark.range(1).mapInArrow(work, "id bigint").collect()

    thread = threading.Thread(target=run)
    thread.start()
    while not begun.exists():
        time.sleep(0.01)
    halt(spark)
    was_written = written.exists()
    time.sleep(2)
    assert written.exists() == was_written
    thread.join()
