"""Type graph of an Avro schema: a name leads to its type, and each type knows where it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import ABSENT

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
NAMED: Final = ("record", "enum", "fixed")


@dataclass(frozen=True, slots=True)
class LogicalType:
    """What the values of a type mean, besides how they are written. Precision and scale are those of decimals."""

    name: str
    precision: int | None = None
    scale: int | None = None

    def __str__(self) -> str:
        return self.name if self.precision is None else f"{self.name}({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True, eq=False)
class AvroField:
    """A field of a record; `default` is ABSENT where there is none, for null is a default."""

    name: str
    type: AvroType
    pointer: str
    aliases: tuple[str, ...] = ()
    default: Any = ABSENT

    @property
    def has_default(self) -> bool:
        return self.default is not ABSENT


@dataclass(slots=True, eq=False)
class AvroType:
    """One type. `source` is the reference that defines it, empty for the schema itself; `name` is the full name.

    A record's fields are there once the whole schema is read: until then the record may be referred to inside itself.
    """

    kind: str
    pointer: str
    source: str = ""
    name: str = ""
    aliases: tuple[str, ...] = ()
    fields: tuple[AvroField, ...] = ()
    symbols: tuple[str, ...] = ()
    default: str | None = None
    size: int = 0
    items: AvroType | None = None
    branches: tuple[AvroType, ...] = ()
    logical: LogicalType | None = None

    @property
    def last_name(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]

    @property
    def label(self) -> str:
        """What the branch of a union is called: the full name, or the kind of an unnamed type."""
        return self.name or self.kind

    @property
    def parts(self) -> Iterator[AvroType]:
        """The types that a value of this type holds, or is one of."""
        if self.items is not None:
            yield self.items
        yield from self.branches
        yield from (field.type for field in self.fields)

    def __str__(self) -> str:
        named = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{named} ({self.logical})" if self.logical else named
