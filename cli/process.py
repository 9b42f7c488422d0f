"""The process of a command, which a signal can end at any moment."""

from __future__ import annotations

from collections.abc import Callable

from cdc_contracts.registry.common import signals


def run(carry_out: Callable[[], int]) -> int:
    """Carry out the call that this process was started with, and return its exit code."""
    signals.watch()
    try:
        code = carry_out()
    finally:
        signals.end_at_once()
    if signals.raised() is not None:
        from cdc_contracts.cli.output.console import drop_output

        drop_output()  # nobody may be left to take it
    return code
