"""Parsing form of Avro schemas: the one form that all spellings of a schema share, and how Java's parser writes it.

Other registries keep, and hash, what Java's `Schema.toString()` writes; a schema is the same one here only if it is
written the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_COMPLEX: Final = ("record", "error", "enum", "fixed", "array", "map", "union")
_NAMED: Final = ("record", "error", "enum", "fixed")
_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "record": ("doc", "fields", "aliases"),
    "error": ("doc", "fields", "aliases"),
    "enum": ("doc", "symbols", "default", "aliases"),
    "fixed": ("doc", "size", "aliases"),
    "array": ("items",),
    "map": ("values",),
}
"""The attributes of a type besides its name, in Java's order; aliases come after unknown attributes."""
_RESERVED: Final = frozenset(
    {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
)
"""Reserved names of attributes: where they have no meaning, they are dropped. In an enum, `default` as well."""
_FIELD: Final = ("name", "type", "doc", "default", "order", "aliases")


def avro_form(schema: Any, namespace: str = "") -> Any:
    """Return a parsed schema with full names of types, without attributes that have no meaning.

    A type that has nothing but its name is that name; a reference to a type of the namespace around it has none.
    """
    if isinstance(schema, list):
        return [avro_form(branch, namespace) for branch in schema]
    if isinstance(schema, str):
        return _short(schema, namespace)
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or kind is None:
        return schema
    if not isinstance(kind, str) or (kind not in _MEANT and kind not in _PRIMITIVES):
        return avro_form(kind, namespace)
    return _type_form(schema, kind, namespace)


def as_java_writes(form: Any, namespace: str = "") -> Any:
    """Return a form with its keys in Java's order, and namespaces only where they differ from the one around."""
    if isinstance(form, list):
        return [as_java_writes(branch, namespace) for branch in form]
    if not isinstance(form, dict) or "type" not in form:
        return form
    written = {"type": form["type"]}
    if "name" in form:
        inner, _, written["name"] = form["name"].rpartition(".")
        if inner != namespace:
            written["namespace"] = inner
        namespace = inner
    meant = _meant_by(form["type"])
    written |= {key: form[key] for key in meant if key in form and key != "aliases"}
    written |= {key: value for key, value in form.items() if key not in meant and key not in ("type", "name")}
    for part in ("items", "values"):
        if part in written:
            written[part] = as_java_writes(written[part], namespace)
    if isinstance(written.get("fields"), list):
        written["fields"] = [_field_as_java_writes(field, namespace) for field in written["fields"]]
    if "aliases" in form:
        written["aliases"] = [_short(alias, namespace) for alias in form["aliases"]]
    return written


def _type_form(schema: Mapping[str, Any], kind: str, namespace: str) -> Any:
    form = {key: value for key, value in schema.items() if key in _meant_by(kind) or not _is_reserved(key, kind)}
    if kind in _PRIMITIVES:
        return {"type": kind, **form} if form else kind
    if kind in _NAMED and "name" in schema:
        form["name"] = name = _full_name(schema, namespace)
        namespace = name.rpartition(".")[0]
        _keep_aliases(form, namespace)
    for part in ("items", "values"):
        if part in form:
            form[part] = avro_form(form[part], namespace)
    if isinstance(form.get("fields"), list):
        form["fields"] = [_field_form(field, namespace) for field in form["fields"]]
    return {**form, "type": kind}


def _meant_by(kind: str) -> tuple[str, ...]:
    return _MEANT.get(kind, ())


def _is_reserved(key: str, kind: str) -> bool:
    return key in _RESERVED or (kind == "enum" and key == "default")


def _full_name(schema: Mapping[str, Any], namespace: str) -> str:
    name = str(schema["name"])
    if "." in name:
        return name.removeprefix(".") if name.rfind(".") == 0 else name
    inner = schema.get("namespace")
    inner = namespace if inner is None else str(inner)
    return f"{inner}.{name}" if inner else name


def _short(name: str, namespace: str) -> str:
    """Return a name without its namespace, if that is the one around it and no primitive type is called so."""
    inner, _, last = name.rpartition(".")
    return last if inner == namespace and last not in (*_PRIMITIVES, *_COMPLEX) else name


def _keep_aliases(form: dict[str, Any], namespace: str) -> None:
    aliases = form.pop("aliases", None)
    if isinstance(aliases, list) and aliases:
        full = (alias if "." in alias or not namespace else f"{namespace}.{alias}" for alias in map(str, aliases))
        form["aliases"] = list(dict.fromkeys(full))


def _field_form(field: Any, namespace: str) -> Any:
    if not isinstance(field, dict):
        return field
    form = {**field, "type": avro_form(field.get("type"), namespace)}
    order = str(form.pop("order", "ascending")).lower()
    if order != "ascending":
        form["order"] = order
    if not form.get("aliases"):
        form.pop("aliases", None)
    return form


def _field_as_java_writes(field: Any, namespace: str) -> Any:
    if not isinstance(field, dict):
        return field
    known = {key: field[key] for key in _FIELD if key in field}
    known["type"] = as_java_writes(field["type"], namespace)
    return known | {key: value for key, value in field.items() if key not in _FIELD}
