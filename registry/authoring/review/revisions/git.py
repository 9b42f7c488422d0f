"""Git, read with plumbing commands: nothing is checked out, fetched or run, and no work tree is touched."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.memory_folders import Content, Tree

_DEEPER: Final = "This clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` for the checkout step in CI."
_LEFT_OUT: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE")
"""Variables that tell a hook its repository, which may be another one than asked for."""
_SET: Final = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_LINK: Final = "120000"
_FILE: Final = "blob"


class Repository:
    """A git repository, by a folder in it or by its own folder `.git`."""

    def __init__(self, folder: Path, *, bare: bool = False) -> None:
        self._at = [f"--git-dir={folder}"] if bare else ["-C", str(folder)]
        self.folder = folder

    def top(self) -> Path:
        """Return the top of the work tree. Raises UnavailableError if there is no repository or no git."""
        return Path(self._ask("rev-parse", "--show-toplevel").removesuffix("\n"))

    def commit(self, ref: str) -> str:
        """Return the id of the commit that a branch, tag, id or `HEAD~1` names.

        Raises UsageError if there is none, UnavailableError if there is no repository.
        """
        found = self.find(ref)
        if found is None:
            raise UsageError(f"git cannot find commit `{ref}`", where=str(self.folder), hint=self._hint(ref))
        return found

    def find(self, ref: str) -> str | None:
        """Return the id of the commit that a ref names, None if there is none. Raises UsageError for an option."""
        if not ref or ref.startswith("-") or not ref.isprintable():
            raise UsageError(f"`{ref}` is not a git ref", hint="Write a branch, a tag, a commit id or HEAD~1.")
        self._ask("rev-parse", "--git-dir")
        found = self._call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return found.stdout.decode().strip() if found.returncode == 0 else None

    def is_empty(self) -> bool:
        """Return whether there is no commit at all. Raises UnavailableError if there is no repository."""
        return not self._ask("rev-list", "--all", "--max-count=1")

    def merge_base(self, one: str, other: str) -> str:
        """Return the last commit that two have in common. Raises UsageError if there is none."""
        found = self._call("merge-base", one, other)
        if found.returncode != 0:
            hint = _DEEPER if self._is_shallow() else "Compare with `breaking --against REF` instead."
            raise UsageError(f"{one[:10]} and {other[:10]} have no common ancestor", hint=hint)
        return found.stdout.decode().split()[0]

    def main_branch(self) -> str | None:
        """Return the default branch of `origin`, as far as this clone knows it."""
        found = self._call("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
        return found.stdout.decode().strip() or None if found.returncode == 0 else None

    def tree(self, commit: str, folder: str, label: str) -> Tree | None:
        """Return a folder of a commit; None if the commit has no such folder."""
        whole = f"{commit}:{folder}" if folder else f"{commit}^{{tree}}"
        if self._call("cat-file", "-t", whole).stdout.strip() != b"tree":
            return None
        files = {}
        for line in filter(None, self._ask("ls-tree", "-r", "-z", "--full-tree", whole).split("\0")):
            about, _, path = line.partition("\t")
            mode, kind, name = about.split()
            if kind == _FILE and mode != _LINK:
                files[path] = name
        return Tree(label, Content(files, self._blobs))

    def _blobs(self, names: list[str]) -> list[bytes]:
        result = self._call("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode()).stdout
        found, at = [], 0
        for name in names:
            head, _, _ = result[at : at + 200].partition(b"\n")
            size = head.split()[-1]
            if not size.isdigit():
                raise UnavailableError(
                    f"git does not have the file {name} of this commit", where=str(self.folder),
                    hint="A partial clone omits files: fetch them with `git fetch --refetch --no-filter`.",
                )  # fmt: skip
            start = at + len(head) + 1
            found.append(result[start : start + int(size)])
            at = start + int(size) + 1
        return found

    def _is_shallow(self) -> bool:
        return self._call("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def _hint(self, ref: str) -> str:
        if self._is_shallow():
            return _DEEPER
        elsewhere = self.find(f"origin/{ref}")
        return (
            f"Did you mean origin/{ref}?"
            if elsewhere
            else "`git fetch` it first, or see `git branch -a` and `git tag`."
        )

    def _ask(self, *arguments: str) -> str:
        """Return what git prints. Raises UnavailableError if it fails."""
        found = self._call(*arguments)
        if found.returncode != 0:
            result = found.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            raise UnavailableError(f"git failed: {result}", where=str(self.folder), hint="Compare with a folder.")
        return found.stdout.decode("utf-8", "surrogateescape")

    def _call(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        try:
            return subprocess.run(  # noqa: S603  no shell, and no argument that could be an option
                ["git", *self._at, *arguments],  # noqa: S607  where git is, the PATH says
                input=given, capture_output=True, check=False, env={**kept, **_SET},
            )  # fmt: skip
        except OSError as error:
            raise UnavailableError(f"git cannot be run: {error.strerror}", hint="Install git.") from error
