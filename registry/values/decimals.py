"""Exact decimals: plain digits, the scale as sent, never through a float."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import PAD, ColumnResult, Texts, are_digits, break_unless, to_mask
from cdc_contracts.registry.values.form_values import JSON_NUMBER, LIMIT, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa, pc

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Mask


EXPONENT_DIGITS: Final = 18
"""An exponent of more digits moves the point further than any token is long."""
SHORT: Final = "^[-0-9.]{1,40}[eE][-+]?[0-9]{1,2}$"
"""What is expanded here: it never becomes too long, and has few different scales."""
FEW: Final = 64
"""So few rows cost less one at a time."""


def read_decimal(token: str, _context: Context) -> Value:
    """Read a JSON number exactly."""
    parts = JSON_NUMBER.fullmatch(token)
    if parts is None:
        raise BrokenValue
    sign, whole, fraction, exponent = parts.groups()
    return Value(expand(sign, whole, fraction or "", _exponent(exponent or "0")))


def expand(sign: str, whole: str, fraction: str, exponent: int) -> str:
    """Write digits and a power of ten as plain digits; a zero has no sign.

    Raises BrokenValue: the text would be longer than LIMIT. It is counted before it is written.
    """
    scale = len(fraction) - exponent
    digits = (whole + fraction).lstrip("0")
    sign = sign if digits else ""
    if scale <= 0 and not digits:
        return "0"
    length = len(digits) - scale if scale <= 0 else max(len(digits), scale + 1) + len(".")
    if len(sign) + length > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    if scale <= 0:
        return sign + digits + "0" * -scale
    digits = digits.zfill(scale + 1)
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def _exponent(digits: str) -> int:
    bare = digits.lstrip("+-").lstrip("0") or "0"
    size = 10**EXPONENT_DIGITS if len(bare) > EXPONENT_DIGITS else int(bare)
    return -size if digits.startswith("-") else size


def validate_decimal_tokens(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate tokens known to be JSON numbers."""
    texts = Texts(values)
    exponents = np.zeros(len(values), bool)
    exponents[texts.rows_of(np.flatnonzero((texts.data | np.uint8(0x20)) == ord("e")))] = True
    return _validate(values, texts, np.ones(len(values), bool), exponents)


def validate_decimal_texts(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate texts of JSON numbers."""
    texts = Texts(values)
    fits, exponents = scan_numbers(texts)
    return _validate(values, texts, fits, exponents & fits)


def _validate(values: pa.Array, texts: Texts, fits: Mask, exponents: Mask) -> ColumnResult:
    """Validate plain numbers and, many at a time, those with an exponent; odd ones stay open."""
    undecided = fits & _may_change(values, texts)
    expanded = exponents & ~undecided
    if expanded.any():
        expanded &= can_expand(values, expanded)
        undecided |= exponents & ~expanded

    def write() -> pa.Array:
        if not expanded.any():
            return values
        return pc.replace_with_mask(values, pa.array(expanded), expand_column(values.filter(pa.array(expanded))))

    return ColumnResult(write, undecided, break_unless(fits))


def _may_change(values: pa.Array, texts: Texts) -> Mask:
    """Mark negative zeros and tokens over the limit."""
    marked: Mask = texts.lengths > LIMIT
    small = (texts.bytes_at(texts.starts) == ord("-")) & (texts.bytes_at(texts.starts + 1) == ord("0"))
    if small.any():
        rows = np.flatnonzero(small)
        nonzero = to_mask(pc.match_substring_regex(values.take(pa.array(rows)), "[1-9]"))
        marked[rows[~nonzero]] = True
    return marked


def scan_numbers(texts: Texts) -> tuple[Mask, Mask]:
    """Mark the rows that are JSON numbers, and those that have an exponent.

    Only bytes that are no digits are looked at, each with its neighbours: usually one point per number.
    """
    digit = are_digits(texts.padded)
    places = np.flatnonzero(~digit[PAD : PAD + len(texts.data)])
    rows = texts.rows_of(places)
    mark, before, after = (texts.bytes_at(places + step) for step in (0, -1, 1))
    first, last = places == texts.starts[rows], places == texts.ends[rows] - 1
    digit_before, digit_after = ~first & digit[places + PAD - 1], ~last & digit[places + PAD + 1]
    point = mark == ord(".")
    power = (mark | np.uint8(0x20)) == ord("e")
    minus = mark == ord("-")
    sign = minus | (mark == ord("+"))
    sign_after = ~last & ((after == ord("-")) | (after == ord("+")))
    power_before = ~first & ((before | np.uint8(0x20)) == ord("e"))
    placed = (
        (point & digit_before & digit_after)
        | (minus & first & digit_after)
        | (power & digit_before & (digit_after | sign_after))
        | (sign & power_before & digit_after)
    )
    fits: Mask = texts.lengths > 0
    fits[rows[~placed]] = False
    exponents = np.zeros(len(fits), bool)
    exponents[rows[power]] = True
    # in a row come a sign, a point, an exponent, its sign: each at most once and in this order
    rank = point * np.int8(1) + power * np.int8(2) + (sign & ~first) * np.int8(3)
    unordered = (rows[1:] == rows[:-1]) & (rank[1:] <= rank[:-1])
    fits[rows[1:][unordered]] = False
    lead = texts.starts + ((texts.lengths > 0) & (texts.bytes_at(texts.starts) == ord("-")))
    padded_lead = (texts.bytes_at(lead) == ord("0")) & (lead + 1 < texts.ends) & digit[lead + PAD + 1]
    fits &= ~padded_lead
    return fits, exponents


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
