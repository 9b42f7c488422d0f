"""Writes `docs/architecture.md`, the picture of the whole, from the code: `python docs/write_architecture.py`.

The rooms, their descriptions and the arrows between them are read from the packages and their imports. The flow of a
record and the table of questions are written here by hand; a test checks that the modules they name exist.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import grimp

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).parent / "architecture.md"
PACKAGE = "cdc_contracts.registry"

HEAD = """# Architecture

Layers import in one direction: `testing` → `cli` and `api` → `spark_checks` → `registry` → `contracts`.

| layer | what it does |
|---|---|
| `testing` | generates messages of every version for tests of consumers, as a pytest plugin |
| `cli` | parses options, calls one function and prints |
| `api` | offers the Python interface: one message, a batch or a DataFrame read by its contract, as Python values |
| `spark_checks` | reads topics and files, runs the registry on them in Spark or in one process, publishes runs |
| `registry` | knows what contracts mean: validates, decodes, detects, compares, lints, serves; no Spark, no Kafka |
| `contracts` | holds data: a folder for each version of a dialect |

This page is written by `python docs/write_architecture.py`; a test compares it with the imports of the code.

## The flow of a record

```mermaid
flowchart LR
    source["Kafka topic, files<br><code>spark_checks/inputs/sources.py</code>"]
    task["Spark task, or this process<br><code>spark_checks/tasks/spark_tasks.py</code>"]
    kernel["fast validator: parse, group, validate<br><code>registry/core/engine/kernel.py</code>"]
    reference["reference validator, one of each kind<br><code>registry/core/validate/reference_validator.py</code>"]
    tally["tally, merged in any order<br><code>registry/core/stats/tally.py</code>"]
    findings["findings of the whole run<br><code>registry/core/stats/run_findings.py</code>"]
    report["report: JSON, HTML, Markdown, JUnit<br><code>registry/core/report/audit_report.py</code>"]
    writers["changes, control, quarantine<br><code>registry/core/engine/write/output_writers.py</code>"]
    typed["typed tables<br><code>registry/core/tables/canonical/typed_rows.py</code>"]
    runs["one run, all or nothing<br><code>spark_checks/runs/run_directory.py</code>"]
    catalogue["catalogue of contracts<br><code>registry/core/contract/catalogue.py</code>"]
    detect["detection of the contract<br><code>registry/core/detect/classifier.py</code>"]
    source --> task --> kernel
    catalogue --> kernel
    detect -. "where none is declared" .-> kernel
    kernel -- "first of its kind" --> reference -- "verdict" --> kernel
    kernel -- "audit" --> tally --> findings --> report
    kernel -- "decode" --> writers --> typed --> runs
```

A record is validated once. The fast validator groups the records of a batch that are alike in everything that a rule
reads; the reference validator decides the first record of each group, and the others get the same verdict. An audit
keeps only the tally; a decode also writes rows.

If a C compiler was available at installation, `registry/core/engine/native/` parses messages of a known shape and
checks their values. All other messages, and all messages without it, take the path through `msgspec` and Arrow, with
the same results.

