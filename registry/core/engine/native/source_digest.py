"""Source digest: what a library was compiled from. The build writes it into the library; whoever loads that compares.

The build loads this file alone, without the package.
"""

from __future__ import annotations

import hashlib
from typing import Any


def digest_sources(folder: Any) -> str:
    """Return the digest of the C sources in a folder (a `Path`, or a `Traversable`); empty if it has none."""
    sources = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith((".c", ".h"))}
    digest = hashlib.sha256()
    for name in sorted(sources):
        content = sources[name].read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16] if sources else ""
