"""Schema mismatches: where a reader cannot read a writer's data, or reads it differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cdc_contracts.registry.authoring.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroField, AvroType


@dataclass(frozen=True, slots=True, eq=False)
class TypePath:
    """One step: from a writer's type `inside` to its part `at`, a field, a branch, or the items of a collection.

    `under_union` says that the reader has a union here or above.
    """

    before: TypePath | None
    inside: AvroType
    at: int
    under_union: bool

    @property
    def member(self) -> str | None:
        """The name that the step has in a message; a branch of a union has none."""
        match self.inside.kind:
            case "record":
                return self.inside.fields[self.at].name
            case "array":
                return "0"
            case "map":
                return "*"
        return None


def steps(trail: TypePath | None) -> Iterator[TypePath]:
    """Yield the steps of a path, the last one first."""
    while trail is not None:
        yield trail
        trail = trail.before


def message_pointer(trail: TypePath | None) -> str:
    """Return the pointer of a path in a message: 0 means any item of an array, * any key of a map."""
    members = [step.member for step in steps(trail)]
    return join_pointer(*(member for member in reversed(members) if member is not None))


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a schema: a JSON Pointer into the reference that `source` names, empty for the schema itself."""

    pointer: str
    source: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SchemaSide:
    """One side of a mismatch: its type, the value that differs, and where, None if it is absent."""

    type: AvroType
    value: Any
    at: Spot | None


@dataclass(frozen=True, slots=True, eq=False)
class Mismatch:
    """A place where a rule is broken. `fact` states it in a sentence with `{reader}` and `{writer}`.

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
