"""Run tools of others over all message schemas and those of single tables, and print the table that the docs show.

    python bench/strangers/run.py [--tools FOLDER]

The tools are installed into FOLDER with npm and pip where they are not there yet. Each schema is tried with the samples
of its version; the schema of a table with its own examples. Exits with 1 if a tool refuses a schema or a message.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from decoded_tables import decode_tables, run_datacontract, run_dbt, run_lake, run_sqlglot

from cdc_contracts.registry.core.contract.catalogue import Version, shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, parse_table_contract
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.schema.message_schemas.asyncapi_document import asyncapi_document
from cdc_contracts.registry.core.schema.message_schemas.bound_avro import bound_avro_schema
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import message_schema
from cdc_contracts.registry.core.values import Number

HERE: Final = Path(__file__).parent
NPM: Final = ("ajv@8", "json-schema-to-typescript@16", "typescript@5.9", "quicktype@26", "@asyncapi/parser@3.6")
PIP: Final = {
    "py": ("datamodel-code-generator==0.*", "pydantic==2.*"), "dc": ("datacontract-cli[duckdb]==1.*",),
    "dbt": ("dbt-core==1.10.*", "dbt-duckdb==1.*"),
    "lake": ("chdb==4.*", "pyiceberg==0.*", "deltalake==1.*", "pyarrow"),
}  # fmt: skip
"""What is installed in which environment: the tools ask for versions that do not go together."""
BOUND: Final = ("dts/canal@2", "oms-community/canal@2", "oms-community/debezium@1")
"""Versions whose schema of one table is tried, too: a list of rows, one row, and a dialect without types."""
_SHOWN, _WIDTH = 20, 400
_COLUMNS: Final = {
    "id": "bigint unsigned", "name": "varchar(64)", "amount": "decimal(10,2)", "made": "datetime", "paid": "timestamp",
}  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """A tool, what it does with schemas, and how it is run over a folder of them; the run prints JSON."""

    name: str
    does: str
    run: Callable[[Path, Path], subprocess.CompletedProcess[str]]


def orders_table() -> TableContract:
    """Return the table contract of the schemas of one table."""
    columns = {name: {"type": type_} for name, type_ in _COLUMNS.items()}
    return parse_table_contract({"table": "shop.orders", "columns": columns, "primary_key": ["id"]}, "orders")


def write_schemas(folder: Path) -> None:
    """Write every schema as NAME.schema.json and NAME.avsc, and its messages into the folder NAME."""
    catalogue = shipped_catalogue()
    for version in catalogue.all_versions():
        _write(
            folder,
            version,
            _name(version),
            message_schema(version),
            avro_message_schema(version),
            dict(_samples(version)),
        )
    (folder / "decoded").mkdir()
    decode_tables(folder / "decoded", BOUND, json.dumps(orders_table().model_dump(exclude_none=True, mode="json")))
    for reference in BOUND:
        version = catalogue.version(reference)
        schema = bound_schema(version, orders_table(), ReadingOptions())
        avro = bound_avro_schema(version, orders_table(), ReadingOptions())
        examples = {f"example-{at}": json.dumps(one) for at, one in enumerate(schema["examples"])}
        _write(folder, version, f"{_name(version)}_orders", schema, avro, examples)


def show_table(folder: Path, tools: Path) -> tuple[str, list[str]]:
    """Return the table of all tools in Markdown, and what they refused."""
    lines = ["| tool | what it does | schemas | messages |", "|---|---|---|---|"]
    problems: list[str] = []
    for tool in TOOLS:
        done = tool.run(folder, tools)
        if done.returncode:
            problems.append(f"{tool.name}: {done.stderr.strip()[-500:]}")
            continue
        result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        problems += [f"{tool.name}: {one}" for one in result["problems"]]
        messages = f"{result['taken']} of {result['messages']}" if "messages" in result else "-"
        if result.get("beyond"):
            messages += f"; {result['beyond']} have a number that JavaScript reads as Infinity"
        lines.append(f"| {tool.name} | {tool.does} | {result['compiled']} of {result['schemas']} | {messages} |")
    return "\n".join(lines), problems


def install_tools(folder: Path) -> None:
    """Install what is missing into a folder."""
    if not (folder / "node_modules/ajv").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-fund", "--prefix", str(folder), *NPM], check=True)
    for name, packages in PIP.items():
        if not (done := folder / name / "installed").is_file():
            venv.create(folder / name, with_pip=True)
            subprocess.run([str(folder / name / "bin/pip"), "install", "-q", *packages], check=True)
            done.touch()


def _samples(version: Version) -> Iterator[tuple[str, str]]:
    samples = find_samples(version)
    wire = open_transport(version, samples.reading_options())
    for sample in samples.messages:
        yield sample.name.replace("/", "_"), _as_json(wire.open(sample.value))


def _as_json(value: Any) -> str:
    """Return a parsed message as JSON, with its numbers as they were sent."""
    if isinstance(value, Number):
        return value.token
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)}: {_as_json(one)}" for name, one in value.items()) + "}"
    return "[" + ", ".join(map(_as_json, value)) + "]" if isinstance(value, list) else json.dumps(value)


def _name(version: Version) -> str:
    return version.reference.replace("/", "_").replace("@", "_v")


def _write(folder: Path, version: Version, name: str, schema: Any, avro: Any, messages: dict[str, str]) -> None:
    (folder / name).mkdir()
    (folder / f"{name}.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    (folder / f"{name}.avsc").write_text(json.dumps(avro), encoding="utf-8")
    topic = asyncapi_document(version, schema, "orders")
    (folder / f"{name}.asyncapi.yaml").write_text(topic, encoding="utf-8")
    for number, text in enumerate(messages.values()):
        (folder / name / f"{number:03}.json").write_text(text, encoding="utf-8")


def _call(*words: str | Path, node: Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = None if node is None else {**os.environ, "NODE_PATH": str(node / "node_modules")}
    return subprocess.run([str(one) for one in words], capture_output=True, text=True, check=False, env=env, cwd=cwd)


def _run_node(script: str) -> Callable[[Path, Path], subprocess.CompletedProcess[str]]:
    return lambda folder, tools: _call("node", HERE / script, folder, node=tools)


def _run_models(folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    return _call(tools / "py/bin/python", HERE / "models.py", folder)


def _run_avro(folder: Path, _tools: Path) -> subprocess.CompletedProcess[str]:
    jars = Path(str(metadata.distribution("pyspark").locate_file("pyspark/jars")))
    return _call("java", "-cp", f"{jars}/*", HERE / "ParseAvro.java", folder)


def _run_quicktype(folder: Path, tools: Path) -> subprocess.CompletedProcess[str]:
    """Run quicktype on each schema; it writes Go, whose types are not checked further."""
    schemas, problems = sorted(folder.glob("*.schema.json")), list[str]()
    for schema in schemas:
        command = tools / "node_modules/.bin/quicktype"
        done = _call(command, "-s", "schema", "--lang", "go", "--top-level", "Message", schema)
        if done.returncode:
            problems.append(f"{schema.name}: {done.stderr.strip()[:300]}")
    result = {"schemas": len(schemas), "compiled": len(schemas) - len(problems), "problems": problems}
    return subprocess.CompletedProcess([], 0, json.dumps(result), "")


TOOLS: Final = (
    Tool("Ajv, `strict: true`", "compiles the schema, validates messages", _run_node("ajv.js")),
    Tool("json-schema-to-typescript, `tsc --strict`", "writes types, checks messages", _run_node("typescript.js")),
    Tool("datamodel-codegen", "writes pydantic models, reads messages", _run_models),
    Tool("quicktype", "writes types of Go", _run_quicktype),
    Tool("datacontract test", "tests decoded tables by their ODCS document", run_datacontract),
    Tool("dbt test, DuckDB", "runs the tests of `sources.yml` over decoded tables", run_dbt),
    Tool("ClickHouse (chdb)", "makes the table, loads the rows, reads them back", run_lake("clickhouse")),
    Tool("deltalake", "makes the table by the Delta schema, appends the rows, reads them back", run_lake("delta")),
    Tool("pyiceberg", "reads the Iceberg schema; its columns are those of the files", run_lake("iceberg")),
    Tool("sqlglot", "parses the DDL of BigQuery, Snowflake, ClickHouse, StarRocks and Doris", run_sqlglot),
    Tool(
        "AsyncAPI parser, Ajv by draft 7", "validates the document of a topic; its examples", _run_node("asyncapi.js")
    ),
    Tool("Apache Avro, Java", "parses the Avro schema, and what it writes of it", _run_avro),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=Path("build/strangers"))
    tools = parser.parse_args().tools.resolve()
    install_tools(tools)
    with tempfile.TemporaryDirectory() as folder:
        write_schemas(Path(folder))
        table, problems = show_table(Path(folder), tools)
    print(table)
    for problem in problems[:_SHOWN]:
        print(problem[:_WIDTH], file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
