"""Version pairs to compare, as users name them: references to contracts, schema files, schemas in a list of pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    CompatibilityFinding,
    CompatibilityVerdict,
    conclude,
)
from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts, document_of
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.contract_references import parse_reference
from cdc_contracts.registry.core.common.errors import CdcContractsError, UsageError
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON, SchemaDocument, read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version

PRIMITIVES: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
TYPES: Final = (JSON, AVRO)
_ENDINGS: Final = {".json": JSON, ".avsc": AVRO}
_FIRST: Final = ("rule", "confluent_rule", "path", "old", "new", "proof")
"""What of a finding stands first in JSON."""


@dataclass(frozen=True)
class ComparisonRequest:
    """The level and policy of a comparison."""

    level: Level = Level.BACKWARD
    policy: Policy = Policy.CDC


class Comparer:
    """Compares what users name; `open_catalogue` is called only for references."""

    def __init__(self, open_catalogue: Callable[[], Catalogue]) -> None:
        self._open_catalogue = open_catalogue

    @cached_property
    def catalogue(self) -> Catalogue:
        """The contracts that references name."""
        return self._open_catalogue()

    def compare(
        self,
        olds: Sequence[Any],
        new: Any,
        demand: ComparisonRequest,
        *,
        beside: Path | None = None,
        language: str | None = None,
    ) -> CompatibilityVerdict:
        """Return whether a version is compatible with those before it, the oldest first.

        Each is a reference, the path of a schema file, or a schema; `language` says in which language schemas are where
        no ending does. Raises UsageError if one cannot be read.
        """
        sides = [self._read(one, f"old {place + 1}" if olds[1:] else "old", beside, language)
                 for place, one in enumerate(olds)]  # fmt: skip
        return compare_sides(sides, self._read(new, "new", beside, language), demand)

    def _read(self, named: Any, name: str, beside: Path | None, language: str | None) -> Version | SchemaDocument:
        if language == AVRO and isinstance(named, str) and named in PRIMITIVES:  # a whole schema, though a text
            return read_schema(json.dumps(named), type=AVRO, name=name)
        if not isinstance(named, str):
            if not isinstance(named, dict | bool | list):
                raise UsageError("neither a reference, nor a path, nor a schema", where=name)
            return read_schema(json.dumps(named), type=language or JSON, name=name)
        file = _find_file(named, beside)
        if file is None:
            _refuse_no_reference(named)
            return self.catalogue.version(named)
        kind = language or _ENDINGS.get(file.suffix)
        if kind is None:
            raise UsageError("a schema file ends in .json or .avsc", where=named)
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot be read: {error}", where=named) from None
        return read_schema(text, type=kind, name=named, file=str(file))


def compare_sides(
    olds: Sequence[Version | SchemaDocument], new: Version | SchemaDocument, demand: ComparisonRequest
) -> CompatibilityVerdict:
    """Return the verdict of contracts compared as contracts, or of schemas; a contract beside a schema is its schema.

    The policy `cdc` and transitive levels compare with each of the earlier versions, others with the last.
    """
    level, policy = demand.level, demand.policy
    everyone = policy is Policy.CDC or level.is_transitive
    findings: list[CompatibilityFinding] = []
    for old in olds if everyone else olds[-1:]:
        if isinstance(old, SchemaDocument) or isinstance(new, SchemaDocument):
            language = next(one.type for one in (new, old) if isinstance(one, SchemaDocument))
            sides = [one if isinstance(one, SchemaDocument) else document_of(one, language) for one in (old, new)]
            asked = Level.FULL if policy is Policy.CDC else level
            findings += compare_schemas(sides[:1], sides[1], level=asked, policy=policy).findings
        else:
            findings += compare_contracts(old, new, level=level, policy=policy).findings
    return conclude(level, policy, tuple(findings))


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """The result for one pair of a list: its verdict, or why it could not be read."""

    names: tuple[str, ...]
    verdict: CompatibilityVerdict | None
    error: str | None

    def as_document(self) -> dict[str, Any]:
        """Return the outcome as a line of JSON has it."""
        if self.verdict is None:
            return {"compatible": None, "error": self.error}
        return verdict_document(self.verdict)


def read_pairs(file: Path) -> list[Any]:
    """Return the pairs of a file, a JSON list. Raises UsageError if it holds none."""
    try:
        pairs = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not readable as JSON: {error}", where=str(file)) from None
    if not isinstance(pairs, list):
        raise UsageError("not a list of pairs", where=str(file), hint='Write [{"old": …, "new": …}, …].')
    return pairs


def compare_pairs(
    pairs: Sequence[Any], comparer: Comparer, demand: ComparisonRequest, beside: Path
) -> Iterator[PairOutcome]:
    """Yield the outcome of each pair in order; one that cannot be read does not stop the others."""
    for pair in pairs:
        names = tuple(_name_of(pair, side) for side in ("old", "new"))
        try:
            yield PairOutcome(names, _compare_pair(pair, comparer, demand, beside), None)
        except CdcContractsError as error:
            yield PairOutcome(names, None, "; ".join(line.strip() for line in str(error).splitlines()))
        except Exception as error:  # noqa: BLE001  whatever it is, the others are still compared
            yield PairOutcome(names, None, f"{type(error).__name__}: {error} (this is a bug in cdc-contracts)")


def _compare_pair(pair: Any, comparer: Comparer, demand: ComparisonRequest, beside: Path) -> CompatibilityVerdict:
    if not isinstance(pair, dict) or not {"old", "new"} <= pair.keys():
        raise UsageError('a pair has "old" and "new"')
    language = pair.get("type")
    if language is not None and language not in TYPES:
        raise UsageError(f"there is no type `{language}`", hint=f"Use {' or '.join(TYPES)}.")
    demand = replace(
        demand, level=_chosen(Level, pair, "level", demand), policy=_chosen(Policy, pair, "policy", demand)
    )
    olds = pair["old"] if _names_several(pair["old"], language) else [pair["old"]]
    if not olds:
        raise UsageError('"old" names nothing')
    return comparer.compare(olds, pair["new"], demand, beside=beside, language=language)


def _names_several(old: Any, language: str | None) -> bool:
    """Return whether a list holds earlier versions and is not an Avro union, which is empty or holds type names."""
    if not isinstance(old, list):
        return False
    is_union = not old or not PRIMITIVES.isdisjoint(map(str, old))
    return not (language == AVRO and is_union)


def _chosen(kind: Any, pair: dict[str, Any], name: str, demand: ComparisonRequest) -> Any:
    value = pair.get(name)
    if value is None:
        return getattr(demand, name)
    if value not in list(kind):
        raise UsageError(f"there is no {name} `{value}`", hint=f"Use one of {', '.join(kind)}.")
    return kind(value)


def verdict_document(verdict: CompatibilityVerdict) -> dict[str, Any]:
    """Return a verdict as plain data."""
    return {
        "compatible": verdict.compatible,
        "level": verdict.level.value,
        "policy": verdict.policy.value,
        "findings": [finding_document(finding) for finding in verdict.findings],
    }


def finding_document(finding: CompatibilityFinding) -> dict[str, Any]:
    """Return a finding as plain data: what everybody asks for first."""
    document = asdict(finding)
    return {name: document[name] for name in dict.fromkeys([*_FIRST, *document])}


def _refuse_no_reference(named: str) -> None:
    try:
        parse_reference(named)
    except UsageError:
        hint = "Write SYSTEM/DIALECT@N, or the path of a .json or .avsc file."
        raise UsageError(f"`{named}` is neither a reference to a contract nor a file", hint=hint) from None


def _find_file(named: str, beside: Path | None) -> Path | None:
    """Return the file that a name stands for: in the working directory, else beside the list; None for a reference."""
    for folder in (Path(), beside):
        if folder is not None and (folder / named).is_file():
            return folder / named
    if Path(named).suffix in _ENDINGS:
        raise UsageError(f"there is no file {named}")
    return None


def _name_of(pair: Any, side: str) -> str:
    named = pair.get(side) if isinstance(pair, dict) else None
    if isinstance(named, list):
        return ", ".join(_name_of({side: one}, side) for one in named)
    return named if isinstance(named, str) else "a schema"
