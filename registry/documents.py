"""YAML documents as contracts write them, and the merge that `based_on` stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from cdc_contracts.registry.errors import ContractError


class _TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Every scalar is text, except true, false, integers and the empty plain value.

    A date or a release such as 3.10 has to stay what was written.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


_TextLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^$"), [""])


class _JsonLoader(_TextLoader):
    """Scalars are what JSON has, so that a value written by `write_values` is read as it was."""


_JsonLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^null$"), ["n"])
_JsonLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+\.[0-9]+(?:e[-+]?[0-9]+)?$"), list("-0123456789")
)


def parse_values(text: str, where: str) -> dict[str, Any]:
    """Return the mapping of JSON values that a YAML text holds. Raises ContractError as `parse_document` does."""
    return parse_document(text, where, _JsonLoader)


def write_values(document: Mapping[str, Any]) -> str:
    """Return a mapping of JSON values as YAML, the same text for the same values."""
    readable = json.dumps(document, ensure_ascii=False).isprintable()  # PyYAML breaks lines at some that are not
    return yaml.safe_dump(dict(document), allow_unicode=readable, sort_keys=True, width=100)


def parse_document(text: str, where: str, kind: type[_TextLoader] = _TextLoader) -> dict[str, Any]:
    """Return the mapping that a YAML text holds.

    Raises ContractError where the text is no YAML mapping or names a key twice.
    """
    try:
        loader = kind(text)
        try:
            node = loader.get_single_node()
            _refuse_duplicates(node, where)
            document = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ContractError(f"not readable as YAML: {error}", where=where) from error
    if not isinstance(document, dict):
        raise ContractError("not a YAML mapping", where=where)
    return document


def read_document(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds.

    Raises ContractError where the file cannot be read or is no YAML mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"cannot be read: {error}", where=str(path)) from error
    return parse_document(text, str(path))


def merge(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` changed by `patch` as RFC 7396 says: objects merge, the rest replaces, null deletes."""
    merged = dict(base)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            below = merged.get(key)
            merged[key] = merge(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def without_nulls(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document as merged over nothing: keys that only delete are gone."""
    return merge({}, document)


def _refuse_duplicates(node: yaml.Node | None, where: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise ContractError(f"key `{key.value}` stands twice", where=f"{where}:{key.start_mark.line + 1}")
            seen.add(key.value)
            _refuse_duplicates(value, where)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, where)
