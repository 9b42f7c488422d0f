"""Topic ids: the broker's id of a topic. A topic that was deleted and recreated under the same name has another.

Files have ids as well: another file of the same name is another topic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

_NONE: Final = "A" * 22
"""What clients call a topic by that the broker gives no id, as those before 2.8 do: 128 zeros."""
_FILE: Final = "file:"
_AS_IN_ADDRESSES: Final = str.maketrans("+/", "-_")


def normalize_ids(written: Mapping[str, str]) -> dict[str, str]:
    """Return the ids of topics in the notation of the Java client; topics without an id are left out."""
    ids = {topic: identity.translate(_AS_IN_ADDRESSES) for topic, identity in written.items()}
    return {topic: identity for topic, identity in ids.items() if identity != _NONE}


def name_file(first_message: bytes) -> str:
    """Return the id of a file: it stays the same while the file grows."""
    return f"{_FILE}{hashlib.sha256(first_message).hexdigest()[:32]}"


def is_file(identity: str) -> bool:
    """Return whether an id is that of a file."""
    return identity.startswith(_FILE)
