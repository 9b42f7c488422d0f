"""Folders in memory: names and bytes, read like any other folder of contracts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from importlib.resources.abc import Traversable
from os import PathLike
from typing import IO, Any, Final

_SEPARATOR: Final = "/"


class Tree(Traversable):
    """A file or folder of a tree. `label` is shown before its path, if there is one: `main:contracts`."""

    def __init__(self, label: str, content: Content, path: str = "") -> None:
        self._label = label
        self._content = content
        self._path = path

    @property
    def name(self) -> str:
        return self._path.rpartition(_SEPARATOR)[2] or self._label

    def __str__(self) -> str:
        return _SEPARATOR.join(part for part in (self._label, self._path) if part)

    def iterdir(self) -> Iterator[Tree]:
        for name in self._content.folders.get(self._path, ()):
            yield self._below(name)

    def is_dir(self) -> bool:
        return self._path in self._content.folders

    def is_file(self) -> bool:
        return self._path in self._content.files

    def files(self) -> Iterator[str]:
        """Yield the path of every file there is."""
        yield from self._content.files

    def joinpath(self, *descendants: str | PathLike[str]) -> Tree:
        found = self
        for name in _SEPARATOR.join(map(str, descendants)).split(_SEPARATOR):
            found = found._below(name) if name not in ("", ".") else found
        return found

    def __truediv__(self, child: str | PathLike[str]) -> Tree:
        return self.joinpath(child)

    def read_bytes(self) -> bytes:
        """Return what the file holds. Raises FileNotFoundError if there is none."""
        if not self.is_file():
            raise FileNotFoundError(f"there is no file {self}")
        return self._content.read(self._path)

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        text = self.read_bytes().decode(encoding or "utf-8", errors or "strict")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> IO[Any]:
        return io.BytesIO(self.read_bytes()) if "b" in mode else io.StringIO(self.read_text(*args, **kwargs))

    def _below(self, name: str) -> Tree:
        return Tree(self._label, self._content, f"{self._path}/{name}" if self._path else name)


def folder_of(texts: Mapping[str, str], label: str = "") -> Tree:
    """Return the folder of documents that are named by their paths."""
    content = Content({path: path for path in sorted(texts)}, lambda paths: [texts[one].encode() for one in paths])
    return Tree(label, content)


class Content:
    """What a tree holds: files by path, read on first use, and the folders they are in."""

    def __init__(self, files: Mapping[str, str], read: Callable[[list[str]], list[bytes]]) -> None:
        self.files = files
        self.folders: dict[str, dict[str, None]] = {"": {}}
        self._read_many = read
        self._known: dict[str, bytes] = {}
        for file in files:
            way = file
            while way:
                above, _, name = way.rpartition(_SEPARATOR)
                self.folders.setdefault(above, {})[name] = None
                way = above

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; the others of its folder are usually needed as well, and fetched with it."""
        if path not in self._known:
            folder = path.rpartition(_SEPARATOR)[0]
            near = [f"{folder}/{name}" if folder else name for name in self.folders[folder]]
            near = [one for one in near if one in self.files]
            self._known |= zip(near, self._read_many([self.files[one] for one in near]), strict=True)
        return self._known[path]
