"""Names of subjects: their context, and how they are written as the name of a file and in `ids.lock`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

DEFAULT_CONTEXT: Final = "."
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
