"""Messages beside a schema block that states a default for each column."""

from __future__ import annotations

import json
from pathlib import Path

from topics import CATALOGUE

DEFAULTS = {
    "qty": ("int32", 7, 8, None),
    "name": ("string", 'new "one"', "old", None),
    "open": ("boolean", True, False),
}
"""By column its type in a schema block, its default, and other values."""


def sample_of(reference, name):
    path = Path(str(CATALOGUE.version(reference).folder), "samples", f"{name}.json")
    return json.loads(path.read_text(encoding="utf-8"))


def message_with_defaults(values, *, optional):
    """A message beside a schema block that states a default for each column."""
    message = sample_of("debezium/json-schema@2", "insert-from-mysql")
    fields = [
        {"type": kind, "optional": optional, "default": default, "field": name}
        for name, (kind, default, *_) in DEFAULTS.items()
    ]
    for place in (0, 1):
        message["schema"]["fields"][place]["fields"] = fields
    message["payload"]["after"] = dict(zip(DEFAULTS, values, strict=True))
    return json.dumps(message).encode()
