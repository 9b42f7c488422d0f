"""Message Avro schema (`message.avsc`) of a version, with what people need to use it.

For a JSON dialect it is the form that messages are converted to without loss (`avro_records.py`); for an Avro dialect
the record on the wire, whose names are the vendor's. Every record and field says what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from keyword import iskeyword
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.avro_records import (
    ABSENT_ENUM,
    JSON_TEXT,
    NUMBER_TEXT,
    OTHER_MEMBERS,
    member_of,
)
from cdc_contracts.registry.core.message.envelope_times import unit_of_form
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import describe, title_of

READING: Final = "reading"
"""The attribute that says what the shape does not: which value form each source type has, and where the images are."""
_SYMBOL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
_DOCS: Final[Mapping[str, str]] = {
    ABSENT_ENUM: "Stands where the message has no such member; null is a member that is there and says null.",
    NUMBER_TEXT: "A JSON number by its digits as sent: an Avro number would round it.",
    JSON_TEXT: "A JSON array or object as text.",
}
_FIELD_DOCS: Final = {"token": "The number as it stands in the message.", "json": "The array or object without blanks."}
"""What the only fields of such records hold."""
_OTHERS_DOC: Final = "The members of the message that have no field of their own, by name: the columns."
_NAMED: Final = ("record", "enum", "fixed")


@lru_cache(128)
def avro_message_schema(version: Version) -> dict[str, Any]:
    """Return the Avro schema of a version's messages, not to be changed. Raises ContractError if it is broken."""
    is_wire = version.subject != CANONICAL and version.meaning.transport == "avro"
    return _Writer(version, is_wire=is_wire).write()


def namespace_of(version: Version) -> str:
    """Return the namespace of a version's own records: no part of it is a reserved word of any language."""
    system, _, dialect = version.subject.replace("-", "_").partition("/")
    return f"cdc_contracts.{system}_{dialect}.v{version.number}"


def absent_enum() -> dict[str, Any]:
    """Return the type of a member that is not there."""
    return {"type": "enum", "name": ABSENT_ENUM, "symbols": ["ABSENT"], "doc": _DOCS[ABSENT_ENUM]}


class _Writer:
    """Writes one schema: each named type where it is first met, by its name from then on."""

    def __init__(self, version: Version, *, is_wire: bool) -> None:
        self._version = version
        self._is_wire = is_wire
        self._source = version.avro_schema
        self._schema: Any = version.schema
        self._known = dict(named_types(self._source))
        self._written: set[str] = set()
        meaning = None if version.subject == CANONICAL or is_wire else version.meaning
        self._enum_at = None if meaning is None else _closed_op(meaning)
        self._moments = frozenset[str]() if meaning is None else _millis(meaning)

    def write(self) -> dict[str, Any]:
        doc = f"{title_of(self._version)}. {describe(self._version, self._schema.get('description', ''))}"
        own: dict[str, Any] = {"contract": self._version.reference}
        if self._version.subject != CANONICAL:
            own[READING] = _reading(self._version)
        if not self._is_wire:
            own["namespace"] = namespace_of(self._version)
        written: dict[str, Any] = self._record({**self._source, **own}, self._schema, (), doc)
        return written

    def _type(self, avro: Any, schema: Any, at: tuple[str, ...]) -> Any:
        if isinstance(avro, list):
            return self._union(avro, schema, at)
        if isinstance(avro, str):
            found = self._known.get(avro)
            if found is None:
                return self._plain(avro, at)
            avro = found
        match avro["type"]:
            case "record":
                return self._named(avro) or self._record(avro, schema, at, self._doc_of(avro, schema))
            case "enum" | "fixed":
                return self._named(avro) or {**avro, **_doc(self._doc_of(avro, schema))}
            case "array":
                return {**avro, "items": self._type(avro["items"], self._below(schema, "items"), (*at, "0"))}
            case "map":
                return {
                    **avro,
                    "values": self._type(avro["values"], self._below(schema, "additionalProperties"), (*at, "*")),
                }
        return dict(avro)

    def _plain(self, avro: str, at: tuple[str, ...]) -> Any:
        pointer = join_pointer(*at)
        if avro == "string" and pointer == self._enum_at:
            return {"type": "enum", "name": "Op", "doc": "The codes of operations.",
                    "symbols": list(self._version.meaning.ops)}  # fmt: skip
        if avro == "long" and pointer in self._moments:
            return {"type": "long", "logicalType": "timestamp-millis"}
        return avro

    def _union(self, branches: list[Any], schema: Any, at: tuple[str, ...]) -> list[Any]:
        """Return the branches, the one of a member that is not there first: a default is of the first branch."""
        if not self._is_wire:
            branches = sorted(branches, key=lambda branch: name_of(branch) != ABSENT_ENUM)
        return [self._type(branch, schema, at) for branch in branches]

    def _named(self, avro: Mapping[str, Any]) -> str | None:
        """Return the name of a type that is written already, and note one that is not."""
        name = name_of(avro)
        if name in self._written:
            return name
        self._written.add(name)
        return None

    def _record(self, avro: Mapping[str, Any], schema: Any, at: tuple[str, ...], doc: str) -> dict[str, Any]:
        self._written.add(name_of(avro))
        members = [field["name"] if self._is_wire else member_of(field) for field in avro["fields"]]
        fields = [self._field(field, self._member(schema, member), (*at, member))
                  for field, member in zip(avro["fields"], members, strict=True)]  # fmt: skip
        order = ("type", "name", "namespace")
        head = {key: avro[key] for key in order if key in avro}
        rest = {key: value for key, value in avro.items() if key not in (*order, "doc", "fields")}
        return {**head, **_doc(doc), **rest, "fields": fields}

    def _field(self, field: Mapping[str, Any], schema: Any, at: tuple[str, ...]) -> dict[str, Any]:
        written = self._type(field["type"], schema, at)
        doc = _OTHERS_DOC if OTHER_MEMBERS in field else schema.get("description") or field.get("doc", "")
        doc = doc or _FIELD_DOCS.get(field["name"], "")
        default = {}
        if not self._is_wire and isinstance(written, list) and name_of(written[0]) == ABSENT_ENUM:
            default = {"default": "ABSENT"}
        rest = {key: value for key, value in field.items() if key not in ("name", "type", "doc")}
        return {"name": field["name"], **_doc(doc), "type": written, **rest, **default}

    def _below(self, schema: Any, keyword: str) -> Any:
        return self._resolve(schema.get(keyword)) if isinstance(schema, dict) else {}

    def _member(self, schema: Any, name: str) -> Any:
        return self._resolve(schema.get("properties", {}).get(name)) if isinstance(schema, dict) else {}

    def _resolve(self, schema: Any) -> Any:
        """Return a JSON Schema with what a reference in it leads to; its own description wins."""
        while isinstance(schema, dict) and "$ref" in schema:
            target = self._schema["$defs"][schema["$ref"].rpartition("/")[2]]
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema if isinstance(schema, dict) else {}

    def _doc_of(self, avro: Mapping[str, Any], schema: Any) -> str:
        return (
            _DOCS.get(name_of(avro))
            or (schema.get("description") if isinstance(schema, dict) else "")
            or avro.get("doc", "")
        )


