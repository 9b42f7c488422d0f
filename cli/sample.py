"""`cdc-contracts sample`: generated messages of any contract, to test a consumer before real messages exist."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import validation_options
from cdc_contracts.cli.options.shared_options import ContractFolders
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cdc_contracts.registry.core.generate.message_samples import KeyedMessage


def sample(
    reference: Annotated[str, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N; without @N the latest version.")],
    total: Annotated[int, typer.Option("-n", "--number", help="How many messages.", min=1)] = 10,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 1,
    drift: Annotated[
        str | None,
        typer.Option("--drift", metavar="CLASS|RULE", help="Let every tenth message drift, e.g. value-form."),
    ] = None,
    split_updates: Annotated[
        bool, typer.Option("--split-updates", help="Split updates in two, if the dialect supports it.")
    ] = False,
    tables: validation_options.Tables = None,
    parameters: validation_options.Parameters = None,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A .jsonl or .parquet file; else stdout.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing file.")] = False,
    folders: ContractFolders = None,
) -> None:
    """Render a stream of rows as messages of a contract: inserts, updates, deletes, full load, DDL, heartbeats."""
    from cdc_contracts.registry.core.generate.message_samples import sample_records

    catalogue, reading_options = validation_options.open_reading_options(
        folders=folders, tables=tables, parameters=parameters
    )
    version = catalogue.version(reference)
    binary = version.resolved.get("transport") != "json"
    if target is None and binary:
        raise UsageError(f"messages of {version} are binary", hint="Give -o FILE.parquet.")
    if target is not None:
        _check_target(target, binary=binary, replace=replace)
    records = sample_records(
        version, total, seed=seed, reading_options=reading_options, drift=drift, split_updates=split_updates
    )  # fmt: skip
    if target is None:
        _print_lines(record.value for record in records)
    else:
        _write_file(target, list(records))
        console.say(f"{total:,} messages of {version} in {target}")


def _check_target(target: Path, *, binary: bool, replace: bool) -> None:
    from cdc_contracts.registry.core.common.atomic_files import check_new_place

    endings = (".parquet",) if binary else (".jsonl", ".parquet")
    if target.suffix not in endings:
        raise UsageError(
            f"`{target.suffix or target.name}` is not a file type for these messages",
            hint=f"Use {' or '.join(endings)}.",
        )
    check_new_place(target, replace=replace)


def _print_lines(messages: Iterable[bytes]) -> None:
    for message in messages:
        console.write_bytes(message + b"\n")


def _write_file(target: Path, records: Sequence[KeyedMessage]) -> None:
    """Write the messages to a file atomically."""
    from cdc_contracts.registry.core.common.atomic_files import put_whole

    with put_whole(target) as aside:
        if target.suffix == ".parquet":
            _write_parquet(aside, target.stem, records)
        else:
            aside.write_bytes(b"".join(record.value + b"\n" for record in records))


def _write_parquet(target: Path, topic: str, records: Sequence[KeyedMessage]) -> None:
    """Write the messages and their keys as a capture, with the columns of the Kafka source."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = range(len(records))
    columns = {
        "key": pa.array([record.key for record in records], pa.binary()),
        "value": pa.array([record.value for record in records], pa.binary()),
        "topic": pa.array([topic] * len(records)),
        "partition": pa.array([0] * len(records), pa.int32()),
        "offset": pa.array(places, pa.int64()),
    }
    pq.write_table(pa.table(columns), target)
