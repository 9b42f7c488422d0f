"""What makes two schemas the same: their text without layout, what they refer to, and what is attached to them."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.schema_documents import AVRO
from cdc_contracts.registry.server.records import Reference, SchemaContent

_LAYOUT: Final = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
_NAMED: Final = ("record", "error", "enum", "fixed")


def make_content(
    schema_type: str,
    text: str,
    references: Sequence[Reference],
    metadata: Mapping[str, Any] | None,
    rule_set: Mapping[str, Any] | None,
    *,
    context: str,
    normalize: bool,
) -> SchemaContent:
    """Return the content of a schema whose text is valid JSON.

    Numbers and strings stay as they were written. `normalize` also puts the keys of objects in
    order. In Avro the order of keys, and whether a name is written in full, never tell two schemas apart.
    """
    text = _write(_parse(text)) if normalize else _LAYOUT.sub(r"\1", text)
    form = _write(_avro_form(_parse(text), "")) if schema_type == AVRO else text
    references = sorted(references, key=lambda reference: reference.name)
    targets = [[reference.name, str(reference.target(context)), reference.version] for reference in references]
    whole = json.dumps([schema_type, form, targets, metadata or None, rule_set or None], sort_keys=True)
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()
    guid = str(uuid.UUID(bytes=digest[:16], version=5))
    return SchemaContent(schema_type, text, tuple(references), metadata or None, rule_set or None, digest.hex(), guid)


class _Number(str):
    """A number as it was written: 1.0 stays 1.0, and no digit is lost."""

    __slots__ = ()


def _parse(text: str) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number)


def _write(value: Any) -> str:
    """Return a parsed value as JSON with the keys of objects in order."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_write(key)}:{_write(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not _is_text(value))


def _is_text(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _avro_form(schema: Any, namespace: str) -> Any:
    """Return an Avro schema with names in full, and a type that has nothing but its name as that name."""
    if isinstance(schema, list):
        return [_avro_form(branch, namespace) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    if set(schema) == {"type"}:
        return _avro_form(schema["type"], namespace)
    form = dict(schema)
    if schema.get("type") in _NAMED:
        name = str(schema.get("name", ""))
        namespace = name.rpartition(".")[0] if "." in name else str(schema.get("namespace") or namespace)
        form.pop("namespace", None)
        form["name"] = name if "." in name or not namespace else f"{namespace}.{name}"
    for part in ("items", "values"):
        if part in schema:
            form[part] = _avro_form(schema[part], namespace)
    if isinstance(schema.get("fields"), list):
        form["fields"] = [
            {**field, "type": _avro_form(field.get("type"), namespace)} if isinstance(field, dict) else field
            for field in schema["fields"]
        ]
    return form
