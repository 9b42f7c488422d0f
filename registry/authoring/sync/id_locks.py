"""Id locks (`ids.lock`): which id belongs to which schema, one line each; an id is never reused.

A line is `ID NAME@VERSION TYPE SHA-256`, followed by ` retired` once the schema is gone: its id stays taken.
NAME is a contract (`dts/canal`) or a subject of a registry, percent-encoded. Lines are sorted, so that two branches
which add ids change the same place and git reports the conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from cdc_contracts.registry.authoring.sync.subject_names import context_of, decode_subject, encode_subject
from cdc_contracts.registry.core.common.atomic_files import write_whole
from cdc_contracts.registry.core.common.errors import ContractError

FILE: Final = "ids.lock"
RETIRED: Final = "retired"
MOST: Final = 2**31 - 1
"""The highest id: the wire format has four bytes for it."""
_HEAD: Final = (
    "# id name@version type sha-256 [retired]: written by `cdc-contracts registry`; an id is never used again"
)
_LINE: Final = re.compile(r"(\d{1,10}) (\S+)@(\d{1,10}) ([A-Z]+) ([0-9a-f]{64})( retired)?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    """What an id identifies: a version of a contract or subject, in one schema type.

    `name` is `dts/canal` for a contract; the name of a subject is percent-encoded and so never contains a slash.
    """

    name: str
    version: int
    type: str

    @property
    def context(self) -> str:
        """The context that the id belongs to; contracts are published in the default one."""
        return context_of(decode_subject(self.name))

    @property
    def is_contract(self) -> bool:
        return "/" in self.name

    def __str__(self) -> str:
        return f"{self.name}@{self.version} {self.type}"


def subject_key(subject: str, version: int, kind: str) -> Key:
    """Return the key of a version of a subject."""
    return Key(encode_subject(subject), version, kind)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: the id of a schema and the digest it had when the id was assigned."""

    id: int
    key: Key
    digest: str
    retired: bool = False

    def __str__(self) -> str:
        tail = f" {RETIRED}" if self.retired else ""
        return f"{self.id} {self.key.name}@{self.key.version} {self.key.type} {self.digest}{tail}"


@dataclass(frozen=True, slots=True)
class LockLine:
    """A line of the file; `entry` is None if it is malformed."""

    number: int
    text: str
    entry: Entry | None


class Lock:
    """The entries of an `ids.lock`."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: dict[Key, Entry] = {}
        self._first: dict[tuple[str, int], Entry] = {}
        for entry in entries:
            self.add(entry)

    def __contains__(self, key: Key) -> bool:
        return key in self.entries

    def id_of(self, key: Key) -> int | None:
        """Return the id of a schema, None if it has none."""
        entry = self.entries.get(key)
        return None if entry is None or entry.retired else entry.id

    def holder(self, context: str, number: int) -> Entry | None:
        """Return the entry that an id was first assigned to, None if the id is free."""
        return self._first.get((context, number))

    def next_id(self, context: str) -> int:
        """Return the lowest id above all ever assigned in a context. Raises ContractError if none is left."""
        highest = max((number for where, number in self._first if where == context), default=0)
        if highest >= MOST:
            raise ContractError(f"{FILE} has no id left above {highest}")
        return highest + 1

    def add(self, entry: Entry) -> None:
        """Record an id. Raises ContractError if the schema has a different id, or the id belongs to another schema."""
        before = self.entries.get(entry.key)
        if before is not None and (before.id, before.digest) != (entry.id, entry.digest):
            raise ContractError(
                f"{entry.key} has id {before.id}, with a different schema or as a different id", where=FILE
            )
        first = self._first.setdefault((entry.key.context, entry.id), entry)
        if first.digest != entry.digest:
            raise ContractError(f"id {entry.id} already belongs to {first.key}, not to {entry.key}", where=FILE)
        self.entries[entry.key] = entry

    def replace(self, entry: Entry) -> None:
        """Record an id, replacing an earlier one. Raises ContractError if the id belongs to another schema."""
        self.entries.pop(entry.key, None)
        self._first = {}
        others = list(self.entries.values())
        for one in others:
            self._first.setdefault((one.key.context, one.id), one)
        self.add(entry)

    def retire(self, key: Key) -> None:
        """Mark an entry whose schema is gone; its id stays taken."""
        self.entries[key] = replace(self.entries[key], retired=True)

    def text(self) -> str:
        """Return the text of the file."""
        return "".join(f"{line}\n" for line in (_HEAD, *sorted(self.entries.values(), key=lock_order)))


def lock_order(entry: Entry) -> tuple[int, str, int, str]:
    """Return the sort key of the lines of a lock."""
    return (entry.id, entry.key.name, entry.key.version, entry.key.type)


def lock_lines(text: str) -> Iterator[LockLine]:
    """Yield the lines that hold an entry, or should."""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            match = _LINE.match(line)
            entry = None
            if match is not None and 0 < int(match[1]) <= MOST:
                entry = Entry(int(match[1]), Key(match[2], int(match[3]), match[4]), match[5], match[6] is not None)
            yield LockLine(number, line, entry)


def read_lock(root: Traversable) -> Lock:
    """Return the lock of a folder of contracts, an empty one if there is no file.

    Raises ContractError if a line is malformed, or two schemas share an id.
    """
    file = root.joinpath(FILE)
    return parse_lock(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else Lock()


def parse_lock(text: str, where: str) -> Lock:
    """Return the lock parsed from a text. Raises ContractError if it is invalid."""
    lock = Lock()
    for line in lock_lines(text):
        at = f"{where}:{line.number}"
        if line.entry is None:
            raise ContractError(
                f"malformed line in {FILE}: {line.text[:60]}", where=at, hint="Resolve the conflict in git."
            )
        if line.entry.key in lock:
            raise ContractError(f"{line.entry.key} is listed twice", where=at, hint="Keep the older line.")
        try:
            lock.add(line.entry)
        except ContractError as error:
            hint = "Remove the newer line and run `cdc-contracts registry ids`, which assigns the next free id."
            raise ContractError(error.what, where=at, hint=hint) from error
    return lock


def write_lock(root: Path, lock: Lock) -> None:
    """Write the lock of a folder atomically. Raises UnavailableError if that fails."""
    write_whole(root / FILE, lock.text().encode())
