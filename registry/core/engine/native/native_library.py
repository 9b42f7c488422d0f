"""Native library: the compiled functions, loaded once, or None if there are none.

`CDC_CONTRACTS_NATIVE=off` disables it; results are the same without it. `eager` uses it for every suitable message,
however few there are, so that tests with few messages exercise it as well.
"""

from __future__ import annotations

import ctypes
import os
import struct
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.engine.native.native_interface import Buffer, parse_interface
from cdc_contracts.registry.core.engine.native.source_digest import digest_sources

NAME: Final = "libcdc_native.so"

_SETTING: Final = "CDC_CONTRACTS_NATIVE"
_OFF: Final = "off"
_EAGER: Final = "eager"
_SETTINGS: Final = ("", "on", _OFF, _EAGER)
_PATH: Final = "CDC_CONTRACTS_NATIVE_LIBRARY"
_COMPILE: Final = "Install cdc-contracts again, or compile it in a checkout: `python hatch_build.py`."


class _Unusable(Exception):
    """There is a library, but it cannot be used; the text says why."""


def native_library() -> Any:
    """Return the compiled functions as a `ctypes` library; None if there are none, or they are disabled.

    It has three attributes more, each by name: its `forms`, its `constants`, and the classes of its `structures`.

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
    from importlib.resources import as_file

    packed = _own_folder() / NAME
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


def _own_folder() -> Any:
    """Return the folder of this module, which may be in a zip as Spark ships one."""
    folder = Path(__file__).parent
    if folder.is_dir():
        return folder
    from importlib.resources import files

    return files(__package__ or "")


def _declare(library: Any, path: Path) -> None:
    """Give the functions the parameters that the library itself names, if it was built from the sources beside this."""
    try:
        library.cdc_interface.restype = c_char_p
        interface = parse_interface(library.cdc_interface().decode())
        sources = digest_sources(_own_folder())
        if sources and interface.sources != sources:
            raise _Unusable(f"{path} is of another build: its sources are {interface.sources}, not {sources}")
        library.cdc_make_plan.restype = c_void_p
        library.cdc_make_plan.argtypes = (Buffer, Buffer, Buffer, c_int32, c_int32)
        library.cdc_free_plan.restype, library.cdc_free_plan.argtypes = None, (c_void_p,)
        check_result = partial(_check_result, interface.constants["TOO_SHORT"])
        for name, parameters in interface.functions.items():
            function = getattr(library, name)
            function.restype, function.argtypes, function.errcheck = c_int64, parameters, check_result
    except (AttributeError, LookupError, ValueError) as error:
        raise _Unusable(f"{path} is no native part of cdc-contracts: {error}") from error
    library.forms, library.constants, library.structures = interface.forms, interface.constants, interface.structures


def _check_result(too_short: int, result: int, function: Any, _: Any) -> int:
    if result == too_short:
        raise ValueError(f"a buffer is too short for {function.__name__}, or points outside of another")
    return result
