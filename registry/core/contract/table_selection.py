"""Table selection: the tables of a topic to validate."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache


@dataclass(frozen=True)
class Selection:
    """Globs for tables that are validated, all where there are none, and for tables that are not.

    A glob is matched against `database.schema.table`, `database.table`, `schema.table` and `table`.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def takes(self, table: str | None) -> bool:
        """Return whether the messages of a table are validated; one that names no table may be any table's."""
        return table is None or _takes(self, table)


@lru_cache(maxsize=20_000)
def _takes(selection: Selection, table: str) -> bool:
    parts = table.split(".")
    names = {".".join(parts[start:]) for start in range(len(parts))} | {f"{parts[0]}.{parts[-1]}"}

    def matches(globs: tuple[str, ...]) -> bool:
        return any(fnmatchcase(name, glob) for glob in globs for name in names)

    return (not selection.include or matches(selection.include)) and not matches(selection.exclude)
