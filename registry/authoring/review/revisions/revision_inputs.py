"""Revision inputs: the revision that contracts are compared with: how it is given, and what it contains.

`main`, `v1.2`, `HEAD~1`   a git ref of the repository that the contracts are in, at the same folder
`PATH.git#branch=main`      another repository or folder: `branch=`, `tag=`, `ref=` or `commit=`, and `subdir=`
`path/to/contracts`         a folder
`https://HOST`              a registry
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.review.revisions.git import Repository
from cdc_contracts.registry.core.common.errors import CdcContractsError, UsageError
from cdc_contracts.registry.core.common.memory_folders import Tree, folder_of

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
    from cdc_contracts.registry.core.contract.catalogue import Version


_KINDS: Final = {"branch": "refs/heads/{}", "tag": "refs/tags/{}", "ref": "{}", "commit": "{}"}
_WRITTEN: Final = ", ".join(f"{name}=…" for name in _KINDS) + " and subdir=…"
_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_CONTRACT: Final = re.compile(r"(?:(?P<root>.+)/)?[^/]+/(?:[^/]+/v[1-9][0-9]*/contract|types/[^/]+)\.yaml\Z")
_SHORT: Final = 10
_TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""The variables in which code hosts give the target branch of a change."""
_MAIN: Final = "main"
_HEAD: Final = "HEAD"


@dataclass(frozen=True)
class Revision:
    """Contracts to compare with.

    `root` is None if there were none yet; `name` is what the user calls it. `missing` says what could not be read, and
    is not compared.
    """

    name: str
    root: Traversable | None
    missing: tuple[str, ...] = ()


def is_registry(text: str) -> bool:
    """Return whether a text is the URL of a registry."""
    return _URL.match(text) is not None


def open_registry(client: RegistryClient, own: Sequence[Version]) -> Revision:
    """Return the contracts that a registry has. Raises UnavailableError if it does not answer."""
    from cdc_contracts.registry.authoring.sync.stored_contracts import read_contracts

    stored = read_contracts(client, own)
    folder = folder_of(stored.files, client.url) if stored.files else None
    return Revision(client.url, folder, tuple(stored.missing))


def open_revision(text: str, root: Path) -> Revision:
    """Return the contracts that a text leads to, seen from the folder `root` that is compared with them.

    Raises UsageError if it leads nowhere, UnavailableError if nothing answers.
    """
    path, hash_sign, options = text.partition("#")
    if path.endswith(".git") and (hash_sign or Path(path).is_dir()):
        return _open_repository(path, options, root)
    repository = Repository(root)
    if not text or not Path(text).is_dir():
        if text and repository.is_empty():
            return _nothing_yet(text)
        return open_commit(repository, repository.commit(text), text, root)
    if not text.startswith((".", "/")) and _names_commit(repository, text):
        raise UsageError(
            f"`{text}` is both a folder and a git ref",
            hint=f"Write ./{text} for the folder, refs/heads/{text} for the branch.",
        )
    return Revision(text, _folder(Path(text)))


def open_commit(repository: Repository, commit: str, name: str, root: Path) -> Revision:
    """Return the contracts of a commit in the folder where they are now.

    Raises UsageError if that commit keeps them in another folder.
    """
    top = repository.top()
    folder = _inside(top, root)
    tree = _tree(repository, commit, name, folder)
    if tree is None:
        # a folder that is gone was moved; one that is still there is another one
        moved = [one for one in _roots(repository, commit) if not (top / one).is_dir()]
        _refuse_elsewhere(moved, folder, _shown(name, commit), f"{top}/.git#ref={name}")
    return Revision(_shown(name, commit), tree)


def _nothing_yet(name: str) -> Revision:
    """Return the revision of a repository without commits: whatever is published will be so by the first one."""
    return Revision(f"{name} (no commit yet)", None)


