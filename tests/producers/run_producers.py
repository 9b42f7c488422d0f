"""Runs real producers on real databases, and writes what they sent and what the databases held.

    python tests/producers/run_producers.py [NAME ...] [--options NAME ...]

NAME is `expected`, or the beginning of the names that `--list` prints; without any all are run. Of these runs
`--options` takes only the option sets that are named. README.md says more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from producers.captures import EXPECTED, SUFFIX, Capture, Line, read_expected, read_plain_lines, write_lines
from producers.database_sessions import open_session
from producers.engine_runs import run_engines
from producers.expected_rows import last_rows, run_statements
from producers.run_plans import Run, list_runs
from producers.schema_registries import open_registries, pack_schemas
from producers.statements import read_statements

DATABASES = ("postgresql", "mariadb")


class Written(NamedTuple):
    """The records of a capture, and what the schema registry of framed ones held at last (`pack_schemas`)."""

    records: list[Line]
    schemas: bytes | None


def write_expected(database: str) -> None:
    """Run the SQL file of a database without any producer, and write what it holds after each statement."""
    with open_session(database) as session:
        lines = list(run_statements(session, read_statements(database)))
    write_lines(EXPECTED / f"{database}{SUFFIX}", lines)


def run_release(run: Run) -> dict[Capture, Written]:
    """Return what a release writes with each option set; the database has to end up as the expected rows say."""
    statements = read_statements(run.database)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_session(run.database) as session,
        open_registries(run.options, Path(folder)) as registries,
    ):
        for statement in statements:
            if statement.phase == "snapshot":
                session.execute(statement.sql)
        change = [statement for statement in statements if statement.phase == "stream"]
        files = run_engines(run, session, change, registries, Path(folder))
        held = {name: [list(row.texts) for row in table.rows] for name, table in session.read_tables().items()}
        assert held == last_rows(read_expected(run.database)), f"{run.name}: write `expected` first"
        schemas = {name: pack_schemas(address, Path(folder) / name) for name, address in registries.items()}
        return {
            capture: Written(read_plain_lines(files[capture.options]), schemas.get(capture.options))
            for capture in run.captures()
        }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to run; all without any")
    parser.add_argument("--list", action="store_true", help="print the names, and run nothing")
    parser.add_argument("--options", nargs="+", metavar="NAME", help="the option sets to run; all without it")
    given = parser.parse_args(arguments)
    runs = {run.name: run for run in _with_options(list_runs(), given.options)}
    chosen = [name for name in ("expected", *runs) if not given.names or name.startswith(tuple(given.names))]
    for name in chosen:
        print(name, flush=True)  # noqa: T201
        if given.list:
            continue
        if name == "expected":
            for database in DATABASES:
                write_expected(database)
            read_expected.cache_clear()
        else:
            for capture, written in run_release(runs[name]).items():
                write_lines(capture.path, written.records)
                if written.schemas is not None:
                    capture.schemas_path.write_bytes(written.schemas)


def _with_options(runs: Iterable[Run], names: Sequence[str] | None) -> Iterator[Run]:
    """Yield runs with only the option sets of these names, or with all; a run that has none of them is left out."""
    for run in runs:
        options = tuple(one for one in run.options if names is None or one.name in names)
        if options:
            yield replace(run, options=options)


if __name__ == "__main__":
    main()
