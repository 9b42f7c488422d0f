"""Lock lint of `ids.lock`: every schema of a contract has an id, and no id ever stands for another schema."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.errors import CdcContractsError
from cdc_contracts.registry.contract.catalogue import CANONICAL
from cdc_contracts.registry.lint.lint_rule import LintFault
from cdc_contracts.registry.sync.id_locks import FILE, Entry, Key, Lock, LockLine, lock_lines, lock_order
from cdc_contracts.registry.sync.publications import published_texts
from cdc_contracts.registry.sync.registry_folders import read_subjects
from cdc_contracts.registry.sync.schema_digests import schema_digest

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun
    from cdc_contracts.registry.lint.lint_targets import Target

_HEAD = 12
"""How many digits of a digest are shown."""


def lines_are_entries_in_order(draft: LintRun) -> Iterator[LintFault]:
    """Every line is an entry, and stands where its id says."""
    for file, lines in _locks(draft):
        above: Entry | None = None
        for line in lines:
            if line.entry is None:
                yield LintFault(file, "ID NAME@VERSION TYPE SHA-256", line.text[:60], spot=(line.number, 1))
                continue
            if above is not None and lock_order(line.entry) < lock_order(above):
                yield LintFault(file, f"{line.entry.key} above {above.key}", "below it", spot=(line.number, 1))
            above = line.entry


def ids_stand_for_one_schema(draft: LintRun) -> Iterator[LintFault]:
    """No id stands for two schemas, no schema stands on two lines."""
    for file, lines in _locks(draft):
        holders: dict[tuple[str, int], Entry] = {}
        keys: dict[Key, Entry] = {}
        for number, entry in _entries(lines):
            holder = holders.setdefault((entry.key.context, entry.id), entry)
            if holder.digest != entry.digest:
                yield LintFault(
                    file, f"an id of its own for {entry.key}", f"{entry.id}, which is {holder.key}'s", spot=(number, 1)
                )
            if entry.key in keys:
                yield LintFault(
                    file, f"one line for {entry.key}", f"another with id {keys[entry.key].id}", spot=(number, 1)
                )
            keys[entry.key] = entry


def schemas_with_ids_stay(draft: LintRun) -> Iterator[LintFault]:
    """A schema that has an id is the one that got it."""
    for target, file, lines in _locked_targets(draft):
        present = _digests(draft, target)
        for number, entry in _entries(lines):
            found = present.get(entry.key)
            if found is not None and found != entry.digest:
                wanted = f"{entry.key} as it got id {entry.id} ({entry.digest[:_HEAD]}…), or a new version"
                yield LintFault(file, wanted, f"{found[:_HEAD]}…", spot=(number, 1))
            elif found is not None and entry.retired:
                yield LintFault(file, f"{entry.key} not retired, as it is there", "retired", spot=(number, 1))


def every_schema_has_an_id(draft: LintRun) -> Iterator[LintFault]:
    """Every contract has both ids, and no entry that is not retired lacks its contract."""
    for target, file, lines in _locked_targets(draft):
        present, locked = _digests(draft, target), {entry.key for _, entry in _entries(lines)}
        for key in present:
            if key.is_contract and key not in locked:
                yield LintFault(file, f"an id for {key}: run `cdc-contracts registry ids`", "none")
        named = {(version.subject, version.number) for version in draft.versions}
        for number, entry in _entries(lines):
            if entry.key.is_contract and not entry.retired and (entry.key.name, entry.key.version) not in named:
                yield LintFault(file, f"{entry.key}, or its line retired", "no such contract", spot=(number, 1))


def _locked_targets(draft: LintRun) -> Iterator[tuple[Target, Traversable, list[LockLine]]]:
    for target in draft.targets.contracts:
        file = target.root.joinpath(FILE)
        if not target.parts and file.is_file():
            yield target, file, _lines(file)


def _locks(draft: LintRun) -> Iterator[tuple[Traversable, list[LockLine]]]:
    for _, file, lines in _locked_targets(draft):
        yield file, lines


def _lines(file: Traversable) -> list[LockLine]:
    return list(lock_lines(file.read_bytes().decode("utf-8", "replace")))


def _entries(lines: list[LockLine]) -> Iterator[tuple[int, Entry]]:
    return ((line.number, line.entry) for line in lines if line.entry is not None)


def _subject_digests(target: Target) -> dict[Key, str]:
    try:
        return {one.key: one.digest for one in read_subjects(Path(str(target.root)), Lock())}
    except CdcContractsError:  # reported by the rule of subjects
        return {}


def _digests(draft: LintRun, target: Target) -> dict[Key, str]:
    """Return the digests of the schemas that contracts of a target publish; other rules report broken ones."""
    found = _subject_digests(target)
    for version in draft.versions:
        if version.subject != CANONICAL and target.covers_version(version) and version.reference in draft.schemas:
            try:
                texts = published_texts(version)
            except (CdcContractsError, TypeError, ValueError):
                continue
            for kind, text in texts.items():
                found[Key(version.subject, version.number, kind)] = schema_digest(kind, text)
    return found
