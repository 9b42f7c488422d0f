"""Block changes: how the members of the records of two schema blocks differ, each by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from cdc_contracts.registry.core.contract.connect_schemas import list_fields
from cdc_contracts.registry.core.message.schema_block_types import type_in_block
from cdc_contracts.registry.core.values import Number, describe_shape, token_of

ChangeKind = Literal["added", "dropped", "type", "nullable", "default"]
_STRUCT: Final = "struct"
_LISTS: Final = {"array": "items", "map": "values"}
_NO_TYPE: Final = "unknown"


class MemberChange(NamedTuple):
    """One change of a member, or of a column in every image: its name with those above it, and what it was and is.

    `old` and `new` are types, `true` or `false`, or the shapes of defaults, None where there is none.
    """

    path: tuple[str, ...]
    change: ChangeKind
    old: str | None
    new: str | None


def compare_blocks(old: Any, new: Any) -> tuple[MemberChange, ...]:
    """Return the changes from one block to another, in the order of the members; those of a row in each image once."""
    found = dict.fromkeys(_compare((), old, new))
    inside: dict[MemberChange, set[str]] = {}
    for one in found:
        inside.setdefault(_without_head(one), set()).update(one.path[:1])
    named = (below if len(inside[below := _without_head(one)]) > 1 else one for one in found)
    return tuple(dict.fromkeys(named))


def _without_head(change: MemberChange) -> MemberChange:
    return change._replace(path=change.path[1:])


def _compare(path: tuple[str, ...], old: Any, new: Any) -> Iterator[MemberChange]:
    """Yield the changes below two schemas of the same name."""
    before, after = _members_of(old), _members_of(new)
    for name in dict.fromkeys([*before, *after]):
        was, now, inner = before.get(name), after.get(name), (*path, name)
        if was is None:
            yield MemberChange(inner, "added", None, _typed(now))
        elif now is None:
            yield MemberChange(inner, "dropped", _typed(was), None)
        else:
            yield from _compare_member(inner, was, now)


def _compare_member(path: tuple[str, ...], old: Any, new: Any) -> Iterator[MemberChange]:
    structs = _struct_of(old) is not None and _struct_of(new) is not None and old.get("type") == new.get("type")
    if not structs and _typed(old) != _typed(new):
        yield MemberChange(path, "type", _typed(old), _typed(new))
    if _is_nullable(old) != _is_nullable(new):
        yield MemberChange(path, "nullable", str(_is_nullable(old)).lower(), str(_is_nullable(new)).lower())
    if _default(old) != _default(new):
        yield MemberChange(path, "default", _shape(_default(old)), _shape(_default(new)))
    if structs:
        yield from _compare(path, _struct_of(old), _struct_of(new))


def _members_of(struct: Any) -> Mapping[str, Any]:
    members = (one for one in list_fields(struct) if isinstance(one, dict))
    return {one["field"]: one for one in members if isinstance(one.get("field"), str)}


def _struct_of(schema: Any) -> Any:
    """Return the struct that a schema is, or lists; None if it is none."""
    while isinstance(schema, dict) and schema.get("type") in _LISTS:
        schema = schema.get(_LISTS[schema["type"]])
    return schema if isinstance(schema, dict) and schema.get("type") == _STRUCT else None


def _typed(schema: Any) -> str:
    return type_in_block(schema) or _NO_TYPE


def _is_nullable(schema: Mapping[str, Any]) -> bool:
    return schema.get("optional") is True


def _default(schema: Mapping[str, Any]) -> str | None:
    default = schema.get("default")
    return token_of(default) if isinstance(default, str | Number | bool) else None


def _shape(default: str | None) -> str | None:
    return None if default is None else describe_shape(default)
