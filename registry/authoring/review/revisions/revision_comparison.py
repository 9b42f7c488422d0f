"""Revision comparison: current contracts compared with their published revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding, TextPlace
from cdc_contracts.registry.authoring.compat.publication import compare_published
from cdc_contracts.registry.authoring.compat.tables.table_comparison import compare_tables
from cdc_contracts.registry.authoring.compat.text_places import find_positions
from cdc_contracts.registry.authoring.lint.suppressions import is_compared
from cdc_contracts.registry.authoring.review.revisions.table_revisions import tables_beside
from cdc_contracts.registry.authoring.sync.schema_ids import compare_ids
from cdc_contracts.registry.core.common.contract_references import parse_reference
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.common.rule_modules import TABLE_RULES, find_records
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.ignore_comments import Ignore
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.authoring.lint.lint_targets import Target
    from cdc_contracts.registry.authoring.review.revisions.revision_inputs import Revision

_CONTRACT: Final = "contract.yaml"
_BASE: Final = "/based_on"


@dataclass(frozen=True)
class RevisionComparison:
    """The result of comparing published contracts: findings about what is under lint, and what was compared."""

    run: LintRun
    target: Target
    revision: Revision
    findings: tuple[CompatibilityFinding, ...]
    checked: Mapping[str, int]
    notes: tuple[str, ...]
    tables: Mapping[str, Traversable] = field(default_factory=dict)
    """The current file of each table contract, by the name of its table."""

    def place_of(self, finding: CompatibilityFinding) -> TextPlace:
        """Return the current place of a finding; for removed files, the nearest remaining one."""
        place = finding.new_place
        if place is not None and place.file is not None and Path(place.file).exists():
            return place if _is_below(Path(place.file), self.target.root) else self._base_of(finding) or place
        if finding.rule in _table_rules():
            table = split_pointer(finding.path)[0]
            return TextPlace("", str(self.tables.get(table, self.target.root)))
        return TextPlace("", str(self._nearest(finding.old_version)))

    def ignore_of(self, finding: CompatibilityFinding) -> Ignore | None:
        """Return the comment by which a finding is ignored."""
        place = self.place_of(finding)
        for one in self.run.ignores:
            if not one.is_over(self.run.today) and one.covers(
                finding.rule, place.file or "", place.line, place.pointer
            ):
                return one
        return None

    def new_ignores(self) -> Iterator[Ignore]:
        """Yield the new comments about compatibility.

        The others suppressed a change that is published by now; they expire.
        """
        for one in self.run.ignores:
            if is_compared(one.rule) and not one.problem and not one.is_over(self.run.today):
                before = self._before(one.file)
                if one.text not in before:
                    yield one

    def _before(self, file: Traversable) -> str:
        """Return the content of a file in the revision compared with; empty if it was not there."""
        root = self.revision.root
        if root is None or not _is_below(file, self.target.root):
            return ""
        then = root.joinpath(*Path(str(file)).relative_to(str(self.target.root)).parts)
        return then.read_text(encoding="utf-8") if then.is_file() else ""

    def _base_of(self, finding: CompatibilityFinding) -> TextPlace | None:
        """Return where a contract names the one it is based on, which is not under lint itself."""
        file = self.target.root.joinpath(*_parts(finding.new_version), _CONTRACT)
        if not file.is_file():
            return None
        line, column = find_positions(file.read_text(encoding="utf-8"), {_BASE}).get(_BASE, (None, None))
        return TextPlace(_BASE, str(file), line, column)

    def _nearest(self, reference: str) -> Traversable:
        subject = parse_reference(reference).subject
        system = subject.partition("/")[0]
        left = [one for one in self.run.catalogue.all_versions() if _is_below(one.folder, self.target.root)]
        near = [one for one in left if one.subject == subject] or [
            one for one in left if one.subject.startswith(system)
        ]
        files = [one.folder.joinpath(_CONTRACT) for one in (near or left)[-1:]]
        return next((file for file in files if file.is_file()), self.target.root)


def root_to_compare(run: LintRun) -> tuple[Target, Path]:
    """Return the one folder of contracts under lint that can be compared. Raises UsageError if there is none."""
    targets = run.targets.contracts
    if len({str(target.root) for target in targets}) != 1:
        raise UsageError(
            "the folder of contracts to compare is ambiguous or missing", hint="Name one: `breaking contracts …`."
        )
    root = Path(str(targets[0].root))
    if not root.is_dir():
        raise UsageError(f"the contracts are not in a folder of their own: {root}", hint="Name a folder of contracts.")
    return targets[0], root


def compare_contracts(run: LintRun, revision: Revision) -> RevisionComparison:
    """Return how the contracts under lint differ from those of a revision.

    Raises ContractError if a contract on either side is inconsistent.
    """
    target, _ = root_to_compare(run)
    own = [one for one in run.catalogue.roots if str(one) != str(target.root)]
    if revision.root is None:
        note = f"there are no contracts yet in {revision.name}, so nothing was compared"
        return RevisionComparison(run, target, revision, (), {"contracts": 0}, (note, *revision.missing))
    old = Catalogue([*own, revision.root])
    published, present = _own(old, revision.root), _own(run.catalogue, target.root)
    gone = published - present
    new = _Remaining(run.catalogue.roots, gone) if gone else run.catalogue
    found = tuple(one for one in compare_published(old, new) if _is_asked(target, one))
    found += () if target.parts else tuple(compare_ids(revision.root, target.root))
    count = sum(target.covers(*_parts(reference)) for reference in published)
    before, tables = (() if target.parts else tables_beside(root) for root in (revision.root, target.root))
    found += compare_tables(before, tables).findings if before else ()  # a registry holds none
    return RevisionComparison(
        run,
        target,
        revision,
        found,
        {"contracts": count},
        (f"compared with {revision.name}", *revision.missing),
        {one.contract.table: one.file for one in tables if one.file is not None},
    )


@cache
def _table_rules() -> frozenset[str]:
    return frozenset(rule.id for rule in find_records(TABLE_RULES, CompatibilityRule))


class _Remaining(Catalogue):
    """A catalogue without the contracts that were removed from a folder, even if they are shipped as well."""

    def __init__(self, roots: Sequence[Traversable], gone: AbstractSet[str]) -> None:
        super().__init__(roots)
        self._gone = gone

    def subjects(self) -> list[str]:
        return [subject for subject in super().subjects() if self.versions(subject)]

    def versions(self, subject: str) -> list[Version]:
        return [version for version in super().versions(subject) if version.reference not in self._gone]


def _own(catalogue: Catalogue, root: Traversable) -> set[str]:
    """Return the references of the contracts in a folder itself."""
    return {version.reference for version in catalogue.all_versions() if _is_below(version.folder, root)}


def _is_asked(target: Target, finding: CompatibilityFinding) -> bool:
    """Return whether a finding is about a part that is under lint: a version of it, or a file in it."""
    if any(target.covers(*_parts(reference)) for reference in (finding.old_version, finding.new_version) if reference):
        return True
    file = finding.new_place.file if finding.new_place else None
    return file is not None and _is_below(Path(file), target.root.joinpath(*target.parts))


def _parts(reference: str) -> tuple[str, ...]:
    parsed = parse_reference(reference)
    return (*parsed.subject.split("/"), f"v{parsed.selector}")


def _is_below(file: Traversable, folder: Traversable) -> bool:
    return f"{file}/".startswith(f"{str(folder).rstrip('/')}/")
