"""A plugin of pytest for a part of a run: `-p budgeted_run --seconds N` begins no further test after N seconds.

The first test that is run is chosen by the seed of the run (`case_sampling.py`), and one is run in any case. With
`--diary FILE` it writes down what it runs while it does, for whoever stops it in a test that goes on (`nightly.py`).
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from time import monotonic

import pytest
from case_sampling import VARIABLE, turn_of

STARTED = monotonic()
"""Collecting tests counts as well."""
_RUN: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", type=float, required=True, help="begin no further test after this many seconds")
    parser.addoption("--diary", type=Path, help="the file to write down in which tests have begun and failed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    start = turn_of(os.environ[VARIABLE]) % len(items) if items else 0
    items[:] = items[start:] + items[:start]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave a test out where the time is over; the fixtures of those before it end with the session."""
    if _RUN and monotonic() - STARTED > item.config.getoption("seconds"):
        return True
    _RUN.append(item.nodeid)
    _write_down(item.config, f"began {item.nodeid}")
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        _write_down(item.config, f"failed {item.nodeid}")
    return report


def _write_down(config: pytest.Config, line: str) -> None:
    diary = config.getoption("diary")
    if diary is not None:
        with diary.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _RUN:
        terminalreporter.write_line(f"from {_RUN[0]}\nto   {_RUN[-1]}")
