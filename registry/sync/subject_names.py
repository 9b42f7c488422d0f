"""Subject names: their context, and how they are written as the name of a file and in `ids.lock`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

DEFAULT_CONTEXT: Final = "."
CATALOGUE_CONTEXT: Final = ".cdc-contracts"
"""The context under which our own server shows the shipped contracts; those of folders are in others below it."""
_QUALIFIED: Final = re.compile(r":(\.[^:]*):(.*)\Z", re.DOTALL)


def encode_subject(subject: str) -> str:
    """Return a subject as one word of ASCII, percent-encoded; so is a dot in front, which would hide a file."""
    encoded = quote(subject, safe="", errors="surrogatepass")
    return "%2E" + encoded[1:] if encoded.startswith(".") else encoded


def decode_subject(encoded: str) -> str:
    """Return the subject that a name of a file stands for."""
    return unquote(encoded, errors="surrogatepass")


def context_of(subject: str) -> str:
    """Return the context that a qualified subject (`:.context:subject`) is in; `.` is the default one."""
    match = _QUALIFIED.match(subject)
    return match[1] if match else DEFAULT_CONTEXT


def qualify(subject: str, context: str) -> str:
    """Return a subject of a context as one name."""
    return subject if context == DEFAULT_CONTEXT or context_of(subject) == context else f":{context}:{subject}"


def is_catalogue(context: str) -> bool:
    """Say whether a context holds what a server shows of itself: it is there from the beginning and never written."""
    return context == CATALOGUE_CONTEXT or context.startswith(f"{CATALOGUE_CONTEXT}.")


def unqualified(subject: str) -> str:
    """Return a subject without its context."""
    match = _QUALIFIED.match(subject)
    return match[2] if match else subject
