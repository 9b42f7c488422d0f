"""Worker daemon: Spark forks its Python workers from a process that has imported what their tasks need.

Spark ends a worker that is idle for a minute, and by default each new one imports everything again. A session of this
machine names this module in `spark.python.daemon.module`; Spark starts it with the name of its worker module.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import pyarrow as pa
from pyspark.daemon import manager

from cdc_contracts.registry.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.engine.kernel import Kernel
from cdc_contracts.registry.validate.validation_context import open_validation
from cdc_contracts.spark_checks import auditing, decoding, spark_tasks

IMPORTED = (auditing, decoding, spark_tasks)


def audit_nothing() -> None:
    """Validate one empty object, which imports what is otherwise imported for the first record, such as pandas.

    This starts no thread, since a forked process has only the thread that forks.
    """
    version = next(iter(shipped_catalogue().all_versions()))
    record = {"value": [b"{}"], "topic": [""], "partition": pa.array([0], pa.int32()), "offset": [0]}
    Kernel(open_validation(shipped_catalogue(), version.reference, ReadingOptions())).audit(
        pa.RecordBatch.from_pydict(record)
    )


if __name__ == "__main__":
    with suppress(Exception):  # a task fails for the same reason, and its failure is reported
        audit_nothing()
    gc.freeze()  # a worker looks for garbage after each task; what was imported is none, and stays shared memory
    manager()  # type: ignore[no-untyped-call]
