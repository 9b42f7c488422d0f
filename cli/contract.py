"""`cdc-contracts contract`: contracts of your own, drafted from messages."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.options import run_options
from cdc_contracts.cli.options.arrow_start import start_arrow
from cdc_contracts.cli.options.connection_options import ConnectionOptions
from cdc_contracts.cli.options.shared_options import ContractFolders, open_catalogue, spread
from cdc_contracts.cli.options.validation_options import SchemaRegistry, open_schemas
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.extras import has_extra, require_extra

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.drafting.draft_folders import ContractFolder
    from cdc_contracts.registry.core.contract.catalogue import Catalogue

app = typer.Typer(help="Contracts of your own, drafted from messages.", no_args_is_help=True)

_TOPIC = "topic"
_SUBJECT = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*")
_QUESTION = "# QUESTION: "
_COMPARED = ("envelope", "ops", "images", "columns")
"""What a draft and its nearest contract are compared in; the rest is consequence, or in the questions."""
_MOST_DIFFERENCES = 12


@app.command("new", short_help="Draft a contract from messages.")
@spread
def new(
    subject: Annotated[str, typer.Argument(metavar="SYSTEM/DIALECT", help="What the new contract is called.")],
    sources: Annotated[
        list[str], typer.Argument(metavar="FILE...|-|topic T...", help="Files, - for standard input, or topics.")
    ],
    client: ConnectionOptions,
    target: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", help="The folder of contracts that it is added to.")
    ] = Path("contracts"),
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="REF", help="State only the differences to this contract."),
    ] = None,
    keep_values: Annotated[
        bool, typer.Option("--keep-values", help="Keep the values of rows in samples (default: rewritten).")
    ] = False,
    messages: Annotated[
        int, typer.Option("--messages", metavar="N", help="Read at most this many messages.", min=1)
    ] = 2_000,
    whole: Annotated[bool, typer.Option("--whole", help="Each file, or the input, is one message.")] = False,
    folders: ContractFolders = None,
    schema_registry: SchemaRegistry = None,
) -> None:
    """Draft a contract that takes the messages, and state what shows each fact and what is left open.

    Writes SYSTEM/DIALECT/vN with samples, whose values are rewritten, and the types of SYSTEM. What the messages do not
    show is a comment `# QUESTION:`. Exits with 4 if no contract can express the messages, and says what cannot be said.
    """
    from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples
    from cdc_contracts.registry.core.contract.catalogue import reserved_name
    from cdc_contracts.registry.core.contract.settings import read_settings

    if not _SUBJECT.fullmatch(subject):
        raise UsageError(
            f"`{subject}` is not SYSTEM/DIALECT", hint="Use lower-case letters, digits and -, such as acme/orders-json."
        )
    reserved = reserved_name(subject)
    if reserved is not None:
        raise UsageError(f"`{subject}`: {reserved} is reserved, and no contract is found there",
                         hint="Choose another name, such as acme/orders-json.")  # fmt: skip
    known = [target] if target.is_dir() and any(target.glob("*/*/v*/contract.yaml")) else []
    catalogue = open_catalogue([*(folders or ()), *known], target=target)
    if has_extra("arrow"):  # the draft is checked by batches too
        start_arrow()
    schemas = open_schemas(schema_registry or read_settings(Path.cwd()).schema_registry)
    if sources[0] == _TOPIC:
        records = list(_of_topics(sources[1:], messages, client, framed=schemas is not None))
    else:
        run_options.refuse_for_files(client.given)
        records = list(islice(_of_files(sources, messages, whole=whole, framed=schemas is not None), messages))
    document = Path(sources[-1]).name if sources[-1] != "-" else "standard-input"
    drafted = make_folder(
        catalogue, subject, document, read_samples(records, schemas), like=like, keep_values=keep_values
    )  # fmt: skip
    _write(drafted, target)
    _write_editor_schemas(target)
    _report(drafted, target, catalogue, len(records), keep_values=keep_values)
    raise typer.Exit(_lint(drafted, target))


_Sample = tuple[str, bytes, bytes | None]
"""The place of a message, its value, and the key of its record."""


def _of_files(sources: Sequence[str], most: int, *, whole: bool, framed: bool) -> Iterator[_Sample]:
    """Yield messages in files or standard input."""
    from cdc_contracts.registry.core.detect.topic_samples import sample_files
    from cdc_contracts.registry.core.records.input_files import (
        STDIN,
        RecordsWithoutArrow,
        plan_files,
        read_input_without_arrow,
    )

    plan = None if list(sources) == [STDIN] else plan_files([Path(one) for one in sources], whole=whole)
    batches = (
        read_input_without_arrow(sys.stdin.buffer.read(), whole=whole) if plan is None else sample_files(plan, most)
    )
    for batch in batches:
        if isinstance(batch, RecordsWithoutArrow):
            total = len(batch.values)
            columns = [[batch.topic] * total, batch.offsets, batch.values, [None] * total]
        else:
            columns = _columns(batch, "topic", "offset", framed=framed)
        for topic, offset, value, key in zip(*columns, strict=True):
            if value is not None:
                yield f"{topic}:{offset + 1}", value, key


def _of_topics(topics: Sequence[str], most: int, client: ConnectionOptions, *, framed: bool) -> Iterator[_Sample]:
    """Yield messages in topics."""
    require_extra("kafka")
    from cdc_contracts.spark_checks.kafka.consumer import open_reader
    from cdc_contracts.spark_checks.kafka.excerpts import read_sample

    if not topics:
        raise UsageError(
            "a topic is needed", hint="Write `cdc-contracts contract new acme/plain topic NAME -b HOST:PORT`."
        )
    wanted, connection = run_options.parse_topic_options("earliest", "latest", client)
    with open_reader(connection.bootstrap, connection.properties) as reader:
        for topic in topics:
            for batch in read_sample(reader, topic, -(-most // len(topics)), wanted):
                columns = _columns(batch, "partition", "offset", framed=framed)
                for partition, offset, value, key in zip(*columns, strict=True):
                    if value is not None:
                        yield f"{topic}/{partition}@{offset}", value, key


def _columns(batch: Any, *names: str, framed: bool) -> list[Any]:
    """Return columns of a batch, with values and keys, if they are `framed` as the headers of their records say."""
    from cdc_contracts.registry.core.records.framed_columns import with_frames

    records = with_frames(batch) if framed else batch
    return [records.column(name).to_pylist() for name in (*names, "value", "key")]


def _write(drafted: ContractFolder, target: Path) -> None:
    """Write all of the files or none. Raises UsageError if one exists already, UnavailableError if one is refused."""
    from cdc_contracts.registry.core.common.atomic_files import make_folder, write_whole

    for name in drafted.files:
        if (target / name).exists():
            raise UsageError("the file exists already", where=str(target / name), hint="Give --to another folder.")
    written: list[Path] = []
    try:
        for name, content in drafted.files.items():
            make_folder((target / name).parent)
            write_whole(target / name, content)
            written.append(target / name)
    except BaseException:  # a part of a contract would be in the way of the next call
        for file in written:
            file.unlink()
        raise


def _write_editor_schemas(target: Path) -> None:
    """Write the schemas that the first lines of the files name; those of an earlier release are replaced."""
    from importlib.resources import files

    from cdc_contracts.registry.authoring.drafting.contract_texts import EDITOR_SCHEMAS
    from cdc_contracts.registry.core.common.atomic_files import make_folder, write_whole

    make_folder(target / EDITOR_SCHEMAS)
    for name in ("contract.schema.json", "mapping.schema.json"):
        text = files("cdc_contracts.registry.file_schemas").joinpath(name).read_bytes()
        write_whole(target / EDITOR_SCHEMAS / name, text)


def _compare(nearest: str, reference: str, catalogue: Catalogue, target: Path) -> None:
    """Print in what the contract that comes nearest differs from the draft."""
    from cdc_contracts.registry.authoring.explain.contract_differences import compare
    from cdc_contracts.registry.core.contract.catalogue import Catalogue

    known = Catalogue(list(dict.fromkeys([*catalogue.roots, target])))
    found = [one for one in compare(known.version(nearest), known.version(reference)).meaning if one.group in _COMPARED]
    console.print_heading(f"The nearest contract is {nearest}, which differs")
    rows = [(one.group, one.what, one.left or "-", "→", one.right or "-") for one in found[:_MOST_DIFFERENCES]]
    console.print_table(["", "", "", "", ""], rows)
    if len(found) > len(rows):
        console.print_line(f"and {len(found) - len(rows):,} more")
    console.print_line(f"all: cdc-contracts diff {nearest} {reference} --contracts {target}")


def _report(drafted: ContractFolder, target: Path, catalogue: Catalogue, total: int, *, keep_values: bool) -> None:
    from cdc_contracts.registry.authoring.drafting.draft_folders import count_messages

    subject, _, number = drafted.reference.partition("@")
    folder = target / subject / f"v{number}"
    console.print_line(f"{folder}: {drafted.reference}, to which {count_messages(total)}")
    values = "with the values of the messages" if keep_values else "with rewritten values"
    left = f"; {drafted.left_out:,} could not be rewritten" if drafted.left_out else ""
    console.print_line(
        f"{folder / 'samples'}: {drafted.samples:,} sample{'s' if drafted.samples != 1 else ''}, {values}{left}"
    )
    for other in drafted.fits:
        console.print_line(f"they conform to {other} too: --like {other} states only the differences")
    if drafted.nearest is not None:
        _compare(drafted.nearest, drafted.reference, catalogue, target)
    console.print_heading("Questions, each a comment in the files")
    for name in sorted(drafted.files):
        for line, text in enumerate(drafted.files[name].decode("utf-8", "replace").split("\n"), 1):
            if text.strip().startswith(_QUESTION):
                console.print_line(f"{target / name}:{line}: {text.strip().removeprefix(_QUESTION)}")
    if keep_values:
        console.say("warning: the samples contain data: review them before you commit them")


def _lint(drafted: ContractFolder, target: Path) -> int:
    """Check what was written like any contract, and return the exit code."""
    from cdc_contracts.registry.authoring.lint import lint

    subject, _, number = drafted.reference.partition("@")
    report = lint([target / subject / f"v{number}"])
    for finding in report.findings:
        console.print_line(
            f"{finding.file}: {finding.severity} {finding.rule}: expected {finding.expected}; found {finding.observed}"
        )
    if report.validated and not report.findings:
        console.say("lint: no findings")
    return 1 if any(finding.severity == "error" for finding in report.findings) or not report.validated else 0
