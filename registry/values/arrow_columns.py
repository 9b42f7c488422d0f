"""Arrow columns as bytes, and how the fast path hands rows to the reference.

A vectorised pass validates the rows it is sure of and leaves the others open. Every open row goes to the reference,
each distinct text once. So a pass may be as simple as the usual value allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.form_values import Context, Flag
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Bytes = NDArray[np.uint8]
    Ints = NDArray[np.int64]

DIGITS: Final = 10
PAD: Final = 32
"""Zero bytes kept before and after the bytes of a column, so that windows may reach over its ends."""


@dataclass(frozen=True, slots=True)
class ColumnResult:
    """The certain results of a vectorised pass.

    `open` marks the rows left to the reference (None: no row), `flags` has the flags of the others (None: all OK).
    `text` has the canonical texts; those of open, broken and null rows do not matter.
    """

    text: Callable[[], pa.Array]
    open: Mask | None = None
    flags: Bytes | None = None


@dataclass(frozen=True, slots=True)
class ReferenceResults:
    """The texts that the reference gave for the rows marked in `rows`, in their order."""

    rows: Mask | None
    texts: pa.Array | None
    valid: Mask | None

    def fill(self, text: pa.Array, flags: Bytes | None) -> pa.Array:
        """Put these texts in their rows; null if the value is null or lost."""
        if self.rows is not None:
            text = pc.replace_with_mask(text, pa.array(self.rows), self.texts)
        present = self.valid
        if flags is not None:
            kept = (flags != Flag.BROKEN) & (flags != Flag.TOO_LONG)
            present = kept if present is None else present & kept
        if present is None or present.all():
            return text
        return pc.if_else(pa.array(present), text, pa.scalar(None, pa.string()))


def complete(
    values: pa.Array, result: ColumnResult, judge: Callable[[str], tuple[str | None, int]]
) -> tuple[Bytes | None, ReferenceResults]:
    """Validate the open rows; returns the flags of all rows (None: all OK) and the texts of the validated ones."""
    valid = None if values.null_count == 0 else to_mask(values.is_valid())
    flags, rows, texts = result.flags, result.open, None
    if rows is not None and valid is not None:
        rows = rows & valid
    if rows is not None and not rows.any():
        rows = None
    if rows is not None:
        distinct = (values if rows.all() else values.filter(pa.array(rows))).dictionary_encode()
        verdicts = [judge(str(value)) for value in distinct.dictionary.to_pylist()]
        texts = pa.array([text for text, _ in verdicts], pa.string()).take(distinct.indices)
        flags = np.zeros(len(values), np.uint8) if flags is None else flags.copy()
        flags[rows] = np.array([flag for _, flag in verdicts], np.uint8)[distinct.indices.to_numpy()]
    if flags is not None and valid is not None:
        flags = np.where(valid, flags, np.uint8(Flag.OK))
    if flags is not None and not flags.any():
        flags = None
    return flags, ReferenceResults(rows, texts, valid)


def leave_open(values: pa.Array, _context: Context) -> ColumnResult:
    """Leave every row to the reference: right where few distinct texts are usual."""
    return ColumnResult(lambda: pa.nulls(len(values), pa.string()), open=np.ones(len(values), bool))


def leave_all(values: pa.Array, _context: Context) -> ColumnResult:
    """Accept every row unchanged."""
    return ColumnResult(lambda: values)


def to_mask(rows: pa.Array) -> Mask:
    """Give a boolean array as a mask; null is False."""
    mask: Mask = rows.fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return mask


def break_unless(fits: Mask, noted: Mask | None = None) -> Bytes | None:
    """Flag every row BROKEN that does not fit, and NOTED where that is marked."""
    flags = None if fits.all() else np.where(fits, np.uint8(Flag.OK), np.uint8(Flag.BROKEN))
    if noted is None or not noted.any():
        return flags
    return np.where(noted, np.uint8(Flag.NOTED), np.uint8(Flag.OK) if flags is None else flags)


def are_digits(data: Bytes) -> Mask:
    """Mark the bytes that are ASCII digits."""
    fits: Mask = (data - np.uint8(ord("0"))) < DIGITS  # a smaller byte wraps round to a large one
    return fits


def to_integers(values: pa.Array) -> tuple[Ints, Mask | None]:
    """Give a column of the decoder `int` as int64, and the rows that do not fit (None: all fit)."""
    unfit = None
    if pa.types.is_string(values.type):
        fits = pc.match_substring_regex(values, r"^-?[0-9]{1,18}$")
        unfit = ~to_mask(fits)
        values = pc.if_else(fits, values, "0").cast(pa.int64())
    if values.null_count:
        values = values.fill_null(0)
    return values.to_numpy(), unfit


class Texts:
    """The bytes of a `pa.string()` array of n rows.

    `starts` and `ends` (n) are positions in the bytes, `lengths` (n) counts bytes. Null rows hold any bytes.
    """

    def __init__(self, values: pa.Array) -> None:
        _, offsets, data = values.buffers()
        bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        self.data: Bytes = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[first:last]
        self.bounds = bounds if first == 0 else bounds - np.int32(first)
        self.starts: Ints = self.bounds[:-1].astype(np.int64)
        self.ends: Ints = self.bounds[1:].astype(np.int64)
        self.lengths: Ints = self.ends - self.starts

    @cached_property
    def padded(self) -> Bytes:
        edge = np.zeros(PAD, np.uint8)
        return np.concatenate((edge, self.data, edge))

    def bytes_at(self, places: Ints) -> Bytes:
        """Give the byte at each place; a place may lie up to PAD outside."""
        return self.padded[places + PAD]

    def window(self, width: int, places: Ints | None = None) -> Bytes:
        """Give `width` (at most PAD) bytes from each place as an array (width, n): one contiguous row per position.

        Bytes beyond the end of a row are those of its neighbours.
        """
        return slide(self.padded, width, (self.starts if places is None else places) + PAD)

    def rows_of(self, places: Ints) -> Ints:
        """Return the row that contains each position; positions ascend."""
        if len(places) == len(self.starts) and bool(((places >= self.starts) & (places < self.ends)).all()):
            return np.arange(len(places))  # one in every row, as for decimal points
        return np.searchsorted(self.starts, places, side="right") - 1

    def with_data(self, data: Bytes) -> pa.Array:
        """Give an array of the same lengths with other bytes."""
        return pa.StringArray.from_buffers(len(self.starts), pa.py_buffer(self.bounds), pa.py_buffer(data))


def slide(buffer: Bytes, width: int, places: Ints) -> Bytes:
    """Give `width` bytes from each of n places as an array (width, n)."""
    sliding: NDArray[np.void] = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, 0, (1,))
    return np.ascontiguousarray(sliding[places].view(np.uint8).reshape(len(places), width).T)


def pack(columns: Bytes, lengths: Bytes) -> pa.Array:
    """Make texts of bytes (width, n), of which the first `lengths` (n) of each column count."""
    longest = int(lengths.max())
    rows = np.ascontiguousarray(columns[:longest].T)
    count = len(rows)
    if longest == int(lengths.min()):
        bounds = np.arange(count + 1, dtype=np.int32) * np.int32(longest)
        return pa.StringArray.from_buffers(count, pa.py_buffer(bounds), pa.py_buffer(rows))
    bounds = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=bounds[1:])
    kept = np.ascontiguousarray((np.arange(longest, dtype=np.uint8)[:, None] < lengths).T)
    return pa.StringArray.from_buffers(count, pa.py_buffer(bounds), pa.py_buffer(rows[kept]))
