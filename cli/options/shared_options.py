"""Shared options: options that several commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Catalogue

_SETTINGS = "cdc-contracts.yaml"

ContractFolders = Annotated[
    list[Path] | None,
    typer.Option("--contracts", metavar="DIR", help="Your own contracts, besides those shipped. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a parameter whose type is a dataclass into an option per field, which typer cannot do by itself."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if not is_dataclass(parameter.annotation):
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group = parameter.annotation
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[one.name],
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
            )
            for one in fields(group)
        ]

    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        command(**given)

    call.__doc__ = command.__doc__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def open_catalogue(folders: Sequence[Path] | None, *, target: Path | None = None) -> Catalogue:
    """Return the shipped contracts, those of some folders, and those of the folders that `cdc-contracts.yaml` names.

    `target` is a folder to write to: if the settings name it, it need not hold a contract yet.
    Raises UsageError if a folder is missing or holds no contract, ContractError if the settings are wrong.
    """
    from cdc_contracts.registry.core.contract import contract_folders

    of_settings = [one for one in _folders_of_the_settings() if target is None or one.resolve() != target.resolve()]
    named = {folder.resolve(): folder for folder in reversed([*(folders or ()), *of_settings])}
    return contract_folders.open_catalogue(list(reversed(named.values())))


def _folders_of_the_settings() -> list[Path]:
    if not Path(_SETTINGS).exists():
        return []
    from cdc_contracts.registry.core.contract.settings import read_settings

    return [Path(folder) for folder in read_settings(Path.cwd()).contracts]


def check_folders(folders: Sequence[Path] | None) -> list[Path]:
    """Return the folders that `--contracts` names. Raises UsageError if one is missing or holds no contract."""
    from cdc_contracts.registry.core.contract import contract_folders

    return contract_folders.check_folders(folders)


def parse_pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return the values of an option by their names. Raises UsageError if one is not NAME=VALUE."""
    pairs = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"`{text}` is not NAME=VALUE", where=option)
        pairs[name.strip()] = value.strip()
    return pairs
