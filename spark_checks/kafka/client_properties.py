"""Client properties of Kafka, from a `client.properties` file and from single options.

A file is read as Java reads it: lines end at an unescaped end of line, and a backslash escapes the character after it.
Of properties that only librdkafka knows the value is taken as it stands, as its tools take it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.yaml_documents import describe_unread
from cdc_contracts.spark_checks.kafka.property_names import LIBRDKAFKA_NAMES

_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROLS: Final = {"f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PAIR: Final = re.compile(r"\s*((?:\\.|[^=:\s\\])+)\s*[=:\s]\s*(.*)")


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
        name, value = _unescape(match[1]), match[2].rstrip()
        properties[name] = value if name in LIBRDKAFKA_NAMES else _unescape(value)
    return properties


def _unescape(text: str) -> str:
    def read(found: re.Match[str]) -> str:
        escaped = found[1]
        return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _CONTROLS.get(escaped, escaped)

    return _ESCAPE.sub(read, text)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    waiting, begun = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.lstrip()
        if not waiting and (not line or line[0] in "#!"):
            continue
        begun = begun or number
        if (len(line) - len(line.rstrip("\\"))) % 2:  # an even number escapes itself
            waiting += line[:-1]
            continue
        lines.append((begun, waiting + line))
        waiting, begun = "", 0
    if waiting:
        lines.append((begun, waiting))
    return lines
