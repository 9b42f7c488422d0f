"""Reread commands: the commands that decode again what a stream published before evidence turned against its version.

They repeat the options of the running command that say how topics are reached, how messages are read and how rows are
written. A secret is not repeated: `...` stands in its place.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from cdc_contracts.cli.options.output_options import OutputOptions
    from cdc_contracts.spark_checks.streams.contradicted_batches import RangeToReread, Reread

_CONNECTION: Final = ("bootstrap", "environment", "kafka_config", "kafka_options")
_READING: Final = ("folders", "tables", "parameters", "unwrap")
_DETECTING: Final = (*_CONNECTION, *_READING)
_DECODING: Final = (
    *_DETECTING,
    *("table", "severities", "max_bytes", "strict_json", "fail_on"),
    *("table_format", "layout", "current", "outputs", "drop_duplicates", "redact"),
    *("cores", "jars", "packages", "master", "remote", "conf"),
)


def commands_of(command: typer.Context, output: OutputOptions) -> Reread:
    """Return what writes the commands, given the running command and its output.

    Tables that rows cannot be removed from are written anew, into another directory.
    """
    from cdc_contracts.cli.options.output_options import TableFormat

    given = _given_options(command)
    replaceable = output.table_format is TableFormat.PARQUET
    target = output.directory if replaceable else f"{output.directory.rstrip('/')}-again"
    written = ["--to", target, *(["--replace"] if replaceable else [])]

    def write(ranges: Sequence[RangeToReread]) -> Iterator[str]:
        for one in ranges:
            version = ["--contract", f"{one.contract}"]
            if one.contract is None:
                version = ["--versions", f"versions-{one.topic}.yaml"]
                found = _options(given, _DETECTING)
                yield _command("detect", one.topic, [*found, *_within(one.known), "--write-versions", version[1]])
            decoded = [*_options(given, _DECODING), *_within(one.offsets), *version]
            yield _command("decode", one.topic, [*decoded, *written])

    return lambda ranges: tuple(write(ranges))


def _given_options(command: typer.Context) -> dict[str, tuple[str, object]]:
    """Return the options of the running command with their values, by parameter, as far as they were given."""
    return {
        one.name: (max(one.opts, key=len), value)
        for one in command.command.params
        if one.name is not None and (value := command.params.get(one.name)) not in (None, (), [], one.default)
    }


def _options(given: Mapping[str, tuple[str, object]], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        option, value = given.get(name, ("", None))
        if value is True:
            yield option
        elif value:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                yield from (option, _shown(one))


def _shown(value: object) -> str:
    """Return the value of an option, without that of a secret property."""
    from cdc_contracts.spark_checks.kafka.credentials import is_secret

    text = f"{value.value if isinstance(value, Enum) else value}"
    name, equals, _ = text.partition("=")
    return f"{name}=..." if equals and is_secret(name) else text


def _within(offsets: Mapping[int, tuple[int, int]]) -> list[str]:
    starts, ends = (
        "offset:" + ",".join(f"{partition}={found[end]}" for partition, found in sorted(offsets.items()))
        for end in (0, 1)
    )
    return ["--from", starts, "--until", ends]


def _command(name: str, topic: str, options: Sequence[str]) -> str:
    return shlex.join(["cdc-contracts", name, "topic", topic, *options])
