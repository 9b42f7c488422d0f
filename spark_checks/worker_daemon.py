"""Worker daemon: Spark forks its Python workers from a process that has imported what their tasks need.

Spark ends a worker that is idle for a minute, and by default each new one imports everything again. A session of this
machine names this module in `spark.python.daemon.module`; Spark starts it with the name of its worker module.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from zipimport import zipimporter

import pyarrow as pa
from pyspark.daemon import manager

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks import auditing, decoding
from cdc_contracts.spark_checks.tasks import spark_tasks

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


class OpenedArchive(zipimporter):
    """An archive of modules whose directory is read once, as those of Spark do not change while it runs.

    Spark invalidates all import caches before each task. Python before 3.12 then reads the directory of the archive
    again for every package imported from it, which takes a worker some 60 milliseconds per task.
    """

    def invalidate_caches(self) -> None:
        """Keep the directory."""


def keep_archives_open() -> None:
    """Have the archives that modules were imported from keep their directories; later ones are read as usual."""
    for path, finder in list(sys.path_importer_cache.items()):
        if type(finder) is zipimporter:
            sys.path_importer_cache[path] = OpenedArchive(path)


if __name__ == "__main__":
    with suppress(Exception):  # a task fails for the same reason, and its failure is reported
        audit_nothing()
    keep_archives_open()
    gc.freeze()  # a worker looks for garbage after each task; what was imported is none, and stays shared memory
    manager()  # type: ignore[no-untyped-call]
