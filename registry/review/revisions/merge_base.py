"""Merge base, which a change is compared with in CI: the last commit in common with the branch it is made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.review.revisions.git import Repository
from cdc_contracts.registry.review.revisions.revision_inputs import Revision, open_commit

_TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""Where code hosts say which branch a change is made for."""
_MAIN: Final = "main"
_HEAD: Final = "HEAD"


def open_base(named: str | None, root: Path, environment: Mapping[str, str]) -> Revision:
    """Return the contracts where a change began: at its merge base with the branch it is made for.

    That is the named one, else the one that the environment names, else the default branch of `origin`, else `main`.
    Raises UsageError if there is no such branch or nothing in common, UnavailableError if there is no repository.
    """
    repository = Repository(root)
    repository.top()
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
        raise UsageError(f"there is no branch {name}", hint="name it with --base")
    return tip
