"""Validation options: how messages are validated, and the validation context that the options give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import ContractFolders, open_catalogue, parse_pairs
from cdc_contracts.registry.core.common.findings import Severities

if TYPE_CHECKING:
    from cdc_contracts.cli.options.run_options import RunOptions
    from cdc_contracts.registry.core.contract.catalogue import Catalogue
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

AUTO = "auto"
"""The contract that is found out from the messages."""
MOST_BYTES = 64 * 1024 * 1024
"""`registry.messages.MAX_BYTES`, which takes long to import; a test compares the two."""


Contract = Annotated[
    str | None,
    typer.Option(
        "--contract", metavar="REF", help="SYSTEM/DIALECT@N, SYSTEM/DIALECT, or auto: detected from a sample."
    ),
]
Tables = Annotated[
    Path | None, typer.Option("--tables", metavar="FILE|DIR", help="Table contracts: column types, keys, time zones.")
]
Table = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="[DATABASE.]TABLE", help="The table of messages that name none; default: the topic's name."
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="NAME=VALUE",
        help="A fact that messages do not carry: timestamp_zone=+08:00. Repeatable.",
    ),
]
SchemaRegistry = Annotated[
    str | None,
    typer.Option(
        "--schema-registry",
        metavar="URL|DIR",
        help="Where the schemas of framed records are: a registry, or a folder of `registry dump`.",
    ),
]
RegistryCa = Annotated[
    Path | None,
    typer.Option("--registry-ca", metavar="FILE", help="Certificates (PEM) to trust for the schema registry."),
]


class UnknownSchema(StrEnum):
    """What becomes of records whose schema is not known."""

    QUARANTINE = "quarantine"
    STOP = "stop"


@dataclass(frozen=True)
class ValidationOptions:
    """Options of how messages are validated."""

    contract: Contract = None
    folders: ContractFolders = None
    tables: Tables = None
    table: Table = None
    parameters: Parameters = None
    severities: Annotated[
        list[str] | None,
        typer.Option("--severity", metavar="CLASS=LEVEL", help="Raise the severity of a class. Repeatable."),
    ] = None
    max_bytes: Annotated[int, typer.Option("--max-bytes", help="A longer message is malformed.", min=1)] = MOST_BYTES
    schema_registry: SchemaRegistry = None
    registry_ca: RegistryCa = None
    unknown_schema: Annotated[
        UnknownSchema | None,
        typer.Option(
            "--unknown-schema",
            help="Records whose schema id is unknown; default: quarantine, but stop if the registry does not answer.",
        ),
    ] = None
    strict_json: Annotated[bool, typer.Option("--strict-json", help="Treat duplicate member names as malformed.")] = (
        False
    )

    def open_validation(
        self,
        topics: Sequence[str] = (),
        *,
        contract: str | None = None,
        reading: RunOptions | None = None,
        show_values: bool = False,
    ) -> ValidationContext | Undetected:
        """Return the validation context of the options and `cdc-contracts.yaml`; `contract` overrides theirs.

        Without a contract it is to be detected. Raises UsageError if the contract is not known or an option is
        malformed, if both a versions file and a contract are given, or if the file does not mention a topic.
        """
        validating = self if contract is None else replace(self, contract=contract)
        return validating._open(topics, reading, show_values=show_values)  # noqa: SLF001  the same with another contract

    def open_severities(self) -> Severities:
        """Return the severities of this run. Raises UsageError if an option is malformed."""
        return Severities(parse_pairs(self.severities, "--severity"))

    def _open(
        self, topics: Sequence[str], reading: RunOptions | None, *, show_values: bool
    ) -> ValidationContext | Undetected:
        from cdc_contracts.registry.core.validate.validation_context import Undetected, open_validation

        catalogue, reading_options, reference = self.open_reading_options(topics, reading, show_values=show_values)
        return (
            Undetected(catalogue, reading_options)
            if reference in (None, AUTO)
            else open_validation(catalogue, reference, reading_options)
        )

    def open_reading_options(
        self, topics: Sequence[str] = (), reading: RunOptions | None = None, *, show_values: bool = False
    ) -> tuple[Catalogue, ReadingOptions, str | None]:
        """Return the catalogue, the reading options and the contract of the options and `cdc-contracts.yaml`.

        The contract is None if none is named. Raises UsageError if an option is malformed.
        """
        from cdc_contracts.registry.core.contract.chosen_names import apply_names
        from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
        from cdc_contracts.registry.core.contract.settings import read_settings
        from cdc_contracts.registry.core.contract.table_contracts import read_table_contracts
        from cdc_contracts.registry.core.contract.table_families import TableFamilies
        from cdc_contracts.registry.core.contract.table_selection import Selection

        settings = read_settings(Path.cwd())
        reference = self.contract or settings.contract_of(list(topics))
        given = {**settings.parameters, **parse_pairs(self.parameters, "--parameter")}
        catalogue, parameters, names = apply_names(open_catalogue(self.folders), given)
        tables = self.tables or (Path(settings.tables) if settings.tables else None)
        reading_options = ReadingOptions(
            parameters=parameters,
            names=names,
            tables=read_table_contracts(tables, TableFamilies(settings.families)),
            severities=self.open_severities(),
            max_bytes=self.max_bytes,
            strict_json=self.strict_json,
            table=self.table or (topics[0] if len(topics) == 1 and needs_a_table(catalogue, reference) else None),
            show_values=show_values,
            schemas=open_schemas(
                self.schema_registry or settings.schema_registry, self.registry_ca, self.unknown_schema
            ),
        )
        if reading is not None:
            selection = Selection(tuple(reading.include or ()), tuple(reading.exclude or ()))
            reading_options = replace(reading_options, selection=selection, wrapping=reading.unwrap)
        return catalogue, reading_options, reference


def _parse_threshold(words: str) -> str:
    """Return the threshold. Raises an error, before anything starts, for words that name no class or level."""
    from cdc_contracts.registry.core.common.thresholds import parse_threshold

    parse_threshold(words)
    return words


FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="WORDS",
        help="What leads to exit 1: error, warning, info, unproven, or classes; comma-separated.",
        callback=_parse_threshold,
    ),
]
ShowValues = Annotated[bool, typer.Option("--show-values", help="Show row values (default: shapes only).")]


def open_reading_options(
    *,
    folders: Sequence[Path] | None,
    tables: Path | None,
    parameters: Sequence[str] | None,
    unwrap: str | None = None,
    schema_registry: str | None = None,
) -> tuple[Catalogue, ReadingOptions]:
    """Return the catalogue and the reading options, for a command that does not validate."""
    from cdc_contracts.registry.core.contract.chosen_names import apply_names
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.contract.table_contracts import read_table_contracts

    catalogue, rest, names = apply_names(open_catalogue(folders), parse_pairs(parameters, "--parameter"))
    return catalogue, ReadingOptions(
        parameters=rest,
        names=names,
        tables=read_table_contracts(tables),
        wrapping=unwrap,
        schemas=open_schemas(schema_registry),
    )


def open_schemas(place: str | None, authority: Path | None = None, unknown: str | None = None) -> WriterSchemas | None:
    """Return the writer schemas of a registry or a folder; None without one. Raises UsageError if it is neither."""
    if place is None:
        return None
    from cdc_contracts.registry.authoring.sync.schema_sources import open_source

    return open_source(place, authority, unknown)


def needs_a_table(catalogue: Catalogue, reference: str | None) -> bool:
    """Return whether messages of a contract do not name their table, so that the topic has to name it."""
    if reference is None or reference == AUTO:
        return False
    versions = (catalogue.resolve(one)[-1] for one in reference.split(", "))  # ranges may declare several
    return any("from" in version.resolved.get("envelope", {}).get("table", {}) for version in versions)
