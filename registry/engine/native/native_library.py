"""Native library: the compiled functions, loaded once, or None if there are none.

`CDC_CONTRACTS_NATIVE=off` disables it; results are the same without it. `eager` uses it for every suitable message,
however few there are, so that tests with few messages exercise it as well.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

NAME: Final = "libcdc_native.so"
ABI: Final = 3
"""Counted up where a function takes or returns something else, so that an older library is not called."""

_SIGNATURES: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "cdc_make_plan": (
        c_void_p, (c_void_p, c_int32, c_void_p, c_int32, c_void_p, c_int64, c_int32, c_int32),
    ),
    "cdc_free_plan": (None, (c_void_p,)),
    "cdc_scan": (
        c_int64,
        (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_int64, c_void_p, c_int64, POINTER(c_void_p),
         c_void_p, POINTER(c_void_p), c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_void_p)),
    ),
    "cdc_check": (None, (c_void_p, c_void_p, c_int64, c_uint32, c_void_p, c_void_p, c_void_p)),
    "cdc_canonical": (
        c_int64,
        (c_void_p, c_void_p, c_int64, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    ),
    "cdc_text_size": (c_int64, (c_void_p, c_int64, c_uint32)),
    "cdc_texts": (c_int64, (c_void_p, c_void_p, c_int64, c_uint32, c_void_p, c_void_p, c_void_p)),
    "cdc_digests": (None, (c_void_p, c_void_p, c_int64, c_uint32, c_uint64, c_void_p, c_void_p)),
    "cdc_integers": (None, (c_void_p, c_void_p, c_int64, c_void_p)),
    "cdc_codes": (c_int64, (c_void_p, c_void_p, c_int64, c_void_p, c_void_p)),
    "cdc_last_counts": (None, (c_void_p, c_void_p, c_int64, c_void_p)),
    "cdc_strip_names": (
        c_int64,
        (c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_int32, c_void_p, c_void_p, c_void_p, c_void_p),
    ),
    "cdc_is_avro_program": (c_int32, (c_void_p,)),
    "cdc_read_avro": (
        c_int64,
        (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_int64, c_int32, c_void_p, c_void_p, c_int64,
         c_void_p, c_void_p, c_void_p),
    ),
    "cdc_read_texts": (
        c_int32,
        (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int32, c_int32, c_int32, c_void_p, c_void_p,
         c_int64),
    ),
    "cdc_read_base64": (
        c_int64,
        (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_int64),
    ),
    "cdc_place_keys": (
        c_int64,
        (c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int32, c_void_p, c_void_p),
    ),
    "cdc_measure_images": (
        None, (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_void_p),
    ),
    "cdc_write_images": (
        None,
        (c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p,
         c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    ),
    "cdc_count_characters": (c_int64, (c_void_p, c_void_p, c_int64, c_int32, c_void_p, c_void_p)),
    "cdc_pick_present": (c_int64, (c_void_p, c_int64, c_void_p, c_void_p, c_void_p)),
    "cdc_complete_images": (
        None, (c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, c_void_p),
    ),
    "cdc_count_kinds": (None, (c_void_p, c_int64, c_void_p)),
}  # fmt: skip


_SETTING: Final = "CDC_CONTRACTS_NATIVE"
_OFF: Final = "off"
_EAGER: Final = "eager"


def native_library() -> Any:
    """Return the compiled functions as a `ctypes` library; None if there are none, or they are disabled."""
    return None if os.environ.get(_SETTING) == _OFF else _load()


def is_eager() -> bool:
    """Return whether to use the library also for batches too small to gain from it."""
    return os.environ.get(_SETTING) == _EAGER


def describe_native() -> str:
    """Return in a few words which implementation parses messages, and why."""
    if native_library() is not None:
        return "native"
    return f"Python ({_SETTING}=off)" if os.environ.get(_SETTING) == _OFF else "Python (no native part was compiled)"


@lru_cache(maxsize=1)
def _load() -> Any:
    try:
        library = _open()
        if library.cdc_abi() != ABI:
            return None
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError):
        return None
    return library


def _open() -> ctypes.CDLL:
    """Return the library that is named, or that lies beside this module, which may be in a zip as Spark ships one."""
    path = Path(os.environ.get("CDC_CONTRACTS_NATIVE_LIBRARY") or Path(__file__).with_name(NAME))
    if path.exists() or Path(__file__).exists():
        return ctypes.CDLL(str(path))
    from importlib.resources import as_file, files

    with as_file(files(__package__ or "") / NAME) as unpacked:  # what is loaded stays when the file is gone
        return ctypes.CDLL(str(unpacked))
