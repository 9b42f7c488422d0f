"""JSON files of contracts, refused if they are nested too deeply for the functions that walk through them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from cdc_contracts.registry.core.common.json_messages import MAX_DEPTH, depth_exceeds


def parse_json_file(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a file's text. Raises ValueError if it is no JSON, or nested deeper than a message may be.

    `pairs_hook` turns the members of an object into a value, as `object_pairs_hook` of `json.loads` does.
    """
    if depth_exceeds(text.encode("utf-8", "surrogatepass"), MAX_DEPTH):
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return json.loads(text, object_pairs_hook=pairs_hook)
