"""Records are numbered and ordered by their codes, however few or far apart the codes are."""

import numpy as np
import pytest

from cdc_contracts.registry.core.records.code_orders import number_codes, order_by_code, order_by_code_and_offset

CODES = {
    "none": ([], [], []),
    "one": ([7], [0], [0]),
    "one of all": ([3, 3, 3, 3], [0], [0, 0, 0, 0]),
    "two, the larger first": ([9, 2, 9, 2], [1, 0], [1, 0, 1, 0]),
    "below zero": ([-1, 0, -2, -1], [2, 0, 1], [1, 2, 0, 1]),
    "far apart": ([2**40, 5, 2**40, -(2**40)], [3, 1, 0], [2, 1, 2, 0]),
    "far apart for so few": ([15, 0], [1, 0], [1, 0]),
    "too far apart for so few": ([16, 0], [1, 0], [1, 0]),
}


@pytest.mark.parametrize("case", CODES)
def test_distinct_codes_are_numbered_in_their_order_and_stand_first_where_they_do(case):
    codes, firsts, places = CODES[case]
    found = number_codes(np.array(codes, np.int64))
    assert [part.tolist() for part in found] == [firsts, places]


def test_codes_of_a_byte_are_numbered_up_to_the_last():
    firsts, places = number_codes(np.array([255, 0, 255, 254], np.uint8))
    assert (firsts.tolist(), places.tolist()) == ([1, 3, 0], [2, 0, 2, 1])


@pytest.mark.parametrize("high", [1, 2**15 - 1, 2**15, 2**40])
def test_records_with_one_code_stay_in_their_order(high):
    assert order_by_code(np.array([high, 0, high, 0])).tolist() == [1, 3, 0, 2]
    assert order_by_code(np.array([0, -high, 0, -high])).tolist() == [1, 3, 0, 2]
    assert order_by_code(np.array([0, 0, high, high])).tolist() == [0, 1, 2, 3]


def test_records_with_one_code_are_in_the_order_of_their_offsets():
    assert order_by_code_and_offset(np.array([1, 0, 1, 0]), np.array([8, 7, 6, 5])).tolist() == [3, 1, 2, 0]
    assert order_by_code_and_offset(np.array([1, 0, 1, 0]), np.array([5, 5, 6, 6])).tolist() == [1, 3, 0, 2]
    assert order_by_code_and_offset(np.array([0, 0]), np.array([2, 1])).tolist() == [1, 0]
