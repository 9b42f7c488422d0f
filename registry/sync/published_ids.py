"""Published ids of schemas, compared: an assigned id belongs to its schema forever."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, CompatibilityFinding, TextPlace
from cdc_contracts.registry.compat.levels import MEANING
from cdc_contracts.registry.sync.id_locks import FILE, Entry, lock_lines, parse_lock
from cdc_contracts.registry.sync.id_numbering import changed_ids

ID_CHANGED: Final = CompatibilityRule(
    "C411", "id-changed", BREAKING,
    "An id in ids.lock was reassigned or removed: messages that carry it can no longer be read.",
    "Restore the line; a schema that is gone keeps its line, marked `retired`.",
    "7 dts/canal@2 JSON … retired", "the line of id 7 removed, or its id changed to 8",
)  # fmt: skip


def compare_ids(old: Traversable, new: Traversable) -> Iterator[CompatibilityFinding]:
    """Yield a finding for each id assigned in one folder of contracts and changed or lost in the other.

    Raises ContractError if either lock cannot be read.
    """
    before, after = old.joinpath(FILE), new.joinpath(FILE)
    if not before.is_file():
        return
    text = after.read_text(encoding="utf-8") if after.is_file() else ""
    lines = {line.entry: line.number for line in lock_lines(text) if line.entry is not None}
    locks = parse_lock(before.read_text(encoding="utf-8"), str(before)), parse_lock(text, str(after))
    for entry, now in changed_ids(*locks):
        yield CompatibilityFinding(
            rule=ID_CHANGED.id, name=ID_CHANGED.name, severity=ID_CHANGED.severity, direction=MEANING, path="",
            old=str(entry), new=None if now is None else str(now), old_version=_name(entry), new_version=_name(entry),
            old_place=TextPlace("", str(before)),
            new_place=TextPlace("", str(after if after.is_file() else new), lines[now] if now is not None else None),
            says=f"id {entry.id} was {entry.key}, and now " + (f"that has id {now.id}" if now and now.id != entry.id
                 else "it belongs to a different schema" if now else "it is missing"),
            action=ID_CHANGED.action,
        )  # fmt: skip


def _name(entry: Entry) -> str:
    return f"{entry.key.name}@{entry.key.version}"
