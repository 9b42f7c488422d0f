"""Reader comparison of two schemas of a registry: whether readers of each read the records of the other.

The rules are those of `cdc-contracts compat` by the policy `cdc`. Its modules are imported when two schemas are
compared, which most runs that name a registry never do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.writer_schemas.writer_schemas import AVRO, ReaderVerdict, SchemaText

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.compatibility_verdict import CompatibilityFinding
    from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

_NAMED: Final = "a schema of the registry"
_SIDES: Final = ("the old version", "the new one")
_MOST_REASONS: Final = 3


def compare_readers(earlier: SchemaText, later: SchemaText) -> ReaderVerdict:
    """Return whether readers of each read the records of the other, with the first reasons if not."""
    if earlier == later:
        return ReaderVerdict(later_reads=True, earlier_reads=True)
    from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED
    from cdc_contracts.registry.authoring.compat.compatibility_verdict import decide
    from cdc_contracts.registry.authoring.compat.levels import BACKWARD, FORWARD, MEANING, Level, Policy
    from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas

    names = (_NAMED, _NAMED) if earlier.kind == later.kind == AVRO else _SIDES  # only others are named in findings
    try:
        sides = _open(*_key(earlier), names[0]), _open(*_key(later), names[1])
        found = compare_schemas(sides[:1], sides[1], level=Level.FULL, policy=Policy.CDC).findings
    except CdcContractsError as error:
        return ReaderVerdict(None, None, (f"not compared: {error.what}",))
    except Exception as error:  # noqa: BLE001  whatever a schema does, the report of the messages has to be written
        return ReaderVerdict(None, None, (f"not compared: {type(error).__name__}",))

    backward, forward = (
        decide(one for one in found if one.direction in (direction, MEANING)) for direction in (BACKWARD, FORWARD)
    )
    weighed = sorted((one for one in found if one.severity in (BREAKING, UNDECIDED)), key=lambda one: one.severity)
    reasons = list(dict.fromkeys(_reasons(weighed)))
    more = len(reasons) - _MOST_REASONS
    rest = (f"and {more:,} more",) if more > 0 else ()
    return ReaderVerdict(backward, forward, (*reasons[:_MOST_REASONS], *rest))


def _key(held: SchemaText) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return held.kind, held.text, tuple(held.referred.items())


@lru_cache(maxsize=2)
def _open(kind: str, text: str, others: tuple[tuple[str, str], ...], name: str) -> SchemaDocument:
    """Return a schema with those that it refers to, each of which comes after those that it needs.

    The later of two Avro schemas is the earlier of the next two, and is read once.
    """
    from cdc_contracts.registry.core.schema.schema_documents import SchemaLimits, read_schema

    limits = SchemaLimits(max_bytes=16 * 1024 * 1024)
    referred: dict[str, SchemaDocument] = {}
    for called, other in others:
        referred[called] = read_schema(other, type=kind, name=called, references=dict(referred), limits=limits)
    return read_schema(text, type=kind, name=name, references=referred, limits=limits)


def _reasons(findings: list[CompatibilityFinding]) -> Iterator[str]:
    for one in findings:
        where = f" (at {one.path})" if one.path else ""
        yield f"{one.rule}: {one.says.rstrip('.')}{where}"