def _open_repository(path: str, options: str, root: Path) -> Revision:
    """Return what `PATH.git#branch=main,subdir=x` leads to; without `subdir`, the folder of the same path as here."""
    result = dict(_options(path, options))
    subdir = result.pop("subdir", None)
    if len(result) > 1:
        raise UsageError("more than one commit is named", where=f"{path}#{options}", hint=f"Write one of {_WRITTEN}.")
    if not Path(path).exists():
        raise UsageError("there is no such repository", where=path)
    repository = Repository(Path(path), bare=True)
    kind, value = next(iter(result.items()), ("ref", "HEAD"))
    commit = repository.commit(_KINDS[kind].format(value))
    folder = _inside(Repository(root).top(), root) if subdir is None else subdir.strip("/").removesuffix(".")
    tree = _tree(repository, commit, value, folder)
    if tree is None:
        _refuse_elsewhere(_roots(repository, commit), folder, _shown(value, commit), f"{path}#{kind}={value}")
        raise UsageError(f"there are no contracts in {path} at {_shown(value, commit)}", hint="Name another commit.")
    return Revision(_shown(value, commit), tree)


def _options(path: str, options: str) -> Iterator[tuple[str, str]]:
    for option in filter(None, options.split(",")):
        name, _, value = option.partition("=")
        if (name != "subdir" and name not in _KINDS) or not value:
            raise UsageError(
                f"`{option}` is not an option for a repository", where=f"{path}#{options}", hint=f"Write {_WRITTEN}."
            )
        yield name, value


def _inside(top: Path, root: Path) -> str:
    """Return the path of a folder from the top of its repository; empty for the top itself."""
    path = root.resolve().relative_to(top.resolve()).as_posix()
    return "" if path == "." else path


def _shown(name: str, commit: str) -> str:
    return name if commit.startswith(name) else f"{name} ({commit[:_SHORT]})"


def _tree(repository: Repository, commit: str, name: str, folder: str) -> Tree | None:
    """Return the folder of a commit, None if it holds no contracts."""
    tree = repository.tree(commit, folder, f"{name}:{folder}")
    if tree is None:
        return None
    found = (_CONTRACT.match(path) for path in tree.files())
    return tree if any(one is not None and one["root"] is None for one in found) else None


def _roots(repository: Repository, commit: str) -> list[str]:
    """Return every folder of a commit that holds contracts, `.` for the top."""
    whole = repository.tree(commit, "", "")
    found = map(_CONTRACT.match, whole.files() if whole is not None else ())
    return sorted({one["root"] or "." for one in found if one is not None})


def _refuse_elsewhere(roots: list[str], folder: str, shown: str, again: str) -> None:
    """Raise UsageError if contracts were kept elsewhere, as published ones must not be missed."""
    if roots:
        raise UsageError(
            f"there are no contracts in {folder or 'the top folder'} at {shown}",
            hint=f"They are in {', '.join(roots[:3])} there: --against '{again},subdir={roots[0]}'.",
        )


def _folder(folder: Path) -> Path:
    if next(folder.glob("*/*/v*/contract.yaml"), None) is None and next(folder.glob("*/types/*.yaml"), None) is None:
        raise UsageError(
            f"no contract below {folder}", hint="Contracts are expected at SYSTEM/DIALECT/vN/contract.yaml."
        )
    return folder


def _names_commit(repository: Repository, text: str) -> bool:
    try:
        return repository.find(text) is not None
    except CdcContractsError:
        return False


def open_base(named: str | None, root: Path, environment: Mapping[str, str]) -> Revision:
    """Return the contracts where a change began: at its merge base with the branch it is made for.

    That is the named one, else the one that the environment names, else the default branch of `origin`, else `main`.
    Raises UsageError if there is no such branch or nothing in common, UnavailableError if there is no repository.
    """
    repository = Repository(root)
    repository.top()
    if repository.is_empty():
        return _nothing_yet(named or _MAIN)
    result = next((environment[name] for name in _TARGETS if environment.get(name)), None)
    name = named or result or repository.main_branch() or _MAIN
    tip = _tip(repository, name, ours_first=named is not None)
    head = repository.commit(_HEAD)
    base = repository.merge_base(tip, head)
    found = open_commit(repository, base, name, root)
    return replace(found, name=f"{found.name}, which is checked out") if base == head else found


def _tip(repository: Repository, name: str, *, ours_first: bool) -> str:
    """Return the commit of a branch: a clone in CI mostly has it as a branch of `origin` only."""
    places = [name, f"origin/{name}"]
    found = (repository.find(place) for place in (places if ours_first else reversed(places)))
    tip = next(filter(None, found), None)
    if tip is None:
        repository.commit(name)
        raise UsageError(f"there is no branch {name}", hint="Name it with --base.")
    return tip
