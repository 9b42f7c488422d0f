"""JSON documents as text: reports, reviews and SARIF logs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def render_json(document: Mapping[str, Any]) -> str:
    """Return a document as JSON text."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # half a pair of surrogates has no UTF-8, but JSON can still say it
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
