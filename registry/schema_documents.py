"""A schema as a user or a registry hands it in: JSON Schema or Avro, parsed, with the file it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

JSON: Final = "JSON"
AVRO: Final = "AVRO"


@dataclass(frozen=True, eq=False)
class SchemaDocument:
    """A parsed schema. `name` is what the user calls it: a reference, a file, a subject and version."""

    type: str
    name: str
    document: Any
    text: str
    file: str | None = None
