"""The page of the Python interface: each function and class that is exported, from its signature and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

_WIDEST: Final = 75


def describe_exports(module: ModuleType, prefix: str) -> Iterator[str]:
    """Yield the lines about all that a module exports: functions, then classes; types that are written out are left."""
    exported = {name: getattr(module, name) for name in module.__all__ if not name.startswith("__")}
    functions = {name: one for name, one in exported.items() if inspect.isfunction(one)}
    for name in sorted(functions):
        yield from describe_function(functions[name], f"{prefix}.{name}")
    classes = {name: one for name, one in exported.items() if inspect.isclass(one)}
    for name in sorted(classes, key=lambda name: (issubclass(classes[name], Exception), name)):
        yield from _describe_class(classes[name], name)


def describe_function(function: Any, name: str, level: str = "###", title: str | None = None) -> Iterator[str]:
    """Yield a heading, the signature and the docstring of a function."""
    yield from (f"{level} {title or name}", "", "```python", write_signature(function, name), "```", "")
    yield from (inspect.getdoc(function) or "", "")


def write_signature(function: Any, name: str) -> str:
    """Return a signature as it is written in code, one parameter a line where it is long."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.name != "self"]
    text = f"{name}{signature.replace(parameters=own)}".removesuffix(" -> None")
    text = re.sub(r"ForwardRef\(('[^']*')\)", r"\1", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are read when they are needed
    if len(text) > _WIDEST:
        text = re.sub(r"(?<=\()(?=[\w*])|(?<=, )(?=(?:\*|\w+: ))", "\n    ", text).replace(") ->", "\n) ->")
        text = text if "\n) ->" in text else re.sub(r"\)$", "\n)", text)
    return re.sub(r" +\n", "\n", text)


def _describe_class(class_: type, name: str) -> Iterator[str]:
    yield from (f"### {name}", "", inspect.getdoc(class_) or "", "")
    rows = list(_attributes(class_))
    if rows:
        yield from ("| attribute | type | meaning |", "| --- | --- | --- |")
        for attribute, type_, meaning in rows:
            yield f"| `{attribute}` | `{_in_cell(type_)}` | {_in_cell(meaning)} |"
        yield ""
    for method, function in vars(class_).items():
        if inspect.isfunction(function) and not method.startswith("_"):
            yield from describe_function(function, f".{method}", "####", f"{name}.{method}")


def _attributes(class_: type) -> Iterator[tuple[str, str, str]]:
    """Yield the attributes of a class and of those it extends: names, types and the docstrings below them."""
    for one in reversed(class_.__mro__):
        if not one.__module__.startswith(("cdc_contracts.api", "cdc_contracts.testing")):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                if not statement.target.id.startswith("_"):
                    yield statement.target.id, ast.unparse(statement.annotation), _text_of(following)
            elif (
                isinstance(statement, ast.FunctionDef)
                and any(
                    ast.unparse(decorator) in {"property", "cached_property"} for decorator in statement.decorator_list
                )
                and not statement.name.startswith("_")
            ):
                type_ = ast.unparse(statement.returns) if statement.returns else ""
                yield statement.name, type_, ast.get_docstring(statement) or ""


def describe_types(*modules: ModuleType) -> Iterator[str]:
    """Yield a table of the types that modules give names to, and a docstring."""
    yield from ("| type | is |", "| --- | --- |")
    for module in modules:
        body = ast.parse(inspect.getsource(module)).body
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.Assign) and _text_of(following):
                yield f"| `{ast.unparse(statement.targets[0])}` | {_text_of(following)} |"
    yield ""


def _in_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text_of(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""
