"""Document errors: errors in a document that a person wrote, with the key, the problem, and valid values."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic import ValidationError

_KINDS: Final = {
    "tuple_type": "a list, as in [ONE, TWO]",
    "list_type": "a list, as in [ONE, TWO]",
    "dict_type": "a mapping, as in {NAME: VALUE}",
    "model_type": "a mapping, as in {NAME: VALUE}",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
}
_FOUND: Final = ((bool, "true or false"), (int, "a number"), (str, "text"), (dict, "a mapping"), (list, "a list"))


def describe_misfit(error: ValidationError, kind: type[BaseModel]) -> str:
    """Return why a document is not of a kind, as `place: what`; no value is shown.

    Of several reasons it is an unknown key, which may be why another is missing, else the first.
    """
    first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part) for part in first["loc"] if part != "[key]"]
    if first["type"] == "missing":
        result = "is missing"
    elif first["type"] == "extra_forbidden":
        result = _describe_unknown(place[-1], sorted(_keys(kind, place[:-1])))
    elif first["type"] in _KINDS:
        found = next((words for known, words in _FOUND if isinstance(first["input"], known)), "nothing")
        result = f"expected {_KINDS[first['type']]}; found {found}"
    else:
        result = first["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}: {result}" if place else result


def _describe_unknown(key: str, known: list[str]) -> str:
    near = get_close_matches(key, known, 1)
    if near:
        return f"unknown key; do you mean `{near[0]}`?"
    return f"unknown key; there are {', '.join(known)}" if known else "unknown key"


def _keys(kind: Any, place: Iterable[str]) -> set[str]:
    """Return the keys of the mapping at a place in a document; none if they cannot be determined."""
    for part in place:
        known = _plain(kind)
        if _is_model(known):
            fields = {field.alias or name: field.annotation for name, field in known.model_fields.items()}
            kind = fields.get(part)
        else:
            kind = next(iter(one for one in reversed(get_args(known)) if one is not Ellipsis), None)
    known = _plain(kind)
    return {field.alias or name for name, field in known.model_fields.items()} if _is_model(known) else set()


def _plain(kind: Any) -> Any:
    """Return a kind without what is annotated to it and without None; None if there are several."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        given = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
        kinds = [one for one in given if one is not NoneType]
        kind = kinds[0] if len(kinds) == 1 else None
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
