"""What a process of the suite says of each test: whatever its controller prints or counts, and nothing else.

pytest reports a beginning, three phases and an end. Of a test that passes, only the call is counted; each message costs
as much as a small test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from _pytest.runner import runtestprotocol

if TYPE_CHECKING:
    import pytest

LEAST_SECONDS: Final = 0.005
"""`--durations` shows no shorter phases unless it is told to."""


def say_what_counts(config: pytest.Config) -> None:
    """Let a process of the suite be brief, unless somebody wants to read or to store all that happens."""
    if config.get_verbosity() < 0 and not config.getoption("xmlpath") and config.getoption("durations_min") is None:
        config.pluginmanager.register(BriefReports())


class BriefReports:
    """Runs tests as pytest does, but logs only those phases that count."""

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if counts(report):
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def counts(report: pytest.TestReport) -> bool:
    """Return whether a phase is counted, did not pass, took long, or has something to show."""
    return report.when == "call" or not report.passed or report.duration >= LEAST_SECONDS or bool(report.sections)
