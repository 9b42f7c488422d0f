"""Native library: the compiled functions, loaded once, or None if there are none.

`CDC_CONTRACTS_NATIVE=off` disables it; results are the same without it. `eager` uses it for every suitable message,
however few there are, so that tests with few messages exercise it as well.
"""

from __future__ import annotations

import ctypes
import os
import struct
from ctypes import POINTER, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.engine.native.native_layouts import (
    TOO_SHORT,
    Buffer,
    CheckLayout,
    SourceLayout,
    expected_layouts,
)

NAME: Final = "libcdc_native.so"
ABI: Final = 4
"""Counted up where a function takes or returns something else, so that an older library is not called."""

_CELLS: Final = (Buffer, Buffer)
_TEXTS: Final = (Buffer, Buffer, Buffer, c_int64)
_SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "cdc_scan": (
        c_void_p, Buffer, Buffer, Buffer, c_int64, c_int64, Buffer, c_int64, Buffer, Buffer, Buffer, Buffer, Buffer,
        Buffer, c_void_p, c_void_p, Buffer,
    ),
    "cdc_check": (*_CELLS, c_uint32, POINTER(CheckLayout), Buffer, Buffer),
    "cdc_canonical": (*_CELLS, c_uint32, POINTER(CheckLayout), Buffer, Buffer, Buffer, Buffer),
    "cdc_text_size": (Buffer, c_uint32),
    "cdc_texts": (*_CELLS, c_uint32, Buffer, Buffer, Buffer),
    "cdc_digests": (*_CELLS, c_uint32, c_uint64, Buffer, Buffer),
    "cdc_integers": (*_CELLS, Buffer),
    "cdc_codes": (*_CELLS, Buffer, Buffer),
    "cdc_last_counts": (*_CELLS, Buffer),
    "cdc_strip_names": (*_CELLS, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer),
    "cdc_count_characters": (*_CELLS, c_int32, Buffer, Buffer),
    "cdc_pick_present": (Buffer, Buffer, Buffer, Buffer),
    "cdc_count_kinds": (Buffer, Buffer),
    "cdc_is_avro_program": (c_void_p,),
    "cdc_read_avro": (
        c_void_p, Buffer, Buffer, Buffer, c_int64, c_int64, c_int32, Buffer, Buffer, Buffer, c_void_p, Buffer,
    ),
    "cdc_read_texts": (*_TEXTS, Buffer, c_int32, c_int32, c_int32, Buffer, Buffer, c_int64),
    "cdc_read_base64": (*_TEXTS, Buffer, c_int64, Buffer, Buffer, Buffer, c_int64),
    "cdc_place_keys": (
        Buffer, Buffer, Buffer, Buffer, c_int64, c_int64, Buffer, Buffer, c_int32, Buffer, Buffer,
    ),
    "cdc_measure_images": (Buffer, Buffer, Buffer, Buffer, Buffer, *_TEXTS, Buffer),
    "cdc_write_images": (
        Buffer, Buffer, Buffer, Buffer, Buffer, *_TEXTS, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer,
    ),
    "cdc_end_on_abort": (Buffer, c_int32),
    "cdc_complete_images": (
        POINTER(SourceLayout), POINTER(SourceLayout), c_int64, c_int64, Buffer, Buffer, Buffer, Buffer,
    ),
}  # fmt: skip
"""What the functions take that return a number of 64 bits."""

_SETTING: Final = "CDC_CONTRACTS_NATIVE"
_OFF: Final = "off"
_EAGER: Final = "eager"
_SETTINGS: Final = ("", "on", _OFF, _EAGER)
_PATH: Final = "CDC_CONTRACTS_NATIVE_LIBRARY"
_COMPILE: Final = "Install cdc-contracts again, or compile it in a checkout: python hatch_build.py"


class _Unusable(Exception):
    """There is a library, but it cannot be used; the text says why."""


def native_library() -> Any:
    """Return the compiled functions as a `ctypes` library; None if there are none, or they are disabled.

    Raises UnavailableError if a library that `CDC_CONTRACTS_NATIVE_LIBRARY` names cannot be used.
    """
    if _setting() == _OFF:
        return None
    named = os.environ.get(_PATH)
    library, reason = _load(named)
    if library is None and named:
        raise UnavailableError(reason, where=_PATH, hint=_COMPILE)
    return library


