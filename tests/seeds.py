"""The samples of the vendors' documents: the place of each, what it is and how it is repaired.

The documents are not part of the project. They are read from the folder that CDC_CONTRACTS_SEEDS names, and nothing
of them stands here but headings, and what the JSON texts below each heading are, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from seed_repairs import (
    Repair,
    closed,
    column_of_the_insert,
    columns_by_position,
    data_column_of_key,
    even_hex,
    no_comment_amid_the_line,
    no_comments,
    no_comments_amid_the_line,
    no_trailing_commas,
    old_column_of_data,
    parted_key_values,
    types_by_position,
    unmasked_ids,
    unmasked_position,
    update_with_both_images,
    whole_meta,
)

VARIABLE = "CDC_CONTRACTS_SEEDS"

COMMUNITY, ENTERPRISE = "000_59b4c55691ef1af1.txt", "001_39822de88eb4079e.txt"
DRS, STREAMX, DTS = "002_534ad88d60b43d35.txt", "003_6ae6608ec27241fb.txt", "004_c131997ae0547dbf.txt"


@dataclass(frozen=True)
class Text:
    """A JSON text of a document: the op it shows, its repairs, and the rules that remark on it without refusing it.

    Documents show the present: a sample speaks the latest version of its subject where no other is said.
    """

    name: str
    op: str | None
    repairs: tuple[Repair, ...] = ()
    remarks: tuple[str, ...] = ()
    version: int | None = None


@dataclass(frozen=True)
class Section:
    document: str
    heading: str
    subject: str
    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Sample:
    section: Section
    text: Text

    def __str__(self) -> str:
        return "+".join([f"{self.section.subject}-{self.text.name}", *map(str, self.text.repairs)])

    @property
    def subject(self) -> str:
        return self.section.subject


TEMPLATE = Text("template", None)
"""Prose about members in the shape of a message (E1, E4, E5), and the two halves of what SMT does (E52)."""

# The key columns that are named are none of the columns shown (E14, E33, E38).
KEY = ("D09.primary-key-in-image",)
BLOCK = ("D09.schema-block-matches-image",)


def insert(*repairs: Repair, remarks: tuple[str, ...] = ()) -> Text:
    return Text("insert", "insert", repairs, remarks)


def update(*repairs: Repair, remarks: tuple[str, ...] = ()) -> Text:
    return Text("update", "update", repairs, remarks)


def delete(*repairs: Repair, remarks: tuple[str, ...] = ()) -> Text:
    return Text("delete", "delete", repairs, remarks)


def row(*repairs: Repair, remarks: tuple[str, ...] = ()) -> Text:
    return Text("row", "snapshot", repairs, remarks)


def ddl(*repairs: Repair) -> Text:
    return Text("ddl", "ddl", repairs)


HEARTBEAT = Text("heartbeat", "heartbeat")
COMMENTED_HEARTBEAT = Text("heartbeat", "heartbeat", (no_comments,))
MASKS = (no_comment_amid_the_line, unmasked_ids)

SECTIONS = (
    Section(COMMUNITY, "### Default JSON message format", "oms-community/default", (
        TEMPLATE, insert(no_trailing_commas, remarks=KEY), update(no_trailing_commas, remarks=KEY),
        delete(column_of_the_insert, remarks=KEY),
    )),
    Section(COMMUNITY, "### Canal-compatible JSON message format", "oms-community/canal", (
        TEMPLATE, insert(), update(old_column_of_data), delete(remarks=KEY),
    )),
    Section(COMMUNITY, "### Dataworks-compatible JSON message format", "oms-community/dataworks", (
        TEMPLATE, COMMENTED_HEARTBEAT, insert(columns_by_position, remarks=KEY),
        update(columns_by_position, remarks=KEY), delete(columns_by_position, remarks=KEY),
    )),
    Section(COMMUNITY, "### SharePlex-compatible JSON message format", "oms-community/shareplex", (
        TEMPLATE, insert(), update(data_column_of_key), delete(),
    )),
    Section(
        COMMUNITY, "### DefaultExtendColumnType-compatible JSON message format",
        "oms-community/default-extend-column-type",
        (
            TEMPLATE, insert(types_by_position, remarks=KEY), update(types_by_position, remarks=KEY),
            delete(types_by_position, remarks=KEY),
        ),
    ),
    Section(COMMUNITY, "### Debezium JSON message format", "oms-community/debezium", (
        TEMPLATE, insert(closed), update(closed, update_with_both_images), delete(closed),
    )),
    Section(ENTERPRISE, "Default JSON message format", "oms/default", (
        TEMPLATE, insert(*MASKS, no_trailing_commas, remarks=KEY), row(*MASKS, no_trailing_commas, remarks=KEY),
        update(*MASKS, no_trailing_commas, remarks=KEY), delete(*MASKS, column_of_the_insert, remarks=KEY), ddl(),
    )),
    Section(ENTERPRISE, "JSON format of Canal messages", "oms/canal", (
        TEMPLATE, insert(), update(old_column_of_data), delete(remarks=KEY), ddl(),
    )),
    Section(ENTERPRISE, "JSON message format of DataWorks", "oms/dataworks", (
        TEMPLATE, COMMENTED_HEARTBEAT, insert(columns_by_position, remarks=KEY),
        update(columns_by_position, remarks=KEY), delete(columns_by_position, remarks=KEY), ddl(),
    )),
    Section(ENTERPRISE, "JSON format of SharePlex messages", "oms/shareplex", (
        TEMPLATE, insert(parted_key_values), update(data_column_of_key), delete(), ddl(),
    )),
    Section(ENTERPRISE, "DefaultExtendColumnType JSON message format", "oms/default-extend-column-type", (
        TEMPLATE, insert(*MASKS, types_by_position, remarks=KEY), row(*MASKS, types_by_position, remarks=KEY),
        update(*MASKS, types_by_position, remarks=KEY), delete(*MASKS, types_by_position, remarks=KEY), ddl(),
    )),
    Section(ENTERPRISE, "Debezium JSON message format", "oms/debezium", (
        TEMPLATE, TEMPLATE, insert(unmasked_position, remarks=BLOCK),
        update(unmasked_position, even_hex, remarks=BLOCK), delete(unmasked_position, even_hex, remarks=BLOCK),
    )),
    Section(ENTERPRISE, "DebeziumFlatten JSON message format", "oms/debezium-flatten", (
        TEMPLATE, insert(unmasked_position), update(unmasked_position, even_hex), delete(unmasked_position, even_hex),
    )),
    # Whether a row was inserted or updated is not in the message, so no op is asked for (E52).
    Section(ENTERPRISE, "DebeziumSmt JSON format", "oms/debezium-smt", (
        TEMPLATE, TEMPLATE, Text("insert", None), Text("update", None), delete(),
    )),
    Section(ENTERPRISE, "Avro JSON message format", "oms/avro", (
        Text("init", "snapshot", (no_comments_amid_the_line, unmasked_ids)),
        insert(no_comments_amid_the_line, unmasked_ids), update(no_comments_amid_the_line, unmasked_ids),
        delete(no_comments_amid_the_line, unmasked_ids), ddl(no_comments_amid_the_line, unmasked_ids),
    )),
    Section(DRS, "JSON", "drs/json", (update(),)),
    Section(DRS, "JSON-C", "drs/json-c", ()),
    Section(STREAMX, "Overall message format", "dataworks/streamx", (TEMPLATE,)),
    Section(STREAMX, "Heartbeat message format", "dataworks/streamx", (HEARTBEAT,)),
    Section(STREAMX, "Message formats for source data changes", "dataworks/streamx", (
        insert(), Text("update-before", "update"), Text("update-after", "update"), Text("update-joined", "update"),
        delete(),
    )),
    Section(DTS, "Shareplex Json", "dts/shareplex", (insert(), update(whole_meta), delete(whole_meta))),
    # Both rows are headed as updates and are deletes (E87); the first one lacks the key that it names (E85).
    Section(DTS, "Canal Json", "dts/canal", (
        Text("delete-before-2022", "delete", remarks=("D09.columns-typed", *KEY), version=1),
        Text("delete-since-2022", "delete", version=2), ddl(no_comments),
    )),
)  # fmt: skip

SAMPLES = tuple(Sample(section, text) for section in SECTIONS for text in section.texts if text is not TEMPLATE)


@cache
def texts_of(folder: Path, section: Section) -> tuple[str, ...]:
    """Return the JSON texts below a heading, up to the next heading of a section."""
    lines = document(folder, section.document).split("\n")
    starts = sorted(lines.index(one.heading) for one in SECTIONS if one.document == section.document)
    start = lines.index(section.heading)
    end = next((after for before, after in pairwise(starts) if before == start), len(lines))
    return tuple(json_texts("\n".join(lines[start:end])))


def printed(folder: Path, sample: Sample) -> str:
    """Return the text of a sample as printed."""
    return _named(folder, sample.section)[sample.text.name]


def repaired(folder: Path, sample: Sample, *, save: Repair | None = None) -> str:
    """Return the text of a sample with its repairs, all or all but one.

    What leaves a text unreadable keeps the other repairs from reading it, so then only those of its kind are made.
    """
    text = printed(folder, sample)
    for one in sample.text.repairs:
        in_vain = save is not None and save.without == "unreadable" != one.without
        if one is not save and not in_vain:
            text = one.hint(text, _named(folder, sample.section))
    return text


def json_texts(text: str) -> Iterator[str]:
    """Yield what is fenced as JSON; where nothing is, whatever stands in braces at the top."""
    fenced = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    if fenced:
        yield from (one.strip() for one in fenced)
        return
    depth, start = 0, 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text):
        if found[0] == "{":
            depth, start = depth + 1, start if depth else found.start()
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : found.end()]


def _named(folder: Path, section: Section) -> dict[str, str]:
    named = zip(section.texts, texts_of(folder, section), strict=True)
    return {text.name: printed for text, printed in named if text is not TEMPLATE}


@cache
def document(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")
