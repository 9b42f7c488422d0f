"""Mismatch messages: the smallest messages of the writer's schema that hold a chosen value in its place."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.compat.avro.avro_writing import MAX_DEPTH, TooDeep
from cdc_contracts.registry.compat.avro.type_paths import TypePath, steps
from cdc_contracts.registry.schema.avro_types.smallest_messages import smallest_sizes
from cdc_contracts.registry.schema.avro_types.type_graph import AvroType

_PLAIN: Final[dict[str, Any]] = {
    "null": None,
    "boolean": False,
    "int": 0,
    "long": 0,
    "float": 0.0,
    "double": 0.0,
    "bytes": b"",
    "string": "",
}


class NoMessage(Exception):
    """Nothing can be written of a schema: a union of nothing has no value."""


class Witnesses:
    """Makes messages of one writer's schema."""

    def __init__(self, root: AvroType) -> None:
        self._root = root
        self._sizes = smallest_sizes(root)
        self.cost = self._sizes[root]
        """About how many values each message holds."""

    def smallest(self, type_: AvroType, depth: int = 0) -> Any:
        """Return the smallest datum of a type. Raises TooDeep and NoMessage."""
        if depth > MAX_DEPTH:
            raise TooDeep
        match type_.kind:
            case "union" if not type_.branches:
                raise NoMessage
            case "union":
                branch = min(type_.branches, key=lambda one: self._sizes[one])
                return branch.label, self.smallest(branch, depth + 1)
            case "record":
                return {field.name: self.smallest(field.type, depth + 1) for field in type_.fields}
            case "array":
                return []
            case "map":
                return {}
            case "enum":
                return type_.symbols[0]
            case "fixed":
                return bytes(type_.size)
        return _PLAIN[type_.kind]

    def message(self, trail: TypePath | None, datum: Any) -> Any:
        """Return a whole message that holds a datum at the end of a path. Raises TooDeep and NoMessage."""
        for count, step in enumerate(steps(trail)):
            if count > MAX_DEPTH:
                raise TooDeep
            datum = self._around(step, datum)
        return datum

    def _around(self, step: TypePath, datum: Any) -> Any:
        match step.inside.kind:
            case "union":
                return step.inside.branches[step.at].label, datum
            case "array":
                return [datum]
            case "map":
                return {"key": datum}
        inner = step.inside.fields[step.at]
        return {field.name: datum if field is inner else self.smallest(field.type) for field in step.inside.fields}
