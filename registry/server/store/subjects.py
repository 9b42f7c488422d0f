"""Subjects: written `name` in the default context, `:.context:name` in others."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
"""The context name that clients may use for the whole registry."""
EVERY_CONTEXT: Final = ":*:"
"""The start of a subject prefix that is searched in all contexts."""
RESERVED: Final = frozenset({"__GLOBAL", "__EMPTY"})
LONGEST: Final = 512


@dataclass(frozen=True, order=True)
class Subject:
    """A subject: its context, which starts with a dot, and its name. An empty name means the whole context."""

    context: str
    name: str

    def __str__(self) -> str:
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"

    def within(self, context: str) -> Subject:
        """Return the subject as resolved in a context: in that context, unless it names another."""
        return Subject(context, self.name) if self.context == DEFAULT_CONTEXT else self

    @property
    def is_valid(self) -> bool:
        """Whether schemas may be registered under this name."""
        return (
            0 < len(self.name) <= LONGEST
            and len(self.context) <= LONGEST
            and not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in self.context + self.name)
            and self.name not in RESERVED
            and self.context != GLOBAL_CONTEXT
        )


WHOLE_REGISTRY: Final = Subject("", "")
"""The scope of global settings."""


def parse_subject(text: str) -> Subject:
    """Parse the name of a subject."""
    if not text.startswith(":."):
        return Subject(DEFAULT_CONTEXT, text)
    context, _, name = text[1:].partition(":")
    return Subject(context, name)


def parse_scope(text: str) -> Subject:
    """Parse the scope of settings: a subject, a context or the whole registry."""
    subject = parse_subject(text)
    return WHOLE_REGISTRY if subject == Subject(GLOBAL_CONTEXT, "") else subject


def parse_context(text: str) -> str:
    """Parse the name of a context, which may be written with colons around it and without its dot.

    Raises ValueError if it contains a colon.
    """
    name = text.removeprefix(":").removesuffix(":")
    if ":" in name:
        raise ValueError("Context name cannot contain a colon")
    return name if name.startswith(".") else f".{name}"
