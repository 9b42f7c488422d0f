"""How the tests read values: the fixture `read_each`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cdc_contracts.registry.core.values import BrokenValue, Context, Flag, ValueForm

ReadEach = Callable[[ValueForm, Sequence[Any], Context], list[tuple[str | None, int]]]


@pytest.fixture(scope="session")
def read_each() -> ReadEach:
    return read_values


def read_values(form: ValueForm, values: Sequence[Any], context: Context) -> list[tuple[str | None, int]]:
    """Give text and flag of each value."""
    return [read_value(form, value, context) for value in values]


def read_value(form: ValueForm, value: Any, context: Context) -> tuple[str | None, int]:
    """Give text and flag of one value; null is OK."""
    if value is None:
        return None, Flag.OK
    try:
        read = form.read(value, context)
    except BrokenValue as broken:
        return None, broken.flag
    return read.text, read.flag