def _reading(version: Version) -> dict[str, Any]:
    """Return the form of each source type, by value mapping if there are several, and the images of the contract."""
    forms: dict[str, Any] = {}
    for name in version.mapping_names():
        mapped = version.catalogue.mapping(name).forms
        forms[name] = dict(sorted((one, form) for form, those in mapped.items() for one in those))
    return {
        "value-forms": forms if len(forms) > 1 else next(iter(forms.values())),
        "images": version.resolved["images"],
    }


def _closed_op(meaning: Meaning) -> str | None:
    """Return where the op code is, if its codes are all there are and may be symbols of an Avro enum."""
    op_at = meaning.envelope.op.at
    is_open = any(flag.of is None and flag.codes_at(op_at) is None for flag in meaning.envelope.op.flags)
    fits = all(_SYMBOL.match(code) and not _is_reserved(code) for code in meaning.ops)
    return op_at if fits and not is_open else None


def _is_reserved(name: str) -> bool:
    """Return whether a name is a word that code written from the schema could not use."""
    return iskeyword(name) or name in ("true", "false", "null", "default")


def _millis(meaning: Meaning) -> frozenset[str]:
    """Return where milliseconds since 1970 are: those that no value marks as none are exact as a logical type."""
    return frozenset(
        place.at
        for place in meaning.envelope.times
        if place.at is not None and place.form == "epoch-millis" and place.absent_value is None
        and unit_of_form(place) == "milliseconds"
    )  # fmt: skip


def named_types(avro: Any) -> Iterator[tuple[str, Any]]:
    """Yield every named type that a schema defines, by its name."""
    if isinstance(avro, list):
        for branch in avro:
            yield from named_types(branch)
    elif isinstance(avro, dict):
        if avro.get("type") in _NAMED:
            yield name_of(avro), avro
        for field in avro.get("fields", ()):
            yield from named_types(field["type"])
        yield from named_types(avro.get("items"))
        yield from named_types(avro.get("values"))


def name_of(avro: Any) -> str:
    """Return the name of a type, without its namespace."""
    return str(avro.get("name", avro["type"]) if isinstance(avro, dict) else avro).rpartition(".")[2]


def _doc(text: str) -> dict[str, str]:
    return {"doc": text} if text else {}
