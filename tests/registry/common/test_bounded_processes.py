"""Work with bounds: how much it may do does not depend on what else the machine does."""

import time

import pytest

from cdc_contracts.registry.core.common.bounded_processes import Overrun, call_guarded


def count_for_ever():
    number = 0
    while True:
        number += 1


def test_work_without_end_is_given_up():
    with pytest.raises(Overrun, match=r"^it takes longer than 1 seconds$"):
        call_guarded(count_for_ever, seconds=1)


def test_work_that_has_to_wait_for_the_machine_is_not_given_up():
    """Sleeping is what work does on a machine that is busy with something else."""
    assert call_guarded(time.sleep, 2, seconds=1) is None


def test_work_that_takes_too_much_memory_is_given_up():
    with pytest.raises(Overrun, match="too much memory"):
        call_guarded(bytearray, 1 << 40)
