"""Schema mismatches: where a reader cannot read, or reads otherwise, what a writer writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cdc_contracts.registry.compat.avro.type_paths import TypePath
from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.schema.avro_types.type_graph import AvroField, AvroType


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a schema: a JSON Pointer into the reference that `source` names, empty for the schema itself."""

    pointer: str
    source: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SchemaSide:
    """What one side has at a mismatch: its type, the value that differs, and where, None if it is absent."""

    type: AvroType
    value: Any
    at: Spot | None


@dataclass(frozen=True, slots=True, eq=False)
class Mismatch:
    """A place where a rule is broken. `fact` says what is so, in words of `{reader}` and `{writer}`.

    `field` is the reader's field that is not written, `symbol` a symbol that the reader has not.
    """

    rule: CompatibilityRule
    fact: str
    reader: SchemaSide
    writer: SchemaSide
    trail: TypePath | None
    under_union: bool
    field: AvroField | None = None
    symbol: str | None = None
