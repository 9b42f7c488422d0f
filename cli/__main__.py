"""The entry point of the process of a command."""

from __future__ import annotations

import signal

try:  # noqa: SIM105  every import before this one takes longer than a signal may
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until ours is there; Python's shows a traceback
except ValueError:  # imported by another thread than the main one, which alone handles signals
    pass

import os
import sys
from typing import Final

from cdc_contracts.registry.core.common import signals

signals.end_at_once()

from cdc_contracts.cli.output import console, waiting  # noqa: E402
from cdc_contracts.registry.core.common import memory_limits  # noqa: E402
from cdc_contracts.registry.core.common.errors import CdcContractsError  # noqa: E402
from cdc_contracts.registry.core.common.garbage_collection import (  # noqa: E402
    collect_rarely,
    leave_garbage,
    stop_collecting,
)

KEEPING: Final = frozenset({"lint", "ci"})
"""Commands that keep the documents and samples that they read to the end."""


def main() -> int:
    """Run the command that this process was started with, and return its exit code."""
    console.open_closed_streams()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it reads what every package here declares
    collect_rarely()
    if not KEEPING.isdisjoint(sys.argv[1:2]):
        stop_collecting()
    memory_limits.prepare()
    try:
        waiting.announce(sys.argv[1:])
        _prepare_for_aborts()
        from cdc_contracts.cli import app

        code = app.run(app.main)
    except Exception as error:
        failure = memory_limits.name_lack_of_memory(error)
        if not isinstance(failure, CdcContractsError):
            raise
        return console.report_failure(failure)
    leave_garbage()
    return code


def _prepare_for_aborts() -> None:
    if (failure := memory_limits.last_words()) is not None:
        from cdc_contracts.registry.core.engine.native.native_library import end_on_abort

        end_on_abort(f"error: {failure.what}\n  {failure.hint}\n".encode(), failure.exit_code)


if __name__ == "__main__":
    sys.exit(main())
