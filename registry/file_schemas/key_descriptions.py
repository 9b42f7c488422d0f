"""Key descriptions for editors: the docstring below a field, and the keywords that the vocabulary lists for the key."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, get_args

from pydantic import BaseModel

from cdc_contracts.registry.authoring.explain.rulebook import cross_field_rules
from cdc_contracts.registry.core.contract.phrases import (
    CONTAINERS,
    COUNTED_FROM,
    FULL_LOAD,
    PARAMETERS,
    READINGS,
    UNDOCUMENTED,
)

_LIBRARIES: Final = ("builtins", "pydantic", "msgspec")
_ACROSS: Final = {rule.name: rule.says for rule in cross_field_rules()}
_WORDS: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    **{("Place", key): words for key, words in READINGS.items()},
    ("Applies", "counted_from"): COUNTED_FROM,
    ("Images", "container"): CONTAINERS,
    ("Meaning", "full_load"): FULL_LOAD,
    ("Meaning", "parameters"): PARAMETERS,
    ("Meaning", "undocumented"): UNDOCUMENTED,
    ("Meaning", "rules"): _ACROSS,
    ("Meaning", "notes"): _ACROSS,
}
"""The keywords of a key, by model and key, that the vocabulary explains."""


def describe(kind: type[BaseModel], schema: dict[str, Any]) -> None:
    """Add the meaning of each key to the JSON Schema of a model, and of the models in it."""
    shapes = {**schema.get("$defs", {}), kind.__name__: schema}
    for model in models_in(kind):
        result = {model.model_fields[name].alias or name: text for name, text in docstrings(model).items()}
        for key, shape in shapes.get(model.__name__, {}).get("properties", {}).items():
            if key in result:
                shape["description"] = " ".join([result[key], *describe_words(_words(model.__name__, key, shape))])


def describe_words(words: Mapping[str, str]) -> Iterator[str]:
    """Yield what each word means, as one sentence; nothing if there is no word."""
    if words:
        yield "; ".join(f"`{word}`: {says.rstrip('.')}" for word, says in words.items()) + "."


def models_in(kind: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and every model in its fields, at any depth."""
    found: dict[type[BaseModel], None] = {}
    waiting: list[Any] = [kind]
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one not in found:
                found[one] = None
                waiting += [field.annotation for field in one.model_fields.values()]
        else:
            waiting += get_args(one)
    return list(found)


def _words(model: str, key: str, shape: Any) -> dict[str, str]:
    """Return the words of a key that its schema allows."""
    allowed = set(_allowed(shape))
    return {word: says for word, says in _WORDS.get((model, key), {}).items() if word in allowed}


def _allowed(shape: Any) -> Iterator[str]:
    if isinstance(shape, dict):
        for keyword, value in shape.items():
            if keyword == "enum":
                yield from value
            elif keyword == "const":
                yield value
            else:
                yield from _allowed(value)
    elif isinstance(shape, list):
        for one in shape:
            yield from _allowed(one)


def docstrings(model: type) -> dict[str, str]:
    """Return the docstring below each field of a class, its own or inherited, on one line."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if not kind.__module__.startswith(_LIBRARIES):
            (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
            found |= dict(_documented(body))
    return found


def _documented(body: ast.stmt) -> Iterator[tuple[str, str]]:
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, following in pairwise(statements):
        match field, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
