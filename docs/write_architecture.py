"""Writes `docs/architecture.md`, the picture of the whole, from the code: `python docs/write_architecture.py`.

The rooms, what each says of itself and the arrows between them are read from the packages and their imports. The
flow of a record is written here by hand; the modules it names have to exist.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).parent / "architecture.md"
PACKAGE = "cdc_contracts.registry"

HEAD = """# Architecture

Four layers, one direction: `cli` → `spark_checks` → `registry` → `contracts`. A contract is data; `registry` knows
neither Spark nor Kafka; `spark_checks` reads topics and files and runs the registry in tasks; `cli`
parses options, calls one function and prints. This page is written by `python docs/write_architecture.py`, and a test
holds it to the imports of the code.

## The flow of a record

```mermaid
flowchart LR
    source["Kafka topic, files<br><code>spark_checks/sources.py</code>"]
    task["Spark task, or this process<br><code>spark_checks/spark_tasks.py</code>"]
    kernel["fast validator: parse, group, validate<br><code>registry/engine/kernel.py</code>"]
    reference["reference validator, one of each kind<br><code>registry/validate/reference_validator.py</code>"]
    tally["tally, merged in any order<br><code>registry/stats/tally.py</code>"]
    findings["findings of the whole run<br><code>registry/stats/run_findings.py</code>"]
    report["report: JSON, HTML, Markdown, JUnit<br><code>registry/report/audit_report.py</code>"]
    writers["changes, control, quarantine<br><code>registry/engine/output_writers.py</code>"]
    typed["typed tables<br><code>registry/tables/canonical/typed_rows.py</code>"]
    runs["one run, all or nothing<br><code>spark_checks/runs/run_directory.py</code>"]
    catalogue["catalogue of contracts<br><code>registry/contract/catalogue.py</code>"]
    detect["detection of the contract<br><code>registry/detect/classifier.py</code>"]
    source --> task --> kernel
    catalogue --> kernel
    detect -. "where none is declared" .-> kernel
    kernel -- "first of its kind" --> reference -- "verdict" --> kernel
    kernel -- "audit" --> tally --> findings --> report
    kernel -- "decode" --> writers --> typed --> runs
```

Where a C compiler was at hand at installation, messages of a known shape are taken apart and their values checked by
`registry/engine/native/`; all others, and everywhere else, by `msgspec` and Arrow, with the same results.

A record is validated once. The fast validator groups the records of a batch that are alike in everything a rule reads,
has the reference validator decide the first of each group, and gives the others the same verdict. An audit keeps the
tally only; a decode writes rows beside it.

## The rooms of `registry`

Each room may import the rooms below it and no other; `lint-imports` checks it. An arrow leads to a room whose code is
used; arrows that follow from others are left out.
"""


def rooms_in_order() -> list[str]:
    """Return the rooms from top to bottom, as `pyproject.toml` has the layers."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return next(one["layers"] for one in contracts if one.get("containers") == [PACKAGE])


def words_of(room: str) -> list[str]:
    """Return the docstring of a room: its first line, and the line that says what goes in and out, if any."""
    text = ast.get_docstring(ast.parse((ROOT / "registry" / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def imports_between(rooms: list[str]) -> dict[str, set[str]]:
    """Return for each room the rooms that its modules import."""
    graph = grimp.build_graph("cdc_contracts")
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for module in graph.modules:
        if not module.startswith(f"{PACKAGE}."):
            continue
        room = module.split(".")[2]
        for used in graph.find_modules_directly_imported_by(module):
            if used.startswith(f"{PACKAGE}.") and (other := used.split(".")[2]) != room:
                found[room].add(other)
    return found


def without_shortcuts(imports: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield the arrows that do not follow from others."""

    def reach(room: str) -> set[str]:
        return imports[room].union(*(reach(other) for other in imports[room]))

    for room, used in imports.items():
        for other in sorted(used):
            if not any(other in reach(between) for between in used - {other}):
                yield room, other


def page() -> str:
    """Return the text of the page."""
    rooms = rooms_in_order()
    lines = [HEAD, "```mermaid", "flowchart TD"]
    lines += [f"    {room} --> {other}" for room, other in without_shortcuts(imports_between(rooms))]
    lines += ["```", "", "| room | what it is | what goes in and out | modules |", "|---|---|---|---|"]
    for room in rooms:
        first, *rest = words_of(room)
        modules = sum(path.name != "__init__.py" for path in (ROOT / "registry" / room).rglob("*.py"))
        lines.append(f"| `{room}` | {first} | {rest[0] if rest else ''} | {modules} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
