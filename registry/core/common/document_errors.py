"""Document errors: errors in a document that a person wrote, with the key, the problem, and valid values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

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


class DocumentMisfit(NamedTuple):
    """One error in a document: its place, what was expected there, and what was found."""

    parts: tuple[str, ...]
    expected: str
    found: Any


def describe_misfits(
    error: ValidationError, kind: type[BaseModel], document: Any, examples: Mapping[str, str]
) -> list[DocumentMisfit]:
    """Return every error in a document, those about alternatives of one value as one.

    `examples` shows how a key is written, by its name.
    """
    found: dict[tuple[str, ...], list[DocumentMisfit]] = {}
    for one in error.errors(include_url=False):
        keyed = one["type"] in ("missing", "extra_forbidden")
        parts = _place_in(document, [str(part) for part in one["loc"] if part != "[key]"], keyed=keyed)
        expected, observed = _expected(one, kind, parts, examples)
        found.setdefault(parts, []).append(DocumentMisfit(parts, expected, observed))
    return [
        same[0]._replace(expected=", or ".join(dict.fromkeys(one.expected for one in same))) for same in found.values()
    ]


def _place_in(document: Any, loc: Sequence[str], *, keyed: bool) -> tuple[str, ...]:
    """Return a place without the names of alternatives, which pydantic puts among the keys."""
    parts, value = [], document
    for index, part in enumerate(loc):
        inside = value[part] if isinstance(value, dict) and part in value else None
        if isinstance(value, list | tuple) and part.isdigit() and int(part) < len(value):
            inside = value[int(part)]
        if inside is not None or (isinstance(value, dict) and part in value):
            parts.append(part)
            value = inside
        elif keyed and index == len(loc) - 1:
            parts.append(part)
    return tuple(parts)


def _expected(one: Any, kind: Any, parts: tuple[str, ...], examples: Mapping[str, str]) -> tuple[str, Any]:
    """Return what was expected at a place, with an example or all there is, and what was found."""
    key = parts[-1] if parts else ""
    if one["type"] == "missing":
        return f"the key `{key}`" + (f", as in `{examples[key]}`" if key in examples else ""), "no such key"
    if one["type"] == "extra_forbidden":
        if renamed := _renamed(kind, parts):
            return f"the key `{renamed}`: `{key}` is now `{renamed}`", key
        known = sorted(_keys(kind, parts[:-1]))
        near = get_close_matches(key, known, 1)
        meant = f" (do you mean `{near[0]}`?)" if near else ""
        return f"a known key{meant}" + (f": {', '.join(known)}" if known else ""), key
    if one["type"] == "literal_error":
        values = str(one["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
        near = get_close_matches(str(one["input"]), values, 1)
        meant = f" (do you mean {near[0]}?)" if near else ""
        return (f"one of {', '.join(values)}" if len(values) > 1 else values[0]) + meant, one["input"]
    if one["type"] in ("model_type", "dict_type"):
        known = sorted(_keys(kind, parts))
        example = examples.get(key, "{NAME: VALUE}")
        return f"a mapping, as in `{example}`" + (f"; its keys are {', '.join(known)}" if known else ""), one["input"]
    says = one["msg"].removeprefix("Value error, ")
    if says.startswith("not a JSON Pointer"):
        says = "a JSON Pointer, which begins with /" + (f", as in `{examples[key]}`" if key in examples else "")
    return _KINDS.get(one["type"], says), one["input"]


def describe_misfit(error: ValidationError, kind: type[BaseModel]) -> str:
    """Return why a document is not of a kind, as `place: what`; no value is shown.

    Of several reasons it is an unknown key, which may be why another is missing, else the first.
    """
    first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part) for part in first["loc"] if part != "[key]"]
    if first["type"] == "missing":
        result = "is missing"
    elif first["type"] == "extra_forbidden":
        result = _describe_unknown(place[-1], _renamed(kind, place), sorted(_keys(kind, place[:-1])))
    elif first["type"] in _KINDS:
        found = next((words for known, words in _FOUND if isinstance(first["input"], known)), "nothing")
        result = f"expected {_KINDS[first['type']]}; found {found}"
    else:
        result = first["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}: {result}" if place else result


def _describe_unknown(key: str, renamed: str | None, known: list[str]) -> str:
    if renamed is not None:
        return f"unknown key; `{key}` is now `{renamed}`"
    near = get_close_matches(key, known, 1)
    if near:
        return f"unknown key; do you mean `{near[0]}`?"
    return f"unknown key; there are {', '.join(known)}" if known else "unknown key"


def _keys(kind: Any, place: Iterable[str]) -> set[str]:
    """Return the keys of the mapping at a place in a document; none if they cannot be determined."""
    known = _kind_at(kind, place)
    return {field.alias or name for name, field in known.model_fields.items()} if _is_model(known) else set()


def _renamed(kind: Any, place: Sequence[str]) -> str | None:
    """Return the name that the key at a place has now, if its model says that it had another one before."""
    name: str | None = getattr(_kind_at(kind, place[:-1]), "renamed_keys", {}).get(place[-1])
    return name


def _kind_at(kind: Any, place: Iterable[str]) -> Any:
    """Return the kind of the value at a place in a document; None if it cannot be determined."""
    for part in place:
        known = _plain(kind)
        if _is_model(known):
            fields = {field.alias or name: field.annotation for name, field in known.model_fields.items()}
            kind = fields.get(part)
        else:
            kind = next(iter(one for one in reversed(get_args(known)) if one is not Ellipsis), None)
    return _plain(kind)


def _plain(kind: Any) -> Any:
    """Return a kind without what is annotated to it and without None; of several the only model, else None."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        given = get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)
        kinds = [one for one in given if one is not NoneType]
        models = [one for one in kinds if _is_model(one)]
        kind = kinds[0] if len(kinds) == 1 else models[0] if len(models) == 1 else None
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
