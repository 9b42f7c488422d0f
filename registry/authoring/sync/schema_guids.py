"""Schema GUIDs: what names a schema in any registry of the protocol, worked out from what it says."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "migrationRules": ("UPGRADE", "DOWNGRADE", "UPDOWN"),
    "domainRules": ("READ", "WRITE", "WRITEREAD"),
    "encodingRules": ("READ", "WRITE", "WRITEREAD"),
}
"""The modes allowed for the rules of each phase."""


def guid_of(
    text: str,
    references: Iterable[tuple[str, str, int]],
    metadata: Mapping[str, Any] | None,
    rule_set: Mapping[str, Any] | None,
) -> str:
    """Return the GUID that any registry of this protocol assigns to a schema: the MD5 of its concatenated parts.

    `text` is the schema as the registry keeps it, `references` are names, subjects and versions.
    """
    digest = hashlib.md5(usedforsecurity=False)

    def add(*parts: str) -> None:
        digest.update("".join(parts).encode("utf-8", "surrogatepass"))

    add(text)
    for name, subject, version in references:
        add(name, subject)
        digest.update(version.to_bytes(4, "big"))
    if metadata is not None:
        digest.update(b"\1")
        for path, tags in sorted((metadata.get("tags") or {}).items()):
            add(path, *sorted(set(tags)))
        for name, value in sorted((metadata.get("properties") or {}).items()):
            add(name, value)
        add(*sorted(set(metadata.get("sensitive") or ())))
    if rule_set is not None:
        digest.update(b"\1")
        for phase in PHASES:
            for rule in rule_set.get(phase) or ():
                _add_rule(rule, digest)
    return str(uuid.UUID(bytes=digest.digest()))


def _add_rule(rule: Mapping[str, Any], digest: Any) -> None:
    result = [rule.get(name) or "" for name in ("name", "doc", "kind", "mode", "type")]
    result += sorted(set(rule.get("tags") or ()))
    result += [part for pair in sorted((rule.get("params") or {}).items()) for part in pair]
    result += [rule.get(name) or "" for name in ("expr", "onSuccess", "onFailure")]
    digest.update("".join(result).encode("utf-8", "surrogatepass"))
    if rule.get("disabled"):
        digest.update(b"\1")
