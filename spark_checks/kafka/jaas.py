"""JAAS lines: the login of Kafka's Java clients, read as user and password, and written from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_LOGIN: Final = re.compile(r"(?:Plain|Scram)LoginModule\s")
_MEMBER: Final = re.compile(r"""(\w+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))""")
_ESCAPE: Final = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_CONTROLS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
MECHANISMS: Final = tuple(_MODULES)
"""The mechanisms of a user and a password."""


@dataclass(frozen=True, slots=True)
class Login:
    """A user and a password."""

    user: str
    password: str = field(repr=False)


def parse_login(line: str) -> Login | None:
    """Return user and password of a line; None if it is another login, or incomplete."""
    members = parse_members(line)
    if not _LOGIN.search(line) or not {"username", "password"} <= members.keys():
        return None
    return Login(members["username"], members["password"])


def parse_members(line: str) -> dict[str, str]:
    """Return the options of a line by name, without their quotes."""
    return {name: _unescape(first or second or bare) for name, first, second, bare in _MEMBER.findall(line)}


def write_login(mechanism: str, login: Login) -> str:
    """Return the line for one of MECHANISMS."""
    return f"{_MODULES[mechanism]} required username={_quote(login.user)} password={_quote(login.password)};"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _unescape(text: str) -> str:
    def read(found: re.Match[str]) -> str:
        return chr(int(found[1], 8)) if found[1].isdigit() and found[1] < "8" else _CONTROLS.get(found[1], found[1])

    return _ESCAPE.sub(read, text)
