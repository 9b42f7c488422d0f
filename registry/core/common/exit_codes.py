"""Exit codes of commands, which scripts read, and the verdicts of a run that they express."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Verdict = Literal["pass", "drift", "inconclusive"]

PASS: Final = "pass"  # noqa: S105  a verdict
DRIFT: Final = "drift"
INCONCLUSIVE: Final = "inconclusive"

EXIT_CODES: Final[Mapping[str, int]] = MappingProxyType({PASS: 0, DRIFT: 1, INCONCLUSIVE: 4})
USAGE: Final = 2
COULD_NOT_RUN: Final = 3
COUNTS_DIFFER: Final = 5
INTERRUPTED: Final = 130
TERMINATED: Final = 143
