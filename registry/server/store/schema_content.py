"""Schema content, by which schemas are equal: text without layout, references, and attachments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.authoring.sync.schema_guids import guid_of
from cdc_contracts.registry.core.schema.avro_types.parsing_form import as_java_writes, avro_form
from cdc_contracts.registry.core.schema.schema_documents import AVRO
from cdc_contracts.registry.server.store.registry_records import SchemaContent, StoredReference

_ESCAPED: Final = re.compile(r"\\(u[0-9a-f]{4}|.)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_encode_text = json.JSONEncoder(ensure_ascii=False).encode
_encode_surrogates = json.JSONEncoder().encode


def make_content(
    schema_type: str,
    text: str,
    references: Sequence[StoredReference],
    metadata: Mapping[str, Any] | None,
    rule_set: Mapping[str, Any] | None,
    *,
    context: str,
    normalize: bool,
) -> SchemaContent:
    """Return the content of a schema whose text is valid JSON.

    Numbers stay as written. `normalize` also sorts the keys of objects and the references. In Avro, the order of keys
    and whether a name is fully qualified never make two schemas differ: both are written as Java writes them.
    """
    parsed = _parse(text)
    if normalize:
        parsed = _in_order(parsed)
        references = sorted(set(references), key=lambda one: (one.subject, one.version, one.name))
    if schema_type == AVRO:
        parsed = avro_form(parsed)
        text, form = _write(as_java_writes(parsed)), _write(_in_order(parsed))
    else:
        text = form = _write(parsed)
    references = tuple(references)
    named = sorted((one.name, str(one.target(context)), one.version) for one in references)
    whole = json.dumps([schema_type, form, named, metadata or None, rule_set or None], sort_keys=True)
    identity = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    guid = guid_of(
        text, [(one.name, one.subject, one.version) for one in references], metadata or None, rule_set or None
    )
    return SchemaContent(schema_type, text, references, metadata or None, rule_set or None, identity, guid)


class _Number(str):
    """A number as written: 1.0 stays 1.0, and no digit is lost."""

    __slots__ = ()


def _parse(text: str) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number)


def _in_order(value: Any) -> Any:
    """Return a parsed value with the keys of all objects sorted."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _write(value: Any) -> str:
    """Return a parsed value as compact JSON, as Java's libraries write it."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_write(key)}:{_write(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    return _write_text(value) if isinstance(value, str) else _encode_text(value)


@lru_cache(4096)
def _write_text(value: str) -> str:
    encode = _encode_surrogates if not value.isascii() and _SURROGATE.search(value) else _encode_text
    written = encode(value)
    if "\\" not in written:
        return written
    return _ESCAPED.sub(lambda found: found[0][:2] + found[0][2:].upper(), written)  # upper-case hex digits, as in Java