The word *engine* has two meanings. An **execution engine** (`--engine spark` or `local`,
`spark_checks/engines/engines.py`) is where a run takes place: in Spark tasks or in the process of the command. The room
**`registry/core/engine`** is the fast validator, which both execution engines run.
"""

QUESTIONS: Final = {
    "Where are the before and after images of an op in this version?": (
        "`images` in `contract.yaml`, for example `contracts/dts/canal/v1/contract.yaml`; its keys: "
        "`registry/core/contract/image_model.py`; one message read by it: `registry/core/message/reading.py`"
    ),
    "How is a source type written, and how is such a value read?": (
        "`contracts/<system>/types/` names the value form; `registry/core/values/forms/` has one file for each, "
        "`registry/core/values/timestamps.py` reads instants"
    ),
    "Which classes of drift are there, and how severe are they?": (
        "one file each in `registry/core/common/drift_classes/`; where they are found: rules across fields in "
        "`registry/core/validate/drift_rules/`, op codes, members and values in "
        "`registry/core/validate/reference_validator.py`"
    ),
    "How does a message become a verdict?": (
        "`registry/core/validate/reference_validator.py`; for batches `registry/core/engine/kernel.py`"
    ),
    "Which contract does a topic follow?": ("`registry/core/detect/classifier.py`"),
    "Which version do the changes of one row prove, where versions swap its images?": (
        "`registry/core/stats/change_evidence.py`, from links in `change_links.py` and states in `state_votes.py`; "
        "in a sample, `registry/core/detect/image_order.py`"
    ),
    "What is the verdict of a run?": (
        "`decide_run` in `registry/core/stats/run_verdict.py`, from the evidence in "
        "`registry/core/stats/run_evidence.py`"
    ),
    "Which exit code means what, and where is it chosen?": (
        "the meanings in `docs/reference/exit-codes.md`, the codes in `registry/core/common/exit_codes.py`, those of "
        "failures by their class in `registry/core/common/errors.py`; a command ends with the code of its verdict, "
        "`audit` and `decode` in `cli/options/run_options.py`, the others in the module of the command"
    ),
    "Where is a section of the HTML report written?": (
        "`registry/core/report/html_page.py`; the findings in `registry/core/report/html_findings.py`"
    ),
    "Which offsets are read, and where is a range split into tasks?": (
        "the range in `spark_checks/kafka/offsets.py`; samples and pieces of it in "
        "`spark_checks/inputs/range_slices.py`; tasks in `spark_checks/tasks/task_shares.py` and, for topics, "
        "`reading_options` of `spark_checks/kafka/spark_source.py`; files in `spark_checks/inputs/file_inputs.py`; "
        "what a task does: `spark_checks/tasks/spark_tasks.py`"
    ),
    "When is a run published?": (
        "`spark_checks/runs/transactions.py`; its record is written last, by `spark_checks/runs/run_directory.py`, "
        "which also knows which files count then"
    ),
    "Where does a stream deliver its findings, and try again?": (
        "`spark_checks/streams/deliveries.py`; one request in `spark_checks/streams/webhooks.py`"
    ),
    "Which rows repeat earlier ones?": (
        "the definition in `spark_checks/engines/repeat_search.py`; where to compare in "
        "`spark_checks/runs/repeated_positions.py`; the search itself in "
        "`spark_checks/engines/local_repeat_search.py` and `spark_checks/engines/spark_repeat_search.py`"
    ),
    "Where are the files of a decode put, and what ends a run early?": (
        "folders and files in `spark_checks/files/file_sinks.py`; a time limit and Ctrl-C in "
        "`spark_checks/engines/stopping.py`"
    ),
    "What changed between two schemas or contracts, and does it break readers?": (
        "`registry/authoring/compat/version_comparison.py`; then "
        "`registry/authoring/compat/json_schema/json_comparison.py`, "
        "`registry/authoring/compat/avro/avro_comparison.py`, `registry/authoring/compat/meaning/meaning_comparison.py`"
    ),
    "Which writer schema of a topic began where, and whose readers does it break?": (
        "`registry/core/stats/schema_timeline.py`, from ids counted by `registry/core/engine/count/schema_counts.py`; "
        "compared by `registry/authoring/compat/reader_comparison.py`, which "
        "`registry/authoring/sync/schema_sources.py` hands over"
    ),
    "What does `breaking` compare?": (
        "`registry/authoring/review/revisions/revision_comparison.py`, by `registry/authoring/compat/publication.py`"
    ),
    "Which schemas are refused because they could do harm?": (
        "`registry/core/schema/schema_documents.py`; Avro in `registry/core/schema/avro_types/schema_reading.py`, JSON "
        "Schema in `registry/core/schema/json_schemas/schema_checks.py`"
    ),
    "Where does the registry server answer a request?": (
        "one module per resource in `registry/server/protocol/endpoints/`, for example "
        "`registry/server/protocol/endpoints/subject_endpoints.py`; pages in `registry/server/ui/`"
    ),
    "Which requests does it refuse?": (
        "users and rights in `registry/server/access/`; the right that an endpoint requires in "
        "`registry/server/protocol/permissions.py`; other origins in `registry/server/running/serving.py`; slow "
        "clients in `registry/server/running/connection_limits.py`"
    ),
    "Where does the id of a schema come from?": (
        "`registry/authoring/sync/id_locks.py`; contracts without one get it in "
        "`registry/authoring/sync/id_numbering.py`"
    ),
}
"""Where to look for what: each answer names files and folders."""

WINGS = """
## The wings of `registry`

