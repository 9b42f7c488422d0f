"""Envelope schemas of a draft: the members of the messages as JSON Schema, and the same as an Avro record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import JSON_TEXT, RowPlaces
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.message.avro_records import name_field
from cdc_contracts.registry.core.values import Number

_PLAIN_KINDS: Final = ("null", "boolean", "number", "string")
_ORDER: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_OWN_NAMES: Final = ("Message", "Absent", "NumberText", "JsonText")
_JSON_TEXT: Final = {
    "type": "record", "name": "JsonText", "doc": "A JSON array or object as text.",
    "fields": [{"name": "json", "type": "string"}],
}  # fmt: skip
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_]")


@dataclass
class SchemaDraft:
    """Builds the schema of messages from their values."""

    members: Members
    places: RowPlaces
    codes: OpCodes
    inherited: Sequence[str] = ()
    """Op codes that a contract takes from what it is based on, besides those that were seen."""

    @property
    def _column(self) -> dict[str, Any]:
        """The schema of a column: arrays and objects only where rows have some."""
        return {"type": [*_PLAIN_KINDS, *sorted(self.places.structures)]}

    def build(self, identifier: str, title: str) -> dict[str, Any]:
        """Return the JSON Schema that takes exactly members of the kinds that were seen."""
        contents = [message.content for message in self.members.messages]
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": identifier, "title": title}
        return head | self._schema((), contents)

    def _schema(self, parts: Parts, values: Sequence[Any]) -> dict[str, Any]:
        if self.places.container == JSON_TEXT and parts in self.places.images:
            text = {"type": ["object", "string", "null"], "contentMediaType": "application/json"}
            return text | {"additionalProperties": self._column}
        kinds = _kinds(values)
        schema: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        if parts == self.codes.member.parts:
            return {"type": "string", "enum": list(dict.fromkeys([*self.inherited, *self.codes.ops]))}
        types = self.places.types
        if parts in self.places.blocks:
            return schema | {"additionalProperties": {"type": [*_PLAIN_KINDS, "array", "object"]}}
        if parts in self.places.images and parts != self.places.flattened:
            self._add_rows(schema, values)
        elif types is not None and parts == types.parts and "object" in kinds:
            schema["additionalProperties"] = {"type": "string"}
        elif parts == self.places.codes:
            schema["additionalProperties"] = {"type": "integer"}
        elif "object" in kinds:
            self._add_members(schema, parts, [value for value in values if isinstance(value, dict)])
        if "items" not in schema and "array" in kinds:
            items = [one for value in values if isinstance(value, list) for one in value]
            schema["items"] = self._schema((*parts, "*"), items) if items else {"type": "null"}
        return schema

    def _add_rows(self, schema: dict[str, Any], values: Sequence[Any]) -> None:
        row: dict[str, Any] = {"type": "object"}
        if self.places.types_in_image is not None:
            member, _ = self.places.types_in_image
            rows = [one for value in values for one in (value if isinstance(value, list) else [value])]
            held = [row_[member] for row_ in rows if isinstance(row_, dict) and member in row_]
            inner = [one for value in held if isinstance(value, dict) for one in value.values()]
            described: dict[str, Any] = {"type": "object"}
            self._add_members(described, ("*",), [one for one in inner if isinstance(one, dict)])
            row["properties"] = {member: {"type": "object", "additionalProperties": described}}
        row["additionalProperties"] = self._column
        if "array" in schema["type"]:
            schema["items"] = row
        else:
            schema |= {key: value for key, value in row.items() if key != "type"}

    def _add_members(self, schema: dict[str, Any], parts: Parts, objects: Sequence[dict[str, Any]]) -> None:
        flat = parts == self.places.flattened
        names = dict.fromkeys(name for one in objects for name in one)
        named = [name for name in names if not flat or name in self.places.not_columns]
        schema["properties"] = {
            name: self._described(parts, name, [one[name] for one in objects if name in one]) for name in named
        }
        *holder, code = self.codes.member.parts
        if parts == tuple(holder) and code not in names and not self.codes.ops:
            schema["properties"][code] = {"type": "string", "description": "An op code: no message has one."}
        schema["required"] = [name for name in named if all(name in one for one in objects)]
        schema["additionalProperties"] = self._column if flat else False

    def _described(self, parts: Parts, name: str, values: Sequence[Any]) -> dict[str, Any]:
        schema = self._schema((*parts, name), values)
        place = (*parts, name)
        if place in self.members:
            member = self.members[place]
            schema["description"] = (
                f"In {member.kinds.total():,} of {len(self.members.messages):,} messages, first in {member.first}."
            )
        return schema


def _kinds(values: Sequence[Any]) -> list[str]:
    found = {"integer" if isinstance(value, Number) and _fits_long(value) else kind_of(value) for value in values}
    if "number" in found:
        found.discard("integer")
    return [kind for kind in _ORDER if kind in found] or ["null"]


def _fits_long(number: Number) -> bool:
    return number.token.lstrip("-").isdigit() and abs(int(number.token)) < 2**63


@dataclass
class AvroDraft:
    """Writes a JSON Schema as an Avro record, in which every message keeps all that it says."""

    namespace: str
    _written: set[str] = field(default_factory=set)

    def build(self, schema: dict[str, Any], title: str) -> dict[str, Any]:
        """Return the record; a member with a name that Avro does not take has an escaped one."""
        return {"type": "record", "name": "Message", "namespace": self.namespace, "doc": title,
                "fields": self._fields(schema, ())}  # fmt: skip

    def _fields(self, schema: dict[str, Any], parts: Parts) -> list[dict[str, Any]]:
        fields: list[dict[str, Any]] = []
        for name, below in schema.get("properties", {}).items():
            type_ = self._type(below, (*parts, name), required=name in schema.get("required", ()))
            fields.append(name_field(name) | {"type": type_})
        if schema.get("additionalProperties"):
            taken = {one["name"] for one in fields}
            name = next(one for one in ("columns", "other_columns", "row_columns") if one not in taken)
            values = self._type(schema["additionalProperties"], (*parts, name), required=True)
            fields.append({"name": name, "other-members": True, "type": {"type": "map", "values": values}})
        return fields

    def _type(self, schema: dict[str, Any], parts: Parts, *, required: bool) -> Any:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
        branches: list[Any] = ["null"] if "null" in kinds else []
        if not required:
            branches.append(self._named("Absent", {"type": "enum", "name": "Absent", "symbols": ["ABSENT"]}))
        if {"array", "object"} & {*kinds} and not {"items", "properties", "additionalProperties"} & schema.keys():
            kinds = [kind for kind in kinds if kind not in ("array", "object")]
            branches.append(self._named("JsonText", _JSON_TEXT))
        branches += [self._branch(kind, schema, parts) for kind in kinds if kind != "null"]
        return branches[0] if len(branches) == 1 else branches

    def _branch(self, kind: str, schema: dict[str, Any], parts: Parts) -> Any:
        if kind == "integer":
            return "long"
        if kind == "number":
            fields = [{"name": "token", "type": "string"}]
            doc = "A JSON number, every digit kept."
            return self._named("NumberText", {"type": "record", "name": "NumberText", "doc": doc, "fields": fields})
        if kind == "array":
            return {"type": "array", "items": self._type(schema["items"], (*parts, "item"), required=True)}
        if kind != "object":
            return kind
        if schema.get("properties") is None:
            return {
                "type": "map",
                "values": self._type(schema["additionalProperties"], (*parts, "value"), required=True),
            }
        name = "".join(part[:1].upper() + part[1:] for part in (_NOT_PLAIN.sub("", part) for part in parts))
        name = f"Part{name}" if not name or name[0].isdigit() else name
        return {"type": "record", "name": self._free(name), "fields": self._fields(schema, parts)}

    def _named(self, name: str, avro: dict[str, Any]) -> Any:
        if name in self._written:
            return name
        self._written.add(name)
        return avro

    def _free(self, name: str) -> str:
        while name in self._written or name in _OWN_NAMES:
            name += "_"
        self._written.add(name)
        return name
