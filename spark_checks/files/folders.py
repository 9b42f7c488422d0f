"""Folders: directories on any filesystem that pyarrow supports, in which files are written atomically."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa
from pyarrow import fs

from cdc_contracts.registry.core.common.errors import UnavailableError


class Folder:
    """A directory whose files are named by their paths below it."""

    def __init__(self, directory: str) -> None:
        """Raise UnavailableError if pyarrow does not support the filesystem."""
        self.filesystem, self.root = open_directory(directory)

    @property
    def local(self) -> bool:
        """Whether it is on this machine, or appears to be."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if it does not exist."""
        if self.filesystem.get_file_info(self._at(path)).type != fs.FileType.File:
            return None
        with self.filesystem.open_input_stream(self._at(path)) as file:
            return bytes(file.readall())

    def read_document(self, path: str) -> dict[str, Any] | None:
        """Return the JSON object in a file, None if it does not exist. Raises UnavailableError if it holds none."""
        found = self.read(path)
        if found is None:
            return None
        try:
            document = json.loads(found)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise UnavailableError(
                "the file is damaged: it is not a JSON object",
                where=self._at(path),
                hint="Restore it from a copy. A run whose record is removed has to be decoded again.",
            )
        return document

    def write(self, path: str, data: bytes) -> None:
        """Write a file atomically and durably: readers see all of it or nothing."""
        write_whole(self.filesystem, self._at(path), data)

    def write_document(self, path: str, document: Mapping[str, Any]) -> None:
        """Write a JSON object as `write` does."""
        self.write(path, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())

    def files(self, path: str) -> list[fs.FileInfo]:
        """Return the files of a subfolder, in order of their names; none if it does not exist."""
        found = self.filesystem.get_file_info(fs.FileSelector(self._at(path), allow_not_found=True))
        return sorted((one for one in found if one.type == fs.FileType.File), key=lambda one: str(one.base_name))

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder, sorted; none if it does not exist."""
        found = self.filesystem.get_file_info(fs.FileSelector(self._at(path), allow_not_found=True))
        return sorted(str(one.base_name) for one in found if one.type == fs.FileType.Directory)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files, if they exist."""
        for path in paths:
            if self.filesystem.get_file_info(self._at(path)).type == fs.FileType.File:
                self.filesystem.delete_file(self._at(path))

    def remove_if_empty(self, path: str) -> None:
        """Remove a subfolder if it is empty."""
        info = self.filesystem.get_file_info(self._at(path))
        if info.type == fs.FileType.Directory and not self.files(path):
            self.filesystem.delete_dir(self._at(path))

    def holds(self, path: str, size: int) -> bool:
        """Return whether a file exists, with all of its bytes."""
        info = self.filesystem.get_file_info(self._at(path))
        return bool(info.type == fs.FileType.File and info.size == size)

    def bring_to_disk(self, path: str) -> None:
        """Make a file or subfolder durable, so that it survives the loss of power."""
        bring_to_disk(self.filesystem, self._at(path))

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        """Hold an exclusive lock on a subfolder, if the filesystem has locks.

        A lock ends with its process.
        """
        if not self.local or sys.platform == "win32":
            yield
            return
        import fcntl

        place = Path(self._at(path))
        place.mkdir(parents=True, exist_ok=True)
        opened = os.open(place, os.O_RDONLY)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX)
            yield
        finally:
            os.close(opened)

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}"


def open_directory(directory: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem that a directory is on, and its path there.

    Raises UnavailableError if pyarrow does not support it.
    """
    if not urlparse(directory).scheme or Path(directory).drive:
        return fs.LocalFileSystem(), str(Path(directory).absolute())
    try:
        filesystem, path = fs.FileSystem.from_uri(directory)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnavailableError(f"cannot write there: {error}", where=directory) from error
    return filesystem, path


def escape_pattern(path: str) -> str:
    """Return a path escaped for Spark, which reads `[`, `{`, `*` and `?` as patterns."""
    return re.sub(r"[][{}*?]", r"\\\g<0>", path)


def bring_to_disk(filesystem: fs.FileSystem, path: str) -> None:
    """Make a file or folder durable, so that it survives the loss of power; other filesystems do so themselves."""
    if isinstance(filesystem, fs.LocalFileSystem):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(filesystem: fs.FileSystem, path: str, data: bytes) -> None:
    """Write a file atomically: to a temporary file, flushed to disk, then renamed."""
    folder = path.rpartition("/")[0]
    filesystem.create_dir(folder, recursive=True)
    if not isinstance(filesystem, fs.LocalFileSystem):
        with filesystem.open_output_stream(path) as stream:
            stream.write(data)
        return
    aside = Path(f"{path}.tmp")
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    bring_to_disk(filesystem, folder)
