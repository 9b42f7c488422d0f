"""Stepwise audit, in this process: batches validated in steps short enough that a run can stop between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Protocol, TypeVar

import pyarrow as pa

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.slice_shares import Slices, count_slices
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

_STEP_SECONDS: Final = 0.25
_LEAST_STEP: Final = 256
"""Messages of each shape of the last step."""
_T = TypeVar("_T")


class StepControl(Protocol):
    """Decides between two steps whether a run continues, and can abandon a step."""

    @property
    def reason(self) -> str | None:
        """Why the run has to end now; None if it continues."""
        ...

    def attempt(self, step: Callable[[], _T]) -> _T | None:
        """Return the result of a step, None if it was abandoned."""
        ...


class TallyWatch(Protocol):
    """Receives the tally of each step."""

    def add(self, tally: Tally) -> None: ...


def audit_in_steps(
    batches: Iterable[pa.RecordBatch],
    validation: ValidationContext,
    watch: TallyWatch | None,
    control: StepControl,
    slices: Slices | None = None,
) -> tuple[Tally, bool]:
    """Validate batches of records; return the tally of what was validated, and whether that is all of them.

    With the `slices` of a sample it has counts for each.
    """
    kernel, total, step, least = Kernel(validation), Tally(), _LEAST_STEP, 0
    for records in kernel.gather(batches, joined=slices is None):
        done = 0
        while control.reason is None and done < records.num_rows:
            rest = records.num_rows - done
            part, began = records.slice(done, rest if rest < step + least else step), time.monotonic()
            tally = control.attempt(partial(kernel.audit, part))
            if tally is None:
                return total, False
            if slices is not None:
                count_slices(tally, slices)
            if watch is not None:
                watch.add(tally)
            total.merge(tally)
            done += part.num_rows
            # A shape costs as much in few messages as in many: shorter steps would take longer, and so become shorter.
            least = _LEAST_STEP * max(1, kernel.known_shapes)
            step = max(least, int(part.num_rows * _STEP_SECONDS / max(time.monotonic() - began, 1e-6)))
        if done < records.num_rows or control.reason is not None:
            return total, False
    return total, True
