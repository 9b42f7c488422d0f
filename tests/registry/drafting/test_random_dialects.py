"""No draft lies: what a draft accepts decodes to what its messages mean, or it names the member that is open."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
import yaml
from random_dialects import NO_WORDS, Dialect, Meaning, draw_dialect, to_bytes, write_messages

from cdc_contracts.registry.authoring.drafting.draft_folders import ContractFolder, make_folder, read_samples
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.records.file_batches import as_batch
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.validate.validation_context import open_validation

SHORT = [(0, 20)]
LONG = [pytest.param(first, 100, marks=pytest.mark.nightly) for first in range(20, 4_020, 100)]
"""Seeds of dialects: the first, and how many follow one another."""
SUBJECT = "acme/plain"


@pytest.mark.parametrize(("first", "count"), SHORT + LONG)
def test_a_draft_gives_the_rows_that_its_messages_mean_or_names_what_is_open(first, count, canonical):
    outcomes = Counter[str]()
    for seed in range(first, first + count):
        dialect = draw_dialect(seed)
        outcome, faults = tried(dialect, Random(seed).choice((1, 2, 4, 12, 40)), canonical)
        assert faults == [], f"seed {seed}: " + "\n".join(faults)
        outcomes[f"{outcome}, {'plain' if dialect.is_plain else 'in doubt'}"] += 1
    assert outcomes["refused, plain"] == 0
    assert outcomes["drafted, plain"] > count / 10


def tried(dialect: Dialect, count: int, catalogue: Catalogue) -> tuple[str, list[str]]:
    """Draft a contract from messages of a dialect; return what came of it, and where it lies."""
    written = write_messages(dialect, count)
    values = [to_bytes(message) for message, _ in written]
    samples = read_samples([(f"m.jsonl:{number}", value) for number, value in enumerate(values, 1)])
    try:
        draft = make_folder(catalogue, SUBJECT, "m.jsonl", samples, like=None, keep_values=False)
    except UndetectedError as error:
        return "refused", [] if error.what else ["it is refused without a reason"]
    with TemporaryDirectory() as folder:
        for name, content in draft.files.items():
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        contract = yaml.safe_load(draft.files[f"{SUBJECT}/v1/contract.yaml"])
        rows = decoded(values, Catalogue([*catalogue.roots, Path(folder)]))
    faults = [
        f"{place}: {fault}"
        for (_, meaning), place, found in zip(written, range(1, count + 1), rows, strict=True)
        for fault in differences(dialect, meaning, found, draft, contract)
    ]
    faults += [*unnamed(dialect, written, draft, contract), *wrong_types(dialect, draft)]
    return "drafted", [f"{fault}\n  {json.dumps(draft.questions, indent=1)}" for fault in faults[:1]]


def decoded(values: list[bytes], catalogue: Catalogue) -> list[list[dict[str, Any]]]:
    """Return the changes of each message as a batch of them decodes, after both paths agreed on every row."""
    validation = open_validation(catalogue, f"{SUBJECT}@1", ReadingOptions())
    found: list[list[dict[str, Any]]] = [[] for _ in values]
    for one in Kernel(validation).decode(as_batch(RecordsWithoutArrow("m", 0, list(range(len(values))), values))):
        changes = pa.RecordBatch.to_pylist(one.changes)
        for change in changes:
            found[change["offset"]].append(change)
    for value, rows in zip(values, found, strict=True):
        validated = validation.validate(value)
        assert validated.verdict.outcome in ("conforming", "control")
        alone = [(change.op, change.before, change.after) for change in validated.changes]
        assert alone == [(row["op"], as_row(row["before"]), as_row(row["after"])) for row in rows]
    return found


def as_row(image: list[tuple[str, str | None]] | None) -> dict[str, str | None] | None:
    return None if image is None else dict(image)


def differences(
    dialect: Dialect, meaning: Meaning, found: list[dict[str, Any]], draft: ContractFolder, contract: dict[str, Any]
) -> Iterator[str]:
    """Yield where the changes of a message are not what it means, and no question says that they may not be."""
    in_doubt = op_is_open(dialect, meaning, draft)
    if rows_are_open(dialect, draft) or (in_doubt and meaning.op is None):
        return
    rows, meant = [(as_row(one["before"]), as_row(one["after"])) for one in found], meaning.rows
    if in_doubt:  # before or after, as its op is
        rows, meant = ([(None, after or before) for before, after in pairs] for pairs in (rows, meant))
    if dialect.arrangement == "flat":
        rows = [tuple(without_envelope(row, dialect, draft) for row in pair) for pair in rows]
    if not same_rows(rows, meant):
        yield f"the rows are {rows} and not {meaning.rows}"
    if not in_doubt and {one["op"] for one in found} - {meaning.op}:
        yield f"the ops are {[one['op'] for one in found]} and not {meaning.op}"
    tables = {one["table"] for one in found}
    if tables - {None if dialect.table_name is None else meaning.table}:
        yield f"the tables are {tables} and not {meaning.table}"
    at = contract["envelope"].get("event_time", {}).get("at")
    if meaning.time is not None and at == dialect.pointer(dialect.time[0]):
        times = {one["event_time"] and round(one["event_time"].timestamp() * 10**6) for one in found}
        if times - {meaning.time}:
            yield f"the times are {times} and not {meaning.time}"


def without_envelope(
    row: dict[str, str | None] | None, dialect: Dialect, draft: ContractFolder
) -> dict[str, str | None] | None:
    """Return a row that is the message itself without the time, where a question calls it a column or none."""
    asked = next((one for one in draft.questions if one.startswith("read as columns: ")), "")
    if row is None or dialect.time is None or f"/{dialect.time[0]}" not in re.findall(r"/\w+", asked):
        return row
    return {name: value for name, value in row.items() if name != dialect.time[0]}


def rows_are_open(dialect: Dialect, draft: ContractFolder) -> bool:
    """Return whether a draft asks which members are rows, or which is the one after a change."""
    if "nameless" in dialect.features:
        return any("No name says so" in question for question in draft.questions)
    if dialect.arrangement == "flat" and dialect.features:
        return any("No name says so" in question for question in draft.questions)
    return False


def op_is_open(dialect: Dialect, meaning: Meaning, draft: ContractFolder) -> bool:
    """Return whether a draft asks what the code of a message means, and may."""
    code = "QUERY" if meaning.op is None else dialect.words[meaning.op]
    asked = [one.partition(" mean ")[0] for one in draft.questions if one.startswith("does ")]
    return (dialect.words is NO_WORDS or meaning.op is None) and any(code in question for question in asked)


def same_rows(rows: list[tuple[Any, Any]], meant: list[tuple[Any, Any]]) -> bool:
    """Return whether rows have the columns and the values that are meant."""
    return len(rows) == len(meant) and all(
        same_row(one, other) for pair, wanted in zip(rows, meant, strict=True)
        for one, other in zip(pair, wanted, strict=True)
    )  # fmt: skip


def same_row(row: dict[str, str | None] | None, meant: dict[str, Any] | None) -> bool:
    if row is None or meant is None:
        return row is meant
    return row.keys() == meant.keys() and all(same_value(row[name], value) for name, value in meant.items())


def same_value(text: str | None, value: Any) -> bool:
    if text is None or value is None:
        return text is value
    if isinstance(value, str) and text == value:
        return True
    if isinstance(value, dict | list):
        return json.loads(text) == value
    try:
        return Decimal(text) == Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        return False


def unnamed(
    dialect: Dialect, written: list[tuple[dict[str, Any], Meaning]], draft: ContractFolder, contract: dict[str, Any]
) -> Iterator[str]:
    """Yield the members that are no columns, no part of the envelope, and in no question."""
    said = {one for key in ("envelope", "images", "columns", "ddl") for one in pointers(contract.get(key))}
    said |= {*re.findall(r"/[\w/]+", " ".join(draft.questions))}
    said |= {"/isDdl"} if "ddl-flag-agrees" in contract["rules"] else set()
    images = {dialect.nested or "", *dialect.names} if dialect.arrangement != "flat" else set()
    columns = {name for _, meaning in written for pair in meaning.rows for row in pair for name in row or ()}
    for message, _ in written:
        for pointer, value in leaves(message, ""):
            if value == {} and any(one.startswith(f"{pointer}/") for one in said):
                continue
            parts = pointer[1:].split("/")
            is_column = not {*parts[:2]}.isdisjoint(images - {""}) and any(name in columns for name in parts[1:])
            is_column = is_column or (dialect.arrangement == "flat" and parts[0] in columns)
            above = ["/" + "/".join(parts[: end + 1]) for end in range(len(parts))]
            if not is_column and said.isdisjoint(above):
                yield f"nothing is said of {pointer}"
    key = None if dialect.key_name is None else dialect.pointer(dialect.key_name)
    asked = any("no member lists the columns of the key" in question for question in draft.questions)
    listing = [meaning for message, meaning in written if meaning.rows and key in dict(leaves(message, ""))]
    if asked and listing and not rows_are_open(dialect, draft):
        yield "the key is asked for, and a member lists it"


def pointers(says: Any) -> Iterator[str]:
    """Yield the pointers in a section of a contract."""
    if isinstance(says, dict | list):
        for one in says.values() if isinstance(says, dict) else says:
            yield from pointers(one)
    elif isinstance(says, str) and says.startswith("/"):
        yield says


def leaves(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yield every member that is no object, and every object without members, with its pointer."""
    if isinstance(value, dict) and value:
        for name, one in value.items():
            yield from leaves(one, f"{pointer}/{name}")
    else:
        yield pointer, value


def wrong_types(dialect: Dialect, draft: ContractFolder) -> Iterator[str]:
    """Yield the types of columns that are read as another kind, although values of them were seen."""
    mapping = yaml.safe_load(draft.files["acme/types/acme-plain.yaml"])
    kinds = {one.type.upper(): one.kind for columns in dialect.tables.values() for one in columns}
    for form, names in (mapping.get("forms") or {}).items():
        for name in names:
            kind = next((kinds[one] for one in kinds if re.sub(r"\(.*?\)", "", one) == name), None)
            in_doubt = any(name in question for question in draft.questions)
            if (
                kind in ("integer", "decimal", "date")
                and not form.removeprefix("sql-").startswith(kind)
                and not in_doubt
            ):
                yield f"{name} is read as {form}"
