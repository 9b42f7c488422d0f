"""YAML documents in the form of contracts, and the merge that `based_on` means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources.abc import Traversable
from typing import Any, ClassVar, Final

import yaml

from cdc_contracts.registry.core.common.errors import ContractError

DEEPEST: Final = 200
"""How deep a document may be nested; PyYAML's reader in C overruns its stack long before Python would notice."""
MOST_REPEATED: Final = 100_000
"""How many values the aliases of a document may repeat; a few lines can expand to more than fits in memory."""
_KEPT: Final = 256
"""How many documents are kept: lint reads most of them for several rules."""
_BLOCK_STARTS: Final = re.compile(r"(?:^|[\r\x85\u2028\u2029])([ \t?:-]*)", re.MULTILINE)
"""What stands on a line before a block collection that begins on it."""


class _TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Every scalar is text, except true, false, integers and the empty plain value.

    A date or a release such as 3.10 has to stay what was written.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


_TextLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^$"), [""])


class _TextDumper(yaml.SafeDumper):
    """Null is an empty value, as it is read: the word is a text."""


_TextDumper.add_representer(type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))


class _JsonLoader(_TextLoader):
    """Scalars are what JSON has, so that a value written by `write_values` is read as it was."""


_JsonLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^null$"), ["n"])
_JsonLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^-?[0-9]+\.[0-9]+(?:e[-+]?[0-9]+)?$"), list("-0123456789")
)


def parse_values(text: str, where: str, *, may_be_empty: bool = False) -> dict[str, Any]:
    """Return the mapping of JSON values that a YAML text holds. Raises ContractError as `parse_document` does."""
    return parse_document(text, where, _JsonLoader, may_be_empty=may_be_empty)


def write_values(document: Mapping[str, Any]) -> str:
    """Return a mapping of JSON values as YAML, the same text for the same values."""
    readable = json.dumps(document, ensure_ascii=False).isprintable()  # PyYAML breaks lines at some that are not
    return yaml.safe_dump(dict(document), allow_unicode=readable, sort_keys=True, width=100)


def write_document(document: Mapping[str, Any], *, width: int = 80) -> str:
    """Return a document as YAML that `parse_document` reads as it was, in the order of its members."""
    return yaml.dump(document, Dumper=_TextDumper, allow_unicode=True, sort_keys=False, width=width)


def parse_document(
    text: str, where: str, kind: type[_TextLoader] = _TextLoader, *, may_be_empty: bool = False
) -> dict[str, Any]:
    """Return the mapping that a YAML text holds; where that is allowed, a text that says nothing holds an empty one.

    Raises ContractError if the text is no YAML mapping, names a key twice, or is not safe to work with.
    """
    document = _copy(_parse(text, where, kind))  # type: ignore[arg-type]  # a class has a hash
    if document is None and may_be_empty:
        return {}
    if not isinstance(document, dict):
        raise ContractError("not a YAML mapping", where=where)
    return document


@lru_cache(_KEPT)
def _parse(text: str, where: str, kind: type[_TextLoader]) -> Any:
    """Return what a YAML text holds, not to be changed. Raises ContractError."""
    try:
        if _may_be_bomb(text):
            _refuse_bombs(text, where, kind)
        loader = kind(text)
        try:
            node = loader.get_single_node()
            _refuse_duplicates(node, where)
            return None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        why = ", ".join(part for part in (error.context, error.problem) if part)
        raise ContractError(f"not readable as YAML: {why}", where=_line(where, error.problem_mark)) from error
    except yaml.YAMLError as error:
        raise ContractError(f"not readable as YAML: {error}", where=where) from error


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(below) for key, below in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def read_document(path: Traversable, *, may_be_empty: bool = False) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; where that is allowed, a file that says nothing holds an empty one.

    Raises ContractError if the file cannot be read or is no YAML mapping.
    """
    return parse_document(read_text(path), str(path), may_be_empty=may_be_empty)


def read_list(path: Traversable, name: str) -> dict[str, Any]:
    """Return a mapping with what a YAML file holds under a name: so a list is read by the rules of every document.

    Raises ContractError if the file cannot be read or is no YAML.
    """
    return parse_document(f"{name}:\n{read_text(path)}", str(path))


def read_text(path: Traversable) -> str:
    """Return the text of a file. Raises ContractError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(describe_unread(error), where=str(path)) from error


def describe_unread(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file cannot be read, without the name of the file."""
    why = error.strerror or error.__class__.__name__ if isinstance(error, OSError) else "expected text in UTF-8"
    return f"cannot be read: {why}"


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


def _may_be_bomb(text: str) -> bool:
    """Return whether a text has aliases, or could be nested too deep; False is certain, and most texts are.

    A bracket opens two collections at most (`[a: [b: …`), and so does a column: a mapping and a sequence as its value.
    """
    if "&" in text and "*" in text:
        return True
    columns = max(map(len, _BLOCK_STARTS.findall(text)), default=0) + 1
    return 2 * (text.count("[") + text.count("{") + columns) > DEEPEST


def _refuse_bombs(text: str, where: str, kind: type[_TextLoader]) -> None:
    """Refuse a document that is nested without end, or expands to millions of values."""
    values, repeated, open_ones = 0, 0, list[tuple[str | None, int]]()
    held: dict[str | None, int | None] = {}
    for event in yaml.parse(text, kind):
        if isinstance(event, yaml.AliasEvent):
            again = held.get(event.anchor, 0)
            if again is None:
                raise ContractError(f"`*{event.anchor}` contains itself", where=_line(where, event.start_mark))
            values += again
            repeated += again
        elif isinstance(event, yaml.CollectionStartEvent):
            open_ones.append((event.anchor, values))
            values += 1
            held[event.anchor] = None
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_ones.pop()
            held[anchor] = values - before
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            held[event.anchor] = 1
        if len(open_ones) > DEEPEST:
            raise ContractError(f"nested deeper than {DEEPEST}", where=_line(where, event.start_mark))
        if repeated > MOST_REPEATED:
            raise ContractError(f"aliases repeat more than {MOST_REPEATED:,} values", where=where)


def _line(where: str, mark: Any) -> str:
    return where if mark is None else f"{where}:{mark.line + 1}"


def _refuse_duplicates(node: yaml.Node | None, where: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ContractError("a key is a list or a mapping, not text", where=_line(where, key.start_mark))
            if key.value in seen:
                raise ContractError(f"key `{key.value}` occurs twice", where=_line(where, key.start_mark))
            seen.add(key.value)
            _refuse_duplicates(value, where)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, where)
