"""What a default run takes of long tests: some of their cases (the mark `one_in(n)`), and a part of a case (`part`).

Of the cases it takes one in n, and at least one of every subject, unless the cases are long and treat all subjects
alike (`one_in(n, any_subject=True)`): then subjects take turns. Which cases and parts these are rotates with the
commit, so that the versions of a subject take turns: one case of every version in every run would take more than a
minute longer. The run prints the seed, and `CDC_CONTRACTS_SEED` chooses what another run takes.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest

ROOT = Path(__file__).parents[1]
VARIABLE = "CDC_CONTRACTS_SEED"
"""Names the seed: a commit, or another number in hexadecimal digits. Processes that a run starts inherit it."""
_REFERENCE = re.compile(r"[a-z]+(?:-[a-z]+)*/[a-z0-9]+(?:-[a-z0-9]+)*(?:@[0-9]+)?")
T = TypeVar("T")
Sampled = dict[str, tuple[set[str], set[str]]]
"""By test the names of the cases that a default run takes, and of all."""
SAMPLING = pytest.StashKey[Sampled]()
"""Where the configuration of a run keeps it, for the test of the sampling."""


def set_seed() -> str:
    """Return the seed of this run, and keep it for the processes that the run starts: the commit, if none is given."""
    seed = os.environ.get(VARIABLE) or _commit()
    try:
        turn_of(seed)
    except ValueError:
        raise pytest.UsageError(f"{VARIABLE} is a commit or a hexadecimal number, not {seed!r}.") from None
    os.environ[VARIABLE] = seed
    return seed


def turn_of(seed: str) -> int:
    """Return a seed as a number; raise ValueError where it is none."""
    return int(seed, 16)


def choose(cases: Mapping[str, str | None], share: int, turn: int = 0) -> set[str]:
    """Return the names of the cases to run, given the version that each case is about, if any.

    Consecutive turns take consecutive cases, and those of a subject are ordered so that its versions alternate. Which
    version is first follows from the name of the test, so each run has each version in about half of the tests.
    """
    by_version: dict[str | None, list[str]] = defaultdict(list)
    for name in sorted(cases, key=lambda name: (crc32(name.encode()), name)):
        by_version[cases[name]].append(name)
    by_subject: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for version, names in by_version.items():
        subject = (version or "").partition("@")[0]
        by_subject[subject] += (
            (place, crc32(f"{version} {name.partition('[')[0]}".encode()), name) for place, name in enumerate(names)
        )
    chosen = set()
    for placed in by_subject.values():
        names = [name for *_, name in sorted(placed)]
        count = max(1, len(names) // share)
        chosen.update(names[place % len(names)] for place in range(turn * count, (turn + 1) * count))
    return chosen


def take_part(values: Iterable[T], share: int, case: str, turn: int) -> list[T]:
    """Return every `share`-th of some values, and at least one of them: consecutive turns begin with consecutive ones.

    Which one a case begins with follows from its name too, so that cases with the same values divide them.
    """
    whole = list(values)
    return whole[(turn + crc32(case.encode())) % min(share, len(whole)) :: share] if whole else []


def version_of(item: pytest.Item) -> str | None:
    """Return the version that a case is about: the first version or reference among its parameters."""
    callspec = getattr(item, "callspec", None)
    for value in callspec.params.values() if callspec is not None else ():
        text = getattr(value, "reference", value)
        if isinstance(text, str) and _REFERENCE.fullmatch(text):
            return text
    return None


def sample(items: Iterable[pytest.Item], turn: int) -> Sampled:
    """Return, for each test with the mark, the names of the cases that a default run takes, and of all."""
    cases: dict[str, tuple[int, dict[str, str | None]]] = {}
    for item in items:
        share = item.get_closest_marker("one_in")
        if share is not None and item.get_closest_marker("nightly") is None:
            test = item.nodeid.partition("[")[0]
            version = None if share.kwargs.get("any_subject") else version_of(item)
            cases.setdefault(test, (share.args[0], {}))[1][item.nodeid] = version
    return {test: (choose(found, share, turn), set(found)) for test, (share, found) in cases.items()}


def _commit() -> str:
    """Return the commit that is checked out; 0 outside a repository, as in a source distribution."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "0"
