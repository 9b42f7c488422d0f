"""`cdc-contracts schema`: the schema of a version's messages, to take away; or written beside every contract."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cdc_contracts.cli import console
from cdc_contracts.cli.options import ContractFolders, open_catalogue
from cdc_contracts.registry.errors import UnavailableError, UsageError


class Format(StrEnum):
    """The language of a schema."""

    JSON_SCHEMA = "json-schema"
    AVRO = "avro"


def schema(
    reference: Annotated[str | None, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N, or @latest.")] = None,
    kind: Annotated[Format, typer.Option("--format", help="The language of the schema.")] = Format.JSON_SCHEMA,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FOLDER", help="Write both schemas beside every contract in a folder."),
    ] = None,
    contracts: ContractFolders = None,
) -> None:
    """Print the whole schema of a version's messages: what a validator, a code generator or a registry needs.

    With --write the schemas of all contracts in a folder are written as message.schema.json and message.avsc; lint
    tells those that are no longer what their contract says.
    """
    if (reference is None) == (write is None):
        raise UsageError("give a contract, or --write and a folder of contracts", mend="`cdc-contracts list` shows all")
    if write is not None:
        _write(write)
        return
    from cdc_contracts.registry.message_schemas.avro_schema import avro_message_schema
    from cdc_contracts.registry.message_schemas.json_schema import message_schema
    from cdc_contracts.registry.message_schemas.layout import lay_out

    version = open_catalogue(contracts).version(reference or "")
    told: Any = message_schema(version) if kind is Format.JSON_SCHEMA else avro_message_schema(version)
    console.write(lay_out(told))


def _write(folder: Path) -> None:
    from cdc_contracts.registry.message_schemas.files import write_message_files
    from cdc_contracts.registry.publishing.publications import open_own_versions

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", mend="give a folder of contracts: SYSTEM/DIALECT/vN below it")
    versions = open_own_versions(folder)
    if not versions:
        raise UsageError(f"{folder} holds no contracts", mend="give the folder above SYSTEM/DIALECT/vN/contract.yaml")
    canonical = versions[0].catalogue.canonical
    if Path(str(canonical.folder)).resolve().is_relative_to(folder.resolve()):
        versions = (*versions, canonical)
    count = 0
    for version in versions:
        try:
            written = write_message_files(version)
        except OSError as error:
            raise UnavailableError(
                f"a schema cannot be written: {error.strerror}", where=str(version.folder)
            ) from error
        for file in written:
            console.print_line(f"wrote {file}")
        count += len(written)
    console.say(
        f"{len(versions)} contracts, {count} files written" if count else "every schema is as its contract says"
    )
