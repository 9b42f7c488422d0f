"""Client properties of Kafka, from a `client.properties` file and from single options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cdc_contracts.registry.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.common.yaml_documents import describe_unread

_PAIR = re.compile(r"\s*((?:\\.|[^=:\s\\])+)\s*[=:\s]\s*(.*)")


def read_client_properties(path: Path | None, options: Sequence[str]) -> dict[str, str]:
    """Return the properties of a file, overridden by options of the form `name=value`.

    Raises UnavailableError if the file cannot be read, UsageError if a line or an option is not name and value.
    Neither message shows a value.
    """
    properties = _read_file(path) if path is not None else {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name.strip():
            raise UsageError("a Kafka option is NAME=VALUE", where=f"--kafka-opt {name.strip()}")
        properties[name.strip()] = value
    return properties


def _read_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(describe_unread(error), where=str(path)) from error
    properties = {}
    for number, line in _logical_lines(text):
        match = _PAIR.match(line)
        if not match:
            raise UsageError("not a line of NAME=VALUE", where=f"{path}:{number}")
        name, value = match.groups()
        properties[name] = value.rstrip()
    return properties


def _logical_lines(text: str) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    waiting, begun = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.lstrip()
        if not waiting and (not line or line[0] in "#!"):
            continue
        begun = begun or number
        if line.endswith("\\"):
            waiting += line[:-1]
            continue
        lines.append((begun, waiting + line))
        waiting, begun = "", 0
    if waiting:
        lines.append((begun, waiting))
    return lines
