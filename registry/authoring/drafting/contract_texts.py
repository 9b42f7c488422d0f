"""Contract texts: `contract.yaml` and the value mapping of a draft as YAML, with evidence and questions as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.core.common.safe_text import visible

QUESTION: Final = "# QUESTION: "
_PLAIN: Final = re.compile(r"[/A-Za-z_][A-Za-z0-9_./~@-]*\Z")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_WIDTH: Final = 120
EDITOR_SCHEMAS: Final = ".schemas"
"""The folder beside those of systems with the schemas by which editors complete and check contracts."""


@dataclass
class Lines:
    """Lines of a YAML document with comments, and the questions among these.

    Comments hold op codes and type names of messages, so they are kept on their line: what follows a line break would
    become a part of the contract.
    """

    lines: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def name_schema(self, kind: str, *, depth: int) -> None:
        """Add the line by which editors find the schema of a file that is so many folders below the root."""
        self.lines.append(f"# yaml-language-server: $schema={'../' * depth}{EDITOR_SCHEMAS}/{kind}.schema.json")

    def add(self, key: str, value: Any, evidence: str = "", *, indent: str = "") -> None:
        """Add a key on a line of its own, with its evidence behind it, or above it if the line is long."""
        line = f"{indent}{to_yaml(key)}: {to_yaml(value)}" if value is not None else f"{indent}{to_yaml(key)}:"
        evidence = visible(evidence, most=None)
        if evidence and len(line) + len(evidence) + 4 <= _WIDTH:
            self.lines.append(f"{line}  # {evidence}")
            return
        if evidence:
            self.lines.append(f"{indent}# {evidence}")
        self.lines.append(line)

    def ask(self, question: str, *, indent: str = "") -> None:
        """Add a question to the author."""
        question = visible(question, most=None)
        self.questions.append(question)
        self.lines.append(f"{indent}{QUESTION}{question}")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def to_yaml(value: Any) -> str:
    """Return a value in flow style; texts that YAML could read as something else are quoted."""
    if value is None:
        return ""  # takes away what a base says
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{to_yaml(key)}: {to_yaml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(map(to_yaml, value)) + "]"
    plain = _PLAIN.match(str(value)) and str(value).lower() not in _WORDS
    return str(value) if plain else _quoted(str(value))


def _quoted(text: str) -> str:
    """Return a text in double quotes, with the escapes of YAML where JSON leaves what YAML refuses or folds."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else "".join(map(_escaped, quoted))


def _escaped(char: str) -> str:
    return char if char.isprintable() else f"\\U{ord(char):08x}"
