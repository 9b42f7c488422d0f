"""Rights over subjects: who may read, write, delete and administer what.

A subject has a context and a name: `:.ctx:name`; a plain `name` is in the default context. A pattern is written the
same way, with `*` for any text and `?` for one character; without a context it matches the default context only,
`:*:*` matches everything. Settings of a whole context are those of its subject without a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from cdc_contracts.registry.server.store.subjects import DEFAULT_CONTEXT, Subject

_QUALIFIED: Final = re.compile(r":(\.[^:]*|\*):(.*)\Z", re.DOTALL)
EVERY_SUBJECT: Final = ":*:*"
_MOST_DECIDED: Final = 65_536


class Right(StrEnum):
    """What a caller may do with a subject. The rights to write, delete and administer include reading."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    ADMIN = "admin"


_IMPLIED: Final = {
    Right.READ: frozenset({Right.READ}),
    Right.WRITE: frozenset({Right.READ, Right.WRITE}),
    Right.DELETE: frozenset({Right.READ, Right.DELETE}),
    Right.ADMIN: frozenset(Right),
}


@dataclass(frozen=True, slots=True)
class Grant:
    """Rights over the subjects that match any of some patterns."""

    rights: frozenset[Right]
    patterns: tuple[str, ...]

    def holds(self, right: Right, subject: Subject) -> bool:
        """Return whether the grant gives the right over the subject."""
        if not any(right in _IMPLIED[given] for given in self.rights):
            return False
        return any(_fits(pattern, subject) for pattern in self.patterns)

    def reaches(self, right: Right, context: str) -> bool:
        """Return whether the grant gives the right over any possible subject of the context."""
        given = any(right in _IMPLIED[given] for given in self.rights)
        return given and any(_compiled(_parts(pattern)[0]).match(context) for pattern in self.patterns)


class Caller:
    """The user making a request, and their rights. `name` is None for an anonymous caller."""

    def __init__(self, name: str | None, grants: Iterable[Grant]) -> None:
        self.name = name
        self._grants = tuple(grants)
        self._decided: dict[tuple[Right, Subject], bool] = {}
        self.reads_all = any(EVERY_SUBJECT in grant.patterns for grant in self._grants)

    def may(self, right: Right, subject: Subject) -> bool:
        """Return whether the caller has the right over the subject."""
        asked = (right, subject)
        if asked not in self._decided:
            if len(self._decided) >= _MOST_DECIDED:
                self._decided.clear()
            self._decided[asked] = any(grant.holds(right, subject) for grant in self._grants)
        return self._decided[asked]

    def may_somewhere(self, right: Right, context: str) -> bool:
        """Return whether the caller has the right over any possible subject of the context."""
        return any(grant.reaches(right, context) for grant in self._grants)


UNGUARDED: Final = Caller(None, (Grant(frozenset(Right), (EVERY_SUBJECT,)),))
"""The caller of a server without a users file."""
CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=UNGUARDED)
"""The caller of the current request."""


def is_pattern(text: str) -> bool:
    """Return whether a text is a valid pattern of subjects: one that starts with a colon has to name a context."""
    return not text.startswith(":") or _QUALIFIED.match(text) is not None


def _parts(pattern: str) -> tuple[str, str]:
    qualified = _QUALIFIED.match(pattern)
    return (qualified[1], qualified[2]) if qualified else (DEFAULT_CONTEXT, pattern)


def _fits(pattern: str, subject: Subject) -> bool:
    context, name = _parts(pattern)
    return bool(_compiled(context).match(subject.context) and _compiled(name).match(subject.name))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    text = re.sub(r"\*+", "*", pattern)
    return re.compile("".join(parts.get(char) or re.escape(char) for char in text) + r"\Z", re.DOTALL)
