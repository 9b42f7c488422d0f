"""Native layouts: the structures that cross the boundary to the library, and what both sides have to agree on."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_void_p
from typing import Any, Final

from cdc_contracts.registry.common.lazy_arrow import np, pa


class Buffer(ctypes.Structure):
    """Memory with its length, as every function takes it; an array, Arrow's memory, bytes or None become one."""

    _fields_ = (("at", c_void_p), ("size", c_int64))

    @classmethod
    def from_param(cls, given: Any) -> Buffer:
        """Return the memory of what a function is given, which has to outlive the call."""
        if isinstance(given, Buffer):
            return given
        if given is None:
            return cls(None, 0)
        if isinstance(given, bytes):
            return cls(ctypes.cast(c_char_p(given), c_void_p), len(given))
        if isinstance(given, ctypes.Array | ctypes.Structure):  # before numpy, which `--version` does without
            return cls(ctypes.addressof(given), ctypes.sizeof(given))
        if type(given) is np.ndarray:
            if not given.flags.c_contiguous:
                raise ValueError("an array for the native part has to lie in one piece")
            return cls(given.ctypes.data, given.nbytes)
        if isinstance(given, pa.Buffer):
            return cls(given.address, given.size)
        return cls(ctypes.addressof(given), ctypes.sizeof(given))

    def behind(self, size: int) -> Buffer:
        """Return what follows the first bytes."""
        return self if not self.at else Buffer(self.at + size, self.size - size)


class CheckLayout(ctypes.Structure):
    """What a form, a declared type and a context ask of values (`forms.h`)."""

    _fields_ = (
        ("form", c_int32), ("most_whole", c_int32), ("most_fraction", c_int32), ("zeros_open", c_int32),
        ("least", c_int64), ("most", c_int64), ("earliest", c_int32), ("latest", c_int32), ("literal", c_char_p),
        ("literal_length", c_int64),
    )  # fmt: skip


class BlockLayout(ctypes.Structure):
    """Rows of images with the same columns (`images.h`)."""

    _fields_ = (
        ("places", Buffer), ("present", Buffer), ("names", Buffer), ("columns", c_int64), ("first", c_int64),
        ("held", c_int64),
    )  # fmt: skip


class SourceLayout(ctypes.Structure):
    """Rows of images that are completed, or complete others (`images.h`)."""

    _fields_ = (("places", Buffer), ("present", Buffer), ("rows", Buffer))


class ProgramLayout(ctypes.Structure):
    """The program of reader schemas (`avro.h`)."""

    _fields_ = (
        ("node", c_void_p), ("link", c_void_p), ("word_start", c_void_p), ("words", c_void_p), ("root", c_void_p),
        ("charset", c_void_p), ("page", c_void_p), ("nodes", c_int32), ("links", c_int32), ("word_count", c_int32),
        ("roots", c_int32), ("charsets", c_int32), ("pages", c_int32), ("digits", c_int32), ("words_size", c_int32),
    )  # fmt: skip


class IndexLayout(ctypes.Structure):
    """The value index of some records (`value_index.h`)."""

    _fields_ = (
        ("cells", c_void_p), ("names", c_void_p), ("starts", c_void_p), ("columns", c_void_p), ("capacity", c_int64),
        ("total", c_int64), ("columns_capacity", c_int64), ("columns_total", c_int64), ("records", c_int64),
        ("placed", c_int64),
    )  # fmt: skip


TOO_SHORT: Final = -1000
_SIZES: Final = (32, 16, 12, 8)
"""Bytes of a node and a member of a plan, of a node of a program, and of a charset."""
_LAST_NUMBERS: Final = (10, 16, 255, 23, 3, TOO_SHORT)
"""Of kinds of values, forms, flags, types of Avro and of nodes, and what a function returns for a short buffer."""


def expected_layouts() -> list[int]:
    """Return what `cdc_layouts` has to write."""
    found: list[int] = []
    for structure in (Buffer, CheckLayout, BlockLayout, SourceLayout, ProgramLayout, IndexLayout):
        found.append(ctypes.sizeof(structure))
        for name, *_ in structure._fields_:
            member = getattr(structure, name)
            found += [member.offset, member.size]
    return [*found, *_SIZES, *_LAST_NUMBERS]
