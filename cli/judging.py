"""Options of every command that judges messages, and the scope they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import open_catalogue
from cdc_contracts.registry.errors import UsageError
from cdc_contracts.registry.findings import Severities

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Catalogue
    from cdc_contracts.registry.scope import Scope, Undetected
    from cdc_contracts.registry.terms import Terms

Contract = Annotated[
    str | None,
    typer.Option(
        "--contract", metavar="REF", help="SYSTEM/DIALECT@N, SYSTEM/DIALECT, or auto: found out from a sample."
    ),
]
Tables = Annotated[
    Path | None, typer.Option("--tables", metavar="FILE|DIR", help="Table contracts: column types, keys, time zones.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--parameter", metavar="NAME=VALUE", help="What the wire does not say, e.g. timestamp_zone=+08:00."),
]
Table = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="[DATABASE.]TABLE", help="The table of messages that do not say it; else the topic's name."
    ),
]
Raised = Annotated[
    list[str] | None, typer.Option("--severity", metavar="CLASS=LEVEL", help="Let a class of drift weigh more.")
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="WORDS",
        help="What makes it exit 1: error, warning, info, or classes; with commas between.",
    ),
]
MaxBytes = Annotated[int, typer.Option("--max-bytes", help="A longer message is malformed.", min=1)]
StrictJson = Annotated[bool, typer.Option("--strict-json", help="A member name that stands twice is malformed.")]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Show values of rows in the report, which has their shapes else.")
]

AUTO = "auto"
"""The contract that is found out from the messages."""
MOST_BYTES = 64 * 1024 * 1024
"""`registry.messages.MAX_BYTES`, which takes long to import; a test compares the two."""


def open_terms(*, tables: Path | None, parameters: Sequence[str] | None) -> Terms:
    """Return the terms that the options stand for, for a command that judges nothing."""
    from cdc_contracts.registry.tables import TableContracts, read_table_contracts
    from cdc_contracts.registry.terms import Terms

    return Terms(
        parameters=_pairs(parameters, "--parameter"),
        tables=read_table_contracts(tables) if tables else TableContracts(),
    )


def open_run(
    contract: str | None,
    *,
    folders: Sequence[Path] | None,
    tables: Path | None,
    parameters: Sequence[str] | None,
    severities: Sequence[str] | None,
    fail_on: str,
    max_bytes: int = MOST_BYTES,
    strict_json: bool = False,
    topics: Sequence[str] = (),
    table: str | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    wrapping: str | None = None,
    show_values: bool = False,
) -> Scope | Undetected:
    """Return the scope that the options and `cdc-contracts.yaml` stand for; without a contract it is to be found out.

    Raises UsageError where the contract is not known, or an option is not of its form.
    """
    from cdc_contracts.registry.scope import Undetected, open_scope

    catalogue, terms, reference = open_terms_of_run(
        contract, folders=folders, tables=tables, parameters=parameters, severities=severities, fail_on=fail_on,
        max_bytes=max_bytes, strict_json=strict_json, topics=topics, table=table, include=include, exclude=exclude,
        show_values=show_values, wrapping=wrapping,
    )  # fmt: skip
    return Undetected(catalogue, terms) if reference in (None, AUTO) else open_scope(catalogue, reference, terms)


def open_terms_of_run(
    contract: str | None,
    *,
    folders: Sequence[Path] | None,
    tables: Path | None,
    parameters: Sequence[str] | None,
    severities: Sequence[str] | None,
    fail_on: str = "warning",
    max_bytes: int = MOST_BYTES,
    strict_json: bool = False,
    topics: Sequence[str] = (),
    table: str | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    show_values: bool = False,
    wrapping: str | None = None,
) -> tuple[Catalogue, Terms, str | None]:
    """Return the catalogue, the terms and the contract that the options and `cdc-contracts.yaml` stand for.

    The contract is None where nothing names one. Raises UsageError where an option is not of its form.
    """
    from cdc_contracts.registry.selection import Selection
    from cdc_contracts.registry.settings import read_settings
    from cdc_contracts.registry.tables import TableContracts, read_table_contracts
    from cdc_contracts.registry.terms import Terms
    from cdc_contracts.registry.thresholds import parse_threshold

    parse_threshold(fail_on)
    settings = read_settings(Path.cwd())
    reference = contract or settings.contract_of(list(topics))
    catalogue = open_catalogue([*(folders or ()), *(Path(folder) for folder in settings.contracts)])
    found = tables or (Path(settings.tables) if settings.tables else None)
    terms = Terms(
        parameters={**settings.parameters, **_pairs(parameters, "--parameter")},
        tables=read_table_contracts(found) if found else TableContracts(),
        severities=Severities(_pairs(severities, "--severity")),
        max_bytes=max_bytes,
        strict_json=strict_json,
        table=table or (topics[0] if len(topics) == 1 and needs_a_table(catalogue, reference) else None),
        selection=Selection(tuple(include or ()), tuple(exclude or ())),
        show_values=show_values,
        wrapping=wrapping,
    )
    return catalogue, terms, reference


def needs_a_table(catalogue: Catalogue, reference: str | None) -> bool:
    """Say whether messages of a contract do not name their table, so that the topic has to."""
    if reference is None or reference == AUTO:
        return False
    return "from" in catalogue.resolve(reference)[-1].resolved.get("envelope", {}).get("table", {})


def _pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"`{text}` is not NAME=VALUE", where=option)
        pairs[name.strip()] = value.strip()
    return pairs