`registry` has three wings and, above them, the schemas of all files that people write. A wing imports only what is
below it, and a room of a wing only the rooms below it; `lint-imports` checks both. In the pictures an arrow points to a
room whose code is used; arrows that follow from others are left out.

| wing | what it is |
|---|---|
"""
TAIL = """
## The folders of `spark_checks`, `api`, `cli` and `testing`
"""


def packages_in_order(parent: str = "") -> list[str]:
    """Return what lies directly in the registry, or in one of its wings, from top to bottom as in `pyproject.toml`."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    container = f"{PACKAGE}.{parent}" if parent else PACKAGE
    return next(one["layers"] for one in contracts if one.get("containers") == [container])


def words_of(package: str) -> list[str]:
    """Return the docstring of a wing or room: its first line, and the line that says what goes in and out, if any."""
    return docstring_of(ROOT / "registry" / package / "__init__.py")


def docstring_of(module: Path) -> list[str]:
    """Return the paragraphs of the docstring of a module."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def folders_of_the_engine() -> Iterator[str]:
    """Yield the lines about the folders of the engine, from what is imported by all others to what imports them."""
    yield from ("", "| folder of the engine | what it is |", "|---|---|")
    for layer in reversed(packages_in_order("core.engine")):
        for name in layer.split(" | "):
            if (ROOT / "registry/core/engine" / name).is_dir():
                yield f"| `registry/core/engine/{name}` | {words_of(f'core/engine/{name}')[0]} |"


def imports_between(wing: str, rooms: list[str]) -> dict[str, set[str]]:
    """Return for each room of a wing the rooms of it that its modules import."""
    graph, inside = grimp.build_graph("cdc_contracts"), f"{PACKAGE}.{wing}."
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for module in graph.modules:
        if not module.startswith(inside):
            continue
        room = module.removeprefix(inside).split(".")[0]
        for used in graph.find_modules_directly_imported_by(module):
            if used.startswith(inside) and (other := used.removeprefix(inside).split(".")[0]) != room:
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


def rooms_of(wing: str) -> Iterator[str]:
    """Yield the lines about the rooms of a wing: a picture, and a table."""
    rooms = packages_in_order(wing)
    yield from ("```mermaid", "flowchart TD")
    for room, other in without_shortcuts(imports_between(wing, rooms)):
        yield f"    {room} --> {other}"
    yield from ("```", "", "| room | what it is | what goes in and out | modules |", "|---|---|---|---|")
    for room in rooms:
        first, *rest = words_of(f"{wing}/{room}")
        modules = sum(path.name != "__init__.py" for path in (ROOT / "registry" / wing / room).rglob("*.py"))
        yield f"| `{room}` | {first} | {rest[0] if rest else ''} | {modules} |"


def page() -> str:
    """Return the text of the page."""
    lines = [
        HEAD.rstrip(),
        *folders_of_the_engine(),
        "",
        "## Where to look",
        "",
        "| question | answered in |",
        "|---|---|",
    ]
    lines += [f"| {question} | {answer} |" for question, answer in QUESTIONS.items()]
    lines += [WINGS.rstrip()]
    wings = packages_in_order()
    lines += [f"| `registry/{wing}` | {words_of(wing)[0]} |" for wing in wings]
    for wing in reversed(wings[1:]):
        lines += ["", f"### `registry/{wing}`", "", *rooms_of(wing)]
    lines += [TAIL, "| folder | what it is |", "|---|---|"]
    for layer in ("spark_checks", "api", "cli", "testing"):
        for package in sorted((ROOT / layer).rglob("__init__.py")):
            lines.append(f"| `{package.parent.relative_to(ROOT)}` | {docstring_of(package)[0]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
