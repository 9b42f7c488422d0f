"""Topic ids: the broker's id of a topic. A topic that was deleted and recreated under the same name has another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NONE: Final = "A" * 22
"""What clients call a topic by that the broker gives no id, as those before 2.8 do: 128 zeros."""
_AS_IN_ADDRESSES: Final = str.maketrans("+/", "-_")


def normalize_ids(written: Mapping[str, str]) -> dict[str, str]:
    """Return the ids of topics in the notation of the Java client; topics without an id are left out."""
    ids = {topic: identity.translate(_AS_IN_ADDRESSES) for topic, identity in written.items()}
    return {topic: identity for topic, identity in ids.items() if identity != _NONE}
