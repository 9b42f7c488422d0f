"""`message.schema.json` and `message.avsc` in the folder of a version: written from its contract, and held to it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.message_schemas.avro_schema import avro_message_schema
from cdc_contracts.registry.message_schemas.json_schema import message_schema
from cdc_contracts.registry.message_schemas.layout import lay_out

SCHEMA: Final = "message.schema.json"
AVRO: Final = "message.avsc"


def message_files(version: Version) -> dict[str, str]:
    """Return the texts of a version's message schemas by file name. Raises ContractError where it is broken."""
    return {SCHEMA: lay_out(message_schema(version)), AVRO: lay_out(avro_message_schema(version))}


def stale_files(version: Version, *, missing: bool) -> dict[str, str]:
    """Return what the files of a version should hold and do not; with `missing` also those that are not there."""
    stale = {}
    for name, text in message_files(version).items():
        file = version.folder.joinpath(name)
        held = file.read_text(encoding="utf-8") if file.is_file() else None
        if held != text and (held is not None or missing):
            stale[name] = text
    return stale


def write_message_files(version: Version) -> list[Path]:
    """Write the message schemas of a version into its folder, each whole or not at all; return those that changed.

    Raises ContractError where the version is broken, OSError where a file cannot be written.
    """
    written = []
    for name, text in stale_files(version, missing=True).items():
        file = Path(str(version.folder)) / name
        beside = file.with_name(f".{name}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
        written.append(file)
    return written
