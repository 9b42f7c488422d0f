"""Decoded columns and stated exclusions are the members that were seen, whatever a draft is made of."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from random_dialects import to_bytes

from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation

SHORT = [(first, 20) for first in range(0, 40, 20)]
LONG = [pytest.param(first, 100, marks=pytest.mark.nightly) for first in range(40, 4_040, 100)]
"""Seeds of feeds: the first, and how many follow one another."""
OFTEN = 10
"""Feeds of a kind that are not all refused by chance."""
SUBJECT = "acme/feed"
NAMES = (
    "a-b", "a.b", "1", "01", "1st", "名称", "Key Part", "a/b~c", "data", "doc", "after", "old", "row", "op", "type", "table",
    "status", "ts_ms", "payload", "schema", "source", "values", "keys", "name", "ddl", "x", "absent", "columns",
)  # fmt: skip
ROW_NAMES = ("a-b", "a.b", "1", "名称", "Key Part", "qty", "title", "x", "weight", "absent")
"""Names of columns that no part of an envelope is called, for rows beside one without a mark."""
VALUES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "int64": [0, -1, 2**63 - 1],
    "uint64": [7, 2**64 - 1],
    "double": [Decimal("1.5"), Decimal("-2.25"), Decimal("0.5")],
    "string": ["", "a", "null", "käse", "{}", "insert", "7"],
    "array": [[], [1, "a", None], [[True]], [{"id": 1, "x": 2}]],
    "struct": [{"x": 1}, {"x": Decimal("1.0"), "y": {"z": []}}, {"id": 7, "name": "a", "tags": ["b"]}],
}
"""Values of each kind of JSON, by the type that a schema block gives to them."""


@dataclass
class Feed:
    """What a producer writes: where rows are, what says the op, and the columns of its table with their types."""

    draw: Random
    shape: str
    code: str | None
    block: bool
    always_before: bool
    columns: dict[str, str]
    as_texts: bool
    """Whether each row is the text of an object."""
    is_keyed: bool = False
    """Whether records have the key of their row, as text, and a delete has its row nowhere else."""

    @property
    def holder(self) -> str:
        return "/payload" if self.block else ""


def draw_feed(seed: int) -> Feed:
    """Return a feed; the same for the same seed."""
    draw = Random(seed)
    shape = draw.choice(("sides", "sides", "flat", "flat", "row"))
    code = {
        "sides": draw.choice(("op", "op", "op_type", None)),
        "flat": draw.choice(("__op", "__deleted")),
        "row": "op",
    }
    names = ROW_NAMES if shape == "row" else NAMES
    chosen = draw.sample(names, draw.randint(1, 6))
    block = shape != "row" and code[shape] is not None and draw.random() < (1 / 2 if shape == "flat" else 1 / 3)
    types = [type_ for type_ in VALUES if not block or type_ != "uint64"]
    columns = {"id": "int64", **{name: draw.choice(types) for name in chosen}}
    always_before = draw.random() < 1 / 2
    as_texts = shape == "sides" and draw.random() < 1 / 3
    is_keyed = as_texts and code[shape] is not None and draw.random() < 1 / 2
    return Feed(draw, shape, code[shape], block, always_before, columns, as_texts, is_keyed)


Row = dict[str, Any]
Change = tuple[str, Row | None, Row | None]


def write_feed(feed: Feed, count: int) -> list[tuple[dict[str, Any], Change | None]]:
    """Return messages, each with its op and images; None for a message without a row."""
    found: list[tuple[dict[str, Any], Change | None]] = []
    rows: list[Row] = []
    for number in range(count):
        if feed.shape == "sides" and number and feed.draw.random() < 1 / 10:
            found.append((wrapped(feed, {"source": {"table": "t"}, "ddl": f"ALTER TABLE t ADD c{number} int"}), None))
            continue
        op = feed.draw.choice(("insert", "update", "delete")) if rows else "insert"
        before = None if op == "insert" else rows.pop()
        after = None if op == "delete" else {**new_row(feed), "id": number if before is None else before["id"]}
        rows += [after] if after is not None else []
        found.append(write_change(feed, op, before, after))
    return found


def new_row(feed: Feed) -> Row:
    draw = feed.draw
    return {name: None if draw.random() < 1 / 5 else draw.choice(VALUES[type_]) for name, type_ in feed.columns.items()}


CODES = {"insert": "c", "update": "u", "delete": "d"}


def write_change(feed: Feed, op: str, before: Row | None, after: Row | None) -> tuple[dict[str, Any], Change]:
    if feed.shape == "flat":
        row = (before if op == "delete" else after) or {}
        deleted = feed.code == "__deleted"
        code = str(op == "delete").lower() if deleted else CODES[op]
        meant = "upsert" if deleted and op != "delete" else op
        return wrapped(feed, {**row, feed.code or "": code, "__table": "t"}), (
            (meant, row, None) if op == "delete" else (meant, None, row)
        )
    if feed.shape == "row":
        row = (before if op == "delete" else after) or {}
        return {"op": CODES[op], "table": "t", "row": row}, (op, row, None) if op == "delete" else (op, None, row)
    if op == "update" and not feed.always_before:
        before = None
    if feed.is_keyed and op == "delete":
        sent, before = [None, None], {"id": (before or {})["id"]}
    else:
        sent = [row if row is None or not feed.as_texts else to_bytes(row).decode() for row in (before, after)]
    message = {"before": sent[0], "after": sent[1], "source": {"table": "t", "pos": 7}}
    if feed.code is not None:
        message[feed.code] = CODES[op]
    meant = op if feed.code is not None or (before is not None) else "upsert"
    return wrapped(feed, message), (meant, before, after)


def wrapped(feed: Feed, message: dict[str, Any]) -> dict[str, Any]:
    """Return a message beside the schema of its members, where the feed has one."""
    if not feed.block:
        return message
    described = {name: {"type": "string", "field": name} for name in message}
    columns = {
        name: {"type": type_, "field": name, **({"items": {"type": "string"}} if type_ == "array" else {})}
        for name, type_ in feed.columns.items()
    }
    row = {"type": "string"} if feed.as_texts else {"type": "struct", "fields": [*columns.values()]}
    described |= {name: {**row, "field": name} for name in ("before", "after") if name in message}
    described |= columns if feed.shape == "flat" else {}
    return {"schema": {"type": "struct", "fields": [*described.values()]}, "payload": message}


@pytest.mark.parametrize(("first", "count"), SHORT + LONG)
def test_each_member_is_a_decoded_column_or_stated_to_be_none(first, count, canonical):
    drawn, drafts = Counter[str](), Counter[str]()
    for seed in range(first, first + count):
        feed = draw_feed(seed)
        faults = drafted(feed, Random(seed).choice((1, 2, 5, 15)), canonical)
        assert faults in ([], None), f"seed {seed}: {faults}"
        shape = ("texts with keys" if feed.is_keyed else "texts") if feed.as_texts else feed.shape
        for kind in (shape, "beside a block") if feed.block else (shape,):
            drawn[kind] += 1
            drafts[kind] += faults is not None
    assert drafts["row"] > 0
    assert [kind for kind, total in drawn.items() if total >= OFTEN and not drafts[kind]] == []


def drafted(feed: Feed, count: int, catalogue: Catalogue) -> list[str] | None:
    """Draft a contract from a feed and return what it loses; None if it is refused."""
    messages = write_feed(feed, count)
    values = [to_bytes(message) for message, _ in messages]
    keys = [key_of(change) if feed.is_keyed and change is not None else None for _, change in messages]
    samples = read_samples((f"m:{at}", *one) for at, one in enumerate(zip(values, keys, strict=True), 1))
    try:
        draft = make_folder(catalogue, SUBJECT, "m.jsonl", samples, like=None, keep_values=False)
    except UndetectedError as error:
        return None if may_be_refused(feed, error.what) else [f"refused: {error.what}"]
    with TemporaryDirectory() as folder:
        for name, content in draft.files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_bytes(content)
        opened = Catalogue([*catalogue.roots, Path(folder)])
        validation = open_validation(opened, f"{SUBJECT}@1", ReadingOptions())
        validated = [validation.validate(*one) for one in zip(values, keys, strict=True)]
    contract = yaml.safe_load(draft.files[f"{SUBJECT}/v1/contract.yaml"])
    said = {*pointers(contract)} | {*re.findall(r"/[^\s,()]+", " ".join(draft.questions))}
    faults = []
    for (message, change), one in zip(messages, validated, strict=True):
        found = [(each.op, each.before, each.after) for each in one.changes]
        wanted = [] if change is None else [(change[0], texts(change[1]), texts(change[2]))]
        if one.verdict.outcome not in ("conforming", "control") or found != wanted:
            faults.append(f"{one.verdict.outcome}: {found} and not {wanted}")
        faults += [f"nothing is said of {at}" for at in outside(feed, message) if not is_said(at, said)]
    return faults[:1]


def key_of(change: Change) -> bytes:
    """Return the key of a record, which holds that of its row as JSON text."""
    _, before, after = change
    return to_bytes({"id": json.dumps((after or before or {})["id"])})


def may_be_refused(feed: Feed, reason: str) -> bool:
    """Return whether an object among the columns of a feed may be the row, and a draft says so."""
    if feed.shape == "row":
        return "what it holds" in reason
    named_like_a_side = [feed.columns.get(name) for name in ("after", "old")]
    return feed.shape == "flat" and {"struct", "array"} & {*named_like_a_side} != set() and "or the row is at" in reason


def texts(row: Row | None) -> dict[str, str | None] | None:
    """Return the values of a row as texts: those of numbers as they are, and of arrays and objects as JSON."""
    return None if row is None else {name: text_of(value) for name, value in row.items()}


def text_of(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return to_bytes(value).decode().replace(", ", ",").replace(": ", ":")
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def outside(feed: Feed, message: dict[str, Any]) -> list[str]:
    """Return the pointers to the members of a message that are outside its rows."""
    content = message["payload"] if feed.block else message
    if feed.shape == "flat":
        return [f"{feed.holder}/{name}" for name in content if name.startswith("__")]
    found = []
    for name, value in content.items():
        if name in ("before", "after", "row"):
            continue
        inner = [f"/{one}" for one in value] if isinstance(value, dict) else [""]
        found += [f"{feed.holder}/{name}{one}" for one in inner]
    return found


def is_said(pointer: str, said: set[str]) -> bool:
    """Return whether a member, or one that holds it, is in a contract or a question."""
    parts = pointer[1:].split("/")
    return any("/" + "/".join(parts[: end + 1]) in said for end in range(len(parts)))


def pointers(says: Any) -> list[str]:
    """Return the texts in a contract that are pointers, and the members that are no columns."""
    if isinstance(says, dict):
        hidden = [f"{says['at']}/{name}" for name in says.get("not_columns", ())]
        return hidden + [found for one in says.values() for found in pointers(one)]
    if isinstance(says, list):
        return [found for one in says for found in pointers(one)]
    return [says] if isinstance(says, str) and says.startswith("/") else []
