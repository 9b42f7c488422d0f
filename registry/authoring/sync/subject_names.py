"""Subject names: their context, and their encoding in file names and in `ids.lock`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

DEFAULT_CONTEXT: Final = "."
CATALOGUE_CONTEXT: Final = ".cdc-contracts"
"""The context in which our own server shows the shipped contracts; contracts of folders are in contexts below it."""
_QUALIFIED: Final = re.compile(r":(\.[^:]*):(.*)\Z", re.DOTALL)


def encode_subject(subject: str) -> str:
    """Return a subject percent-encoded to ASCII; a leading dot, which would hide the file, is encoded too."""
    encoded = quote(subject, safe="", errors="surrogatepass")
    return "%2E" + encoded[1:] if encoded.startswith(".") else encoded


def decode_subject(encoded: str) -> str:
    """Return the subject encoded in a file name."""
    return unquote(encoded, errors="surrogatepass")


def context_of(subject: str) -> str:
    """Return the context of a qualified subject (`:.context:subject`); `.` is the default one."""
    match = _QUALIFIED.match(subject)
    return match[1] if match else DEFAULT_CONTEXT


def qualify(subject: str, context: str) -> str:
    """Return the qualified name of a subject in a context."""
    return subject if context == DEFAULT_CONTEXT or context_of(subject) == context else f":{context}:{subject}"


def is_catalogue(context: str) -> bool:
    """Return whether a context holds built-in subjects of our server, which are read-only."""
    return context == CATALOGUE_CONTEXT or context.startswith(f"{CATALOGUE_CONTEXT}.")


def unqualified(subject: str) -> str:
    """Return a subject without its context."""
    match = _QUALIFIED.match(subject)
    return match[2] if match else subject
