"""Credentials in client properties: what of them is secret, and whom the broker takes their owner for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from cdc_contracts.spark_checks.kafka.jaas import parse_login, parse_members

_SECRET: Final = re.compile(r"password|secret|jaas|token|credential|(^|\.)key(\.pem)?$", re.IGNORECASE)
_PUBLIC: Final = re.compile(r"(location|type|url|class|algorithm|ms|username)$", re.IGNORECASE)
_HARMLESS: Final = re.compile(r"username|principal|keyTab|serviceName|use\w+|storeKey|doNotPrompt|debug|scope")
_LEAST: Final = 4
"""Shorter pieces of a secret are in any sentence."""
_LEAST_OF_PEM: Final = 16
CERTIFICATE_NAME: Final = "the subject of the client's certificate"


def is_secret(name: str) -> bool:
    """Return whether the value of a property must not be shown."""
    return bool(_SECRET.search(name)) and not _PUBLIC.search(name)


def hide(text: str, properties: Mapping[str, str]) -> str:
    """Return the text, unless it contains part of a secret property: Kafka quotes what it cannot parse."""
    if any(piece in text for piece in _pieces(properties)):
        return f"{text.partition(':')[0]}: [not shown, it repeats a secret property]"
    return text


def find_principal(properties: Mapping[str, str]) -> str:
    """Return the name that ACLs of the broker are about, as far as the properties show it."""
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol.startswith("SASL"):
        login = parse_login(properties.get("sasl.jaas.config", ""))
        user = properties.get("sasl.username") or (login.user if login else None)
        return f"User:{user}" if user else "the user of this login"
    if protocol == "SSL" and any(name.startswith(("ssl.keystore.", "ssl.certificate.")) for name in properties):
        return CERTIFICATE_NAME
    return "User:ANONYMOUS"


def describe_right(
    properties: Mapping[str, str], bootstrap: str, operation: str, names: Sequence[str], *, kind: str = "topic"
) -> str:
    """Return which right is missing for whom, and the command with which an administrator grants it."""
    principal = find_principal(properties)
    owner = principal if principal.startswith("User:") else "'User:...'"
    listed = " ".join(f"--{kind} {one}" for one in names)
    implied = ", which includes Describe" if kind == "topic" else ""
    return (
        f"{principal[:1].upper()}{principal[1:]} needs the right {operation} on the {kind}{implied}: "
        f"kafka-acls --bootstrap-server {bootstrap} --add --allow-principal {owner} --operation {operation} {listed}"
    )


def _pieces(properties: Mapping[str, str]) -> set[str]:
    pieces: set[str] = set()
    for name, value in properties.items():
        if not is_secret(name):
            continue
        if name == "sasl.jaas.config":
            members = parse_members(value)
            pieces |= {member for option, member in members.items() if member and not _HARMLESS.fullmatch(option)}
            shown = {member for option, member in members.items() if _HARMLESS.fullmatch(option)} | members.keys()
            pieces |= {piece for piece in _split(value) if piece not in shown and not piece.endswith("LoginModule")}
        elif value:
            pieces |= {value, *_split(value)}
    return pieces


def _split(value: str) -> set[str]:
    least = _LEAST_OF_PEM if "-----BEGIN" in value else _LEAST
    return {piece for piece in re.split(r"[\s\"'=;]+", value) if len(piece) >= least and piece != "required"}