def end_on_abort(text: bytes, code: int) -> None:
    """Let the process print a text and end with an exit code where a library aborts it, if there is a native part.

    Arrow does so when a container of C++ gets no memory in one of its threads, and no code of Python is reached.
    """
    if (library := native_library()) is not None:
        library.cdc_end_on_abort(text, code)


def is_eager() -> bool:
    """Return whether to use the library also for batches too small to gain from it."""
    return _setting() == _EAGER


def describe_native() -> str:
    """Return in a few words which implementation parses messages, and why."""
    if _setting() == _OFF:
        return f"Python ({_SETTING}=off)"
    library, reason = _load(os.environ.get(_PATH))
    return "native" if library is not None else f"Python ({reason})"


def _setting() -> str:
    given = os.environ.get(_SETTING, "")
    if given.lower() not in _SETTINGS:
        raise UsageError(f"{_SETTING} is {given!r}", hint=f"Set it to {_OFF}, on or {_EAGER}, or leave it out.")
    return given.lower()


@lru_cache(maxsize=2)
def _load(named: str | None) -> tuple[Any, str]:
    """Return the library that is named, or else the installed one; None, and why, if it cannot be used."""
    try:
        library, path = _open(named)
        _declare(library, path)
    except _Unusable as error:
        return None, str(error)
    return library, ""


def _open(named: str | None) -> tuple[ctypes.CDLL, Path]:
    """Return the library that is named, or that lies beside this module, which may be in a zip as Spark ships one."""
    path = Path(named or Path(__file__).with_name(NAME))
    if path.exists():
        return _open_file(path)
    if named:
        raise _Unusable(f"there is no library at {path}")
    from importlib.resources import as_file, files

    packed = files(__package__ or "") / NAME
    if not packed.is_file():
        raise _Unusable("no native part was compiled")
    with as_file(packed) as unpacked:  # what is loaded stays when the file is gone
        return _open_file(unpacked)


def _open_file(path: Path) -> tuple[ctypes.CDLL, Path]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _Unusable(f"{path} cannot be read: {error.strerror}") from error
    if len(content) < (whole := _size_of_elf(content)):
        raise _Unusable(f"{path} is cut short: it has {len(content):,} of {whole:,} bytes")
    try:
        return ctypes.CDLL(str(path)), path
    except OSError as error:
        raise _Unusable(f"the system refuses to load {path}: {error}") from error


_ELF_64: Final = b"\x7fELF\x02\x01"
_HEADER: Final = struct.Struct("<32xQQ6xHHHH")
_SEGMENT: Final = struct.Struct("<8xQ16xQ")


def _size_of_elf(content: bytes) -> int:
    """Return how many bytes the header of a library asks for: loading fewer ends the process. 0 if it is no ELF."""
    if content[: len(_ELF_64)] != _ELF_64 or len(content) < _HEADER.size:
        return 0
    segments, sections, segment_size, segment_count, section_size, section_count = _HEADER.unpack_from(content)
    ends = [segments + segment_size * segment_count, sections + section_size * section_count]
    if max(ends) <= len(content):
        for at in range(segments, ends[0], max(segment_size, 1)):
            start, size = _SEGMENT.unpack_from(content, at)
            ends.append(start + size)
    return int(max(ends))


def _declare(library: ctypes.CDLL, path: Path) -> None:
    """Say what the functions take and return, once it is certain that they are those of this release."""
    try:
        abi = library.cdc_abi()
        if abi != ABI:
            raise _Unusable(f"{path} is of another release: its interface is {abi}, not {ABI}")
        library.cdc_make_plan.restype = c_void_p
        library.cdc_make_plan.argtypes = (Buffer, Buffer, Buffer, c_int32, c_int32)
        library.cdc_free_plan.restype, library.cdc_free_plan.argtypes = None, (c_void_p,)
        library.cdc_layouts.restype, library.cdc_layouts.argtypes = c_int64, (Buffer,)
        for name, arguments in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes, function.errcheck = c_int64, arguments, _check_result
    except AttributeError as error:
        raise _Unusable(f"{path} is no native part of cdc-contracts: {error}") from error
    expected = expected_layouts()
    found = (c_int32 * len(expected))()  # not an array of numpy, which `--version` does without
    if library.cdc_layouts(found) != len(expected) or [*found] != expected:
        raise _Unusable(f"{path} is of another build: its structures are laid out otherwise")


def _check_result(result: int, function: Any, _: Any) -> int:
    if result == TOO_SHORT:
        raise ValueError(f"a buffer is too short for {function.__name__}, or points outside of another")
    return result
