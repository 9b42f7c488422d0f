"""The cases of a test marked `one_in(n)` that a default run takes: one in n, and at least one of every subject."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from zlib import crc32

import pytest

_REFERENCE = re.compile(r"[a-z]+(?:-[a-z]+)*/[a-z0-9]+(?:-[a-z0-9]+)*(?:@[0-9]+)?")
Sampled = dict[str, tuple[set[str], set[str]]]
"""By test the names of the cases that a default run takes, and of all."""
SAMPLING = pytest.StashKey[Sampled]()
"""Where the configuration of a run keeps it, for the test of the sampling."""


def choose(cases: Mapping[str, str | None], share: int) -> set[str]:
    """Return the names of the cases to run, given the subject of each case that has one.

    Which ones these are follows from their names, so that each version and each value is in some of the tests.
    """
    by_subject: dict[str | None, list[str]] = defaultdict(list)
    for name, subject in cases.items():
        by_subject[subject].append(name)
    return {
        name
        for names in by_subject.values()
        for name in sorted(names, key=lambda name: crc32(name.encode()))[: max(1, len(names) // share)]
    }


def subject_of(item: pytest.Item) -> str | None:
    """Return the subject that a case is about: that of the first version or reference among its parameters."""
    callspec = getattr(item, "callspec", None)
    for value in callspec.params.values() if callspec is not None else ():
        text = getattr(value, "reference", value)
        if isinstance(text, str) and _REFERENCE.fullmatch(text):
            return text.partition("@")[0]
    return None


def sample(items: Iterable[pytest.Item]) -> Sampled:
    """Return, for each test with the mark, the names of the cases that a default run takes, and of all."""
    cases: dict[str, tuple[int, dict[str, str | None]]] = {}
    for item in items:
        share = item.get_closest_marker("one_in")
        if share is not None and item.get_closest_marker("nightly") is None:
            test = item.nodeid.partition("[")[0]
            cases.setdefault(test, (share.args[0], {}))[1][item.nodeid] = subject_of(item)
    return {test: (choose(found, share), set(found)) for test, (share, found) in cases.items()}
