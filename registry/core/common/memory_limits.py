"""Memory limits: a process that gets no more memory could not run (exit 3); it must never end as if it had found drift.

`ulimit -v` and the limits of batch systems make allocations fail, in libraries of C as well.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import CdcContractsError, UnavailableError

_NEEDED_BYTES: Final = MappingProxyType({"numpy": 80 * 2**20, "pyarrow": 230 * 2**20})
"""What libraries map at their start, linear algebra and allocators of their own included, and some more."""
_SAID: Final = ("failed to map segment", "cannot allocate memory", "can't start new thread", "thread failed to start")


def prepare() -> None:
    """Let this process need less memory, and fail as Python does where a library of C would end it."""
    # It starts a thread with a buffer for each core, which nothing here uses.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if _limit() is not None:
        sys.meta_path.insert(0, _Guard())


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, is that there is no more memory."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, ImportError | OSError | RuntimeError) and _says_so(str(error)):
            return True
        if isinstance(error, SystemError) and _limit() is not None:  # C code that did not check an allocation
            return True
        error = error.__cause__ or error.__context__
    return False


def _says_so(text: str) -> bool:
    return any(words in text.lower() for words in _SAID)


def name_lack_of_memory(error: BaseException) -> BaseException:
    """Return the error that says that there is no more memory if that is what it means, otherwise the error itself."""
    if isinstance(error, CdcContractsError) or not isinstance(error, Exception) or not is_out_of_memory(error):
        return error
    return _lack_of_memory()


def _lack_of_memory() -> UnavailableError:
    limit = _limit()
    allowed = "" if limit is None else f", which is limited to {limit // 2**20:,} MB of addresses (ulimit -v)"
    return UnavailableError(
        f"out of memory: the system gives no more to this process{allowed}",
        hint="Raise the limit, or read less at a time (--from, --until, --cores).",
    )


def last_words() -> UnavailableError | None:
    """Return the failure of a process that a library ends; None without a limit, where it would be a bug."""
    return None if _limit() is None else _lack_of_memory()


class _Guard:
    """Refuses the import of a library that would end the process without the memory for its start."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        needed = _NEEDED_BYTES.get(fullname)
        if needed is None:
            return
        import mmap

        try:
            mmap.mmap(-1, needed).close()
        except OSError as error:
            raise MemoryError from error


def _limit() -> int | None:
    """Return the limit of this process in bytes of addresses, None if there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit
