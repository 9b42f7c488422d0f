"""Exponents: whole columns of numbers with an exponent, written as plain digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import to_mask
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Mask

SHORT: Final = "^[-0-9.]{1,40}[eE][-+]?[0-9]{1,2}$"
"""What is expanded here: it never becomes too long, and has few different scales."""
FEW: Final = 64
"""So few rows cost less one at a time."""


def can_expand(values: pa.Array, rows: Mask) -> Mask:
    """Mark, among rows that are JSON numbers with an exponent, those that `expand_column` may be given."""
    if rows.sum() < FEW:
        return np.zeros(len(rows), bool)
    return rows & to_mask(pc.match_substring_regex(values, SHORT))


def expand_column(values: pa.Array) -> pa.Array:
    """Write JSON numbers, all with a short exponent, as plain digits with the scale as sent."""
    parts = pc.split_pattern(pc.ascii_upper(values), "E").flatten()
    signed, powers = (parts.take(pa.array(np.arange(start, len(parts), 2))) for start in (0, 1))
    negative = pc.starts_with(signed, "-")
    bare = pc.ascii_ltrim(signed, "-")
    point = pc.find_substring(bare, ".").to_numpy()
    fraction = np.where(point < 0, 0, pc.binary_length(bare).to_numpy() - point - 1)
    scales = fraction - pc.ascii_ltrim(powers, "+").cast(pa.int32()).to_numpy()
    digits = pc.ascii_ltrim(pc.replace_substring(bare, ".", ""), "0")
    order = np.argsort(scales, kind="stable")
    digits = digits.take(pa.array(order))
    distinct, starts = np.unique(scales[order], return_index=True)
    ends = [*starts[1:], len(order)]
    groups = zip(distinct, starts, ends, strict=True)
    text = pa.concat_arrays(
        [_place_point(digits.slice(start, end - start), int(scale)) for scale, start, end in groups]
    )
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    text = text.take(pa.array(back))
    nonzero = pc.match_substring_regex(signed, "[1-9]")
    return pc.if_else(pc.and_(negative, nonzero), pc.binary_join_element_wise("-", text, ""), text)


def _place_point(digits: pa.Array, scale: int) -> pa.Array:
    """Write digits without leading zeros, all with the same number of decimal places."""
    if scale <= 0:
        zeros = pc.equal(digits, "")
        return pc.if_else(zeros, "0", pc.binary_join_element_wise(digits, "0" * -scale, ""))
    padded = pc.utf8_lpad(digits, scale + 1, "0")
    whole = pc.utf8_slice_codeunits(padded, 0, -scale)
    return pc.binary_join_element_wise(whole, pc.utf8_slice_codeunits(padded, -scale), ".")
