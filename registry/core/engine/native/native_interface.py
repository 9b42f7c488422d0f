"""Native interface: the functions and structures of the library, as it describes them itself, and its buffers."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from ctypes import c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.lazy_arrow import np, pa

_OWN_MEMORY: Final = (ctypes.Array, ctypes.Structure)


class Buffer(ctypes.Structure):
    """Memory with its length, as every function takes it; an array, Arrow's memory, bytes or None become one."""

    _fields_ = (("at", c_void_p), ("size", c_int64))

    @classmethod
    def from_param(cls, given: Any) -> Buffer:
        """Return the memory of what a function is given, which has to outlive the call."""
        kind = type(given)
        if kind is cls:
            return given  # type: ignore[no-any-return]
        if given is None:
            return cls(None, 0)
        if kind is bytes:
            return cls(ctypes.cast(c_char_p(given), c_void_p), len(given))
        if issubclass(kind, _OWN_MEMORY):  # before numpy, which `--version` does without
            return cls(ctypes.addressof(given), ctypes.sizeof(given))
        if kind is np.ndarray:
            if not given.flags.c_contiguous:
                raise ValueError("an array for the native part has to lie in one piece")
            memory = pa.py_buffer(given)  # a quarter of the time of `given.ctypes.data`
            return cls(memory.address, memory.size)
        return cls(given.address, given.size)

    def behind(self, size: int) -> Buffer:
        """Return what follows the first bytes."""
        return self if not self.at else Buffer(self.at + size, self.size - size)


def buffers_of(arrays: Sequence[Any]) -> Any:
    """Return the memory of arrays, which have to outlive the call, as an array of buffers."""
    return (Buffer * len(arrays))(*map(Buffer.from_param, arrays))


def parts_of(array: Any, ends: Sequence[int]) -> Any:
    """Return the memory of the parts of an array of bytes, from each end to the next, as an array of buffers."""
    base = Buffer.from_param(array).at or 0
    return (Buffer * (len(ends) - 1))(*[Buffer(base + begin, end - begin) for begin, end in pairwise(ends)])


_TYPES: Final[dict[str, Any]] = {
    "int32_t": c_int32, "int64_t": c_int64, "uint32_t": c_uint32, "uint64_t": c_uint64, "const uint8_t *": c_char_p,
    "Buffer": Buffer,
}  # fmt: skip
_LISTS: Final = (("forms", "/"), ("constants", "="))
_STRUCT: Final = re.compile(r"struct (\w+) \{ (.*)\}")
_FUNCTION: Final = re.compile(r"(\w+)\((.*)\)")


class NativeForm(NamedTuple):
    """The number of a form, and what `forms.h` says of its values: AS_SENT, NUMBERS, BITS, TIMES or VALUES."""

    number: int
    known: str


@dataclass(frozen=True)
class NativeInterface:
    """What a library says that it offers (`interface.h`): forms, constants, structures, and functions' parameters."""

    sources: str
    forms: dict[str, NativeForm]
    constants: dict[str, int]
    structures: dict[str, type[ctypes.Structure]]
    functions: dict[str, list[Any]]


def parse_interface(text: str) -> NativeInterface:
    """Return an interface from the text of a library. Raises ValueError where it is none."""
    lines = text.splitlines()
    head = dict(line.partition(" ")[::2] for line in lines[:3])
    if head.keys() != {"sources", "forms", "constants"}:
        raise ValueError("its description begins otherwise")
    structures = {match[1]: _structure_of(match[1], match[2]) for match in map(_STRUCT.fullmatch, lines) if match}
    functions = {
        match[1]: [_type_of(name) for name in match[2].split(", ")]
        for match in map(_FUNCTION.fullmatch, lines)
        if match
    }
    forms, constants = ([word.split(mark) for word in head[line].split()] for line, mark in _LISTS)
    return NativeInterface(
        head["sources"],
        {name: NativeForm(number, known) for number, (name, known) in enumerate(forms)},
        {name: int(number) for name, number in constants},
        structures,
        functions,
    )


def _structure_of(name: str, members: str) -> type[ctypes.Structure]:
    fields = []
    for member in members.removesuffix("; ").split("; "):
        type_, _, member_name = member.rpartition(" ")
        fields.append((member_name, _type_of(type_)))
    return type(name, (ctypes.Structure,), {"_fields_": tuple(fields)})


def _type_of(name: str) -> Any:
    """Return the type of a parameter or member; a pointer to anything but text is an address."""
    return c_void_p if name.endswith("*") and name not in _TYPES else _TYPES[name]
