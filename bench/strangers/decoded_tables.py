"""Decoded tables of every bound version in both layouts, and tools of others that read them by their schemas.

Each folder holds what `decode` wrote, and `orders.FORMAT` for every format of `schema`. Where tools need an environment
of their own, `lake_tables.py` runs in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import duckdb
import sqlglot

LAYOUTS: Final = ("nested", "flat")
PARSED: Final = ("bigquery", "snowflake", "clickhouse", "starrocks", "doris")
FORMATS: Final = ("odcs", "dbt", "iceberg", "delta", "duckdb", *PARSED)
_PROFILE: Final = "tables: {target: dev, outputs: {dev: {type: duckdb, path: tables.duckdb, threads: 1}}}\n"
_PROJECT: Final = "name: tables\nversion: '1.0.0'\nprofile: tables\nmodel-paths: [models]\n"


def call(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it said."""
    return subprocess.run([str(one) for one in words], capture_output=True, text=True, check=False, cwd=cwd)


def decode_tables(folder: Path, references: Iterable[str], table: str) -> list[Path]:
    """Decode 200 messages of each version in both layouts, write every schema beside them, and return the folders."""
    own, found = Path(sys.executable).with_name("cdc-contracts"), []
    for reference in references:
        for layout in LAYOUTS:
            here = folder / f"{reference.replace('/', '_').replace('@', '_v')}_{layout}"
            here.mkdir()
            (here / "orders.yaml").write_text(table, encoding="utf-8")
            tables = ["--tables", here / "orders.yaml"]
            sample = call(own, "sample", reference, "-n", "200", *tables)
            (here / "orders.jsonl").write_text(sample.stdout, encoding="utf-8")
            written = ["--contract", reference, "--to", here, "--engine", "local", "--layout", layout]
            call(own, "decode", "file", here / "orders.jsonl", *written, *tables)
            for one in FORMATS:
                text = call(own, "schema", reference, *tables, "--format", one, "--layout", layout).stdout
                (here / f"orders.{one}").write_text(text, encoding="utf-8")
            found.append(here)
    return found


def _summed(problems: list[str], total: int) -> subprocess.CompletedProcess[str]:
    result = {"schemas": total, "compiled": total - len(problems), "problems": problems}
    return subprocess.CompletedProcess([], 0, json.dumps(result), "")


def _over(check: Callable[[Path], str | None]) -> Callable[[Path, Path], subprocess.CompletedProcess[str]]:
    """Return the run of a check over every decoded folder; it returns what is wrong, None if nothing is."""

    def run(folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
        found = sorted((folder / "decoded").iterdir())
        told = [(here.name, check(here)) for here in found]
        return _summed([f"{name}: {problem}" for name, problem in told if problem], len(found))

    return run


def run_datacontract(folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """Test the tables of every folder by their document of ODCS."""

    def check(here: Path) -> str | None:
        done = call(tools / "dc/bin/datacontract", "test", "orders.odcs", cwd=here)
        return done.stdout[-600:] if done.returncode else None

    return _over(check)(folder, tools)


def run_dbt(folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of the sources with dbt in DuckDB, over views of the files that decode wrote."""

    def check(here: Path) -> str | None:
        project = here / "dbt"
        (project / "models").mkdir(parents=True)
        (project / "profiles.yml").write_text(_PROFILE, encoding="utf-8")
        (project / "dbt_project.yml").write_text(_PROJECT, encoding="utf-8")
        (project / "models/sources.yml").write_text((here / "orders.dbt").read_text(encoding="utf-8"), encoding="utf-8")
        with duckdb.connect(str(project / "tables.duckdb")) as database:
            database.execute("CREATE SCHEMA shop")
            files = f"{here}/tables/shop.orders/*/*.parquet"
            database.execute(f"CREATE TABLE shop.orders AS FROM read_parquet('{files}', hive_partitioning = false)")
        done = call(tools / "dbt/bin/dbt", "test", "--profiles-dir", ".", "--no-use-colors", cwd=project)
        good = done.returncode == 0 and "ERROR=0" in done.stdout and "PASS=0" not in done.stdout
        return None if good else done.stdout[-600:]

    return _over(check)(folder, tools)


def run_sqlglot(folder: Path, _tools: Path) -> subprocess.CompletedProcess[str]:
    """Parse every statement of a warehouse, and what is written of it."""
    found = [here / f"orders.{name}" for here in sorted((folder / "decoded").iterdir()) for name in PARSED]
    problems = []
    for path in found:
        name = path.suffix.removeprefix(".")
        try:
            first = sqlglot.parse_one(path.read_text(encoding="utf-8"), read=name).sql(dialect=name, comments=False)
            again = sqlglot.parse_one(first, read=name).sql(dialect=name, comments=False)
        except sqlglot.errors.SqlglotError as error:
            problems.append(f"{path.parent.name} {name}: {error}")
            continue
        if not first.startswith("CREATE TABLE") or first != again:
            problems.append(f"{path.parent.name} {name}: {first[:200]}")
    return _summed(problems, len(found))


def run_lake(tool: str) -> Callable[[Path, Path], subprocess.CompletedProcess[str]]:
    """Return the run of one tool of `lake_tables.py` over every decoded folder."""
    script = Path(__file__).with_name("lake_tables.py")
    return lambda folder, tools: call(tools / "lake/bin/python", script, tool, folder / "decoded")
