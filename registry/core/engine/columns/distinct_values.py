"""Distinct values: values as a form reads them, each distinct one once, remembered from batch to batch.

What the native part cannot decide, and without it every value, is read here by the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_structures import ArrayText, ObjectText
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.single_values import read_value
from cdc_contracts.registry.core.values import Flag, Number

_MOST_VALUES: Final = 1 << 15
_MOST_CHARACTERS: Final = 1 << 22
"""What is remembered of one use of a form, values and their texts; beyond that, the next batch begins anew."""
_AS_THEY_ARE: Final = frozenset({str, int, bytes, type(None)})
"""The types whose values are equal only where they are the same value."""


class DistinctValues(dict[Any, int]):
    """The distinct values of one use of a form: for each its code, by which its text and flag are found.

    A value is a text, a boolean, a number as an int, a `Number` or the bytes of its token, the text of a structure, or
    None, whose code is 0.
    Several threads may share it.
    """

    def __init__(self, use: FormUse) -> None:
        super().__init__({None: 0})
        self._use = use
        self._lock = Lock()
        self._characters = 0
        self._texts: list[str | None] = [None]
        self._flags = bytearray([Flag.OK])
        self._marked = False

    def __missing__(self, value: Any) -> int:
        text, flag = read_value(self._use, value[0] if type(value) is tuple else value)
        with self._lock:
            code = len(self._texts)
            self._texts.append(text)
            self._flags.append(flag)
            self._characters += len(text or "") + (len(value) if isinstance(value, str | bytes) else 0)
            self._marked = self._marked or flag != Flag.OK
            self[value] = code
        return code

    def read(self, values: Sequence[Any]) -> NDArray[np.int64]:
        """Return the code of each value."""
        keys = values if set(map(type, values)) <= _AS_THEY_ARE else map(_key_of, values)
        return np.fromiter(map(self.__getitem__, keys), np.int64, len(values))

    def flags(self, codes: NDArray[np.int64]) -> NDArray[np.uint8] | None:
        """Return the flags of values by their codes; None if all are OK."""
        if not self._marked:
            return None
        flags = np.frombuffer(bytes(self._flags), np.uint8)[codes]
        return flags if flags.any() else None

    def texts(self, codes: NDArray[np.int64]) -> pa.Array:
        """Return the canonical texts of values by their codes."""
        if len(codes) < len(self._texts):  # of what is remembered, a small batch needs little
            return pa.array([self._texts[code] for code in codes.tolist()], pa.string())
        return pa.array(self._texts, pa.string()).take(pa.array(codes))

    @property
    def is_full(self) -> bool:
        """Whether so much is remembered that it is better forgotten."""
        return len(self) > _MOST_VALUES or self._characters > _MOST_CHARACTERS


def read_values(
    values: Sequence[Any], use: FormUse, *, texts: bool
) -> tuple[NDArray[np.uint8] | None, pa.Array | None]:
    """Return the flags of values as a version reads them (None: all OK), and with `texts` their canonical texts."""
    if use.takes_all_texts:
        return None, pa.array(values, pa.string()) if texts else None
    distinct = _remembered(use)[0]
    codes = distinct.read(values)
    if distinct.is_full:
        _remembered(use)[0] = DistinctValues(use)
    return distinct.flags(codes), distinct.texts(codes) if texts else None


@lru_cache(maxsize=512)
def _remembered(use: FormUse) -> list[DistinctValues]:
    """Return the only place for the distinct values of a use, which are replaced when they are too many."""
    return [DistinctValues(use)]


def _key_of(value: Any) -> Any:
    """Return a key for one value alone: 1, 1.0 and true would be one key, and so would an array and its text."""
    if type(value) in (bool, ArrayText, ObjectText):
        return value, type(value)
    return value.token.encode() if type(value) is Number else value
