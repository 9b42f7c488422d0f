"""Waiting: the first line of a command that takes long, printed before anything slow is imported.

Progress goes to stderr, on a terminal or not, unless `-q` is given.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Final

from cdc_contracts.cli.output import console

QUIET: Final = frozenset({"-q", "--quiet"})
_FIRST_STEP: Final[dict[str, str | None]] = {
    "audit": "loading contracts",
    "capture": "loading the engine",
    "convert": "loading contracts",
    "decode": "loading contracts",
    "decode files": None,
    "decode join": "loading the engine",
    "demo": "generating messages",
    "replay": "loading contracts",
}
"""The first step of each command that reads messages with an engine, most of which start with a silence otherwise; None
for one that is quick."""
_USUALLY_QUICK: Final = frozenset({"breaking", "check", "ci", "compat", "detect", "lint", "schema", "tables", "why"})
_PATIENCE_SECONDS: Final = 0.35
_NO_WORK: Final = frozenset({"-h", "--help", "--version"})


def announce(arguments: Sequence[str]) -> None:
    """Say what a call begins with; a command that is usually quick says it on a terminal, and only if it is not."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    words = [word for word in own if not word.startswith("-")]
    if not words or (QUIET | _NO_WORK).intersection(own):
        return
    command = words[0]
    if command in _FIRST_STEP and (len(words) > 1 or command == "demo"):
        step = _FIRST_STEP.get(" ".join(words[:2]), _FIRST_STEP[command])
        if step is not None:
            console.say(f"{command}: {step}")
    elif command in _USUALLY_QUICK and sys.stderr.isatty():
        timer = threading.Timer(_PATIENCE_SECONDS, _say_unless_written, [f"{command}: loading contracts"])
        timer.daemon = True
        timer.start()


def _say_unless_written(text: str) -> None:
    if not console.has_written():
        console.say(text)
