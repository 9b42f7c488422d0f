"""Text layout of a schema file: what fits on a line stands on one."""

from __future__ import annotations

import json
from typing import Any, Final

_WIDTH: Final = 120
_STEP: Final = 2


def lay_out(document: Any) -> str:
    """Return a JSON document as the text of a file."""
    return _write(document, 0, 0) + "\n"


def _write(value: Any, indent: int, before: int) -> str:
    """Return a value; `before` are the characters that stand before it on its line, or after it."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or indent + before + len(line) <= _WIDTH:
        return line
    inner = indent + _STEP
    if isinstance(value, list):
        items = [_write(item, inner, 1) for item in value]
        opening, closing = "[]"
    else:
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in value]
        items = [name + _write(item, inner, len(name) + 1) for name, item in zip(names, value.values(), strict=True)]
        opening, closing = "{}"
    between = ",\n" + " " * inner
    return f"{opening}\n{' ' * inner}{between.join(items)}\n{' ' * indent}{closing}"
