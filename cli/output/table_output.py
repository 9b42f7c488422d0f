"""Table output: reading DDL, and writing and printing table contracts, for the `tables` commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import ContractError, UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.table_contract_files import Filing
    from cdc_contracts.registry.core.contract.table_contracts import TableContract
    from cdc_contracts.registry.core.tables.ddl import Definitions

Made = tuple["TableContract", Mapping[str, str], str]
"""A contract, what is noted behind its columns, and what is noted above it."""

Folder = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Write one file per table here: DATABASE.TABLE.yaml."),
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite contracts that differ.")]

_MOST_LISTED = 12


def read_ddl(file: Path, dialect: str, database: str | None) -> Definitions:
    """Return the definitions in a DDL file. Raises UsageError if it cannot be read."""
    from cdc_contracts.registry.core.tables.ddl import read_create_table

    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from error
    except UnicodeDecodeError as error:
        hint = "Name its encoding to iconv: `iconv -f GB18030 -t UTF-8`."
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(file), hint=hint) from error
    return read_create_table(text, dialect, database)


def print_definitions(found: Sequence[tuple[Path, Definitions]]) -> bool:
    """Print on stderr what parts of the files are in no contract, and return whether that is a problem."""
    problems = False
    for file, definitions in found:
        for one in definitions.problems:
            problems = True
            console.say(f"{file}:{one.line}: not read: {one.what}\n  {one.hint}")
        for one in definitions.left_out:
            console.say(f"{file}:{one.line}: left out: {one.what}\n  {one.hint}")
        if definitions.passed:
            result = ", ".join(f"{count} {name}" for name, count in sorted(definitions.passed.items())[:_MOST_LISTED])
            more = len(definitions.passed) - _MOST_LISTED
            console.say(f"{file}: skipped, as they define no table: {result}" + (" and others" if more > 0 else ""))
        bare = [one.table for one in definitions.tables if "." not in one.table]
        if bare:
            console.say(f"{file}: {bare[0]} is in no database\n  messages mostly name one: give --database NAME")
    return problems


def check_output(output: Path | None) -> None:
    """Raise UnavailableError, before any work, if contracts cannot be written to the folder."""
    from cdc_contracts.registry.core.common.atomic_files import check_folder

    if output is not None:
        check_folder(output)


def file_tables(made: Sequence[Made], output: Path | None, *, replace: bool) -> bool:
    """Write contracts to a folder or to stdout; return whether all were written. Overwrites only if requested."""
    from cdc_contracts.registry.core.common.atomic_files import make_folder, write_whole
    from cdc_contracts.registry.core.contract.table_contract_files import (
        DIFFERS,
        SAME,
        file_contracts,
        write_table_contract,
    )

    if output is None:
        texts = [write_table_contract(contract, notes, head) for contract, notes, head in made]
        console.print_line("---\n".join(texts).rstrip("\n"))
        return True
    filings = file_contracts(output, [contract for contract, _, _ in made])
    differing = [one for one in filings if one.state == DIFFERS]
    for one in differing if not replace else ():
        console.say(f"{one.file} differs for {one.contract.table}:")
        _print_differences(one)
    if differing and not replace:
        console.say("nothing was written; --replace overwrites existing files")
        return False
    make_folder(output)
    for one, (_, notes, head) in zip(filings, made, strict=True):
        if one.state != SAME:
            write_whole(one.file, write_table_contract(one.contract, notes, head))
    counts = [(sum(one.state == state for one in filings), word) for state, word in _STATES.items()]
    console.say(f"{output}: " + ", ".join(f"{count} {word}" for count, word in counts if count))
    return True


_STATES: Mapping[str, str] = {"new": "written", "differs": "replaced", "same": "as they were"}


def compare(paths: Sequence[Path], against: str | None, *, as_json: bool) -> bool | None:
    """Print differences of table contracts, and return whether they are compatible, None if undecided."""
    from cdc_contracts.cli.output.compatibility_output import print_verdict
    from cdc_contracts.registry.authoring.compat.tables.table_comparison import compare_tables
    from cdc_contracts.registry.authoring.compat.version_pairs import verdict_document
    from cdc_contracts.registry.authoring.review.revisions.table_revisions import published_tables, read_tables

    new = read_tables(paths[-1])
    old = read_tables(paths[0]) if against is None else published_tables(against, paths[0])
    verdict = compare_tables(old, new)
    if as_json:
        console.print_json(verdict_document(verdict))
    else:
        named = [str(paths[0]) if against is None else f"{paths[0]} at {against}", str(paths[-1])]
        print_verdict(verdict, named, asked="do rows that conform to the old contracts conform to the new ones?")
    return verdict.compatible


def default_folder() -> Path:
    """Return the folder of table contracts: from `cdc-contracts.yaml`, else `./tables` or `./contracts/tables`.

    Raises UsageError if there are none.
    """
    from cdc_contracts.registry.core.contract.settings import read_settings

    said = read_settings(Path.cwd()).tables
    for folder in [Path(said)] if said else [Path("tables"), Path("contracts/tables")]:
        if folder.exists():
            return folder
    raise UsageError("there is no folder of table contracts here", hint="Name a file or folder of them.")


def _print_differences(filing: Filing) -> None:
    from cdc_contracts.registry.authoring.compat.tables.table_comparison import compare_table
    from cdc_contracts.registry.core.common.pointers import split_pointer

    if filing.before is None:
        raise ContractError(f"nothing to compare {filing.contract.table} with")
    result = compare_table(filing.before, filing.contract.model_copy(update={"version": None}))
    for one in result[:_MOST_LISTED]:
        place = " ".join(split_pointer(one.path)[1:])
        console.say(f"  {place}: {_short(one.old)} in the file, {_short(one.new)} now")
    if len(result) > _MOST_LISTED:
        console.say(f"  and {len(result) - _MOST_LISTED} more")
    if not result:
        console.say("  comments only")


def _short(value: object) -> str:
    return "nothing" if value is None else str(value)
