"""Messages of documents with their Kafka keys, as the classes of a connector wrote them, and such as tests make of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from output_rows import by_kernel, by_reference, records_of, tables_of, unlike_rows
from record_batches import batch_of_values
from topics import scope_of

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.message.canonical_changes import Change
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

DOCUMENTS, BESIDE_BLOCKS = "debezium/mongodb@1", "debezium/mongodb-schema@1"
FOLDER = Path(__file__).parent / "registry" / "message" / "documents"


class Pair(NamedTuple):
    """A value with its Kafka key."""

    value: bytes | None
    key: bytes | None = None


def _read(line: str) -> tuple[str, Pair]:
    record = json.loads(line)
    return f"{record['release']} {record['name']}", Pair(record["value"].encode(), record["key"].encode())


MESSAGES = dict(map(_read, (FOLDER / "messages.jsonl").read_text("utf-8").splitlines()))
"""The messages by their release and name."""


def open_documents(reference: str = DOCUMENTS, **options: Any) -> ValidationContext:
    """Return the context in which documents are validated; without options the same for all tests of a process."""
    return scope_of(reference, **options)


def beside_blocks(pair: Pair) -> Pair:
    """Return a message and its key, each as the payload beside a schema block."""
    block = b'{"schema":{"type":"struct","fields":[],"optional":false},"payload":%b}'
    return Pair(*(None if one is None else block % one for one in pair))


def with_members(value: bytes, **members: Any) -> bytes:
    """Return a message with other members, each the JSON text of its value as Python writes it."""
    return json.dumps(json.loads(value) | members, ensure_ascii=False, separators=(",", ":")).encode()


def inserted(document: str) -> bytes:
    """Return an insert of the text of a document."""
    return with_members(MESSAGES["3.6.1 insert"].value, after=document)


DELETE = MESSAGES["3.6.1 delete"].value
"""A delete without the row before it."""


def batch_of_pairs(pairs: Sequence[Pair]) -> pa.RecordBatch:
    """Return values of one partition with their keys."""
    records = batch_of_values([pair.value for pair in pairs])
    return records.append_column("key", pa.array([pair.key for pair in pairs], pa.binary()))


def rows_of_kernel(validation: ValidationContext, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the rows that the kernel writes of one partition, the maps as dictionaries."""
    rows = by_kernel(Kernel(validation), batch_of_pairs(pairs))["changes"].to_pylist()
    return [
        row | {side: None if row[side] is None else dict(row[side]) for side in ("before", "after")} for row in rows
    ]


def quarantine_of(validation: ValidationContext, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the records of one partition that the kernel quarantines."""
    return by_kernel(Kernel(validation), batch_of_pairs(pairs))["quarantine"].to_pylist()


def unlike_by_cuts(validation: ValidationContext, pairs: Sequence[Pair], size: int) -> list[str]:
    """Return what the kernel says otherwise than the reference of records of one partition, cut into batches of a size."""
    count, kernel = len(pairs), Kernel(validation)
    records = records_of([pair.value for pair in pairs], [pair.key for pair in pairs])
    for name, column in (("topic", ["t"] * count), ("partition", pa.array([0] * count, pa.int32()))):
        records = records.set_column(records.schema.get_field_index(name), name, pa.array(column))
    cuts = (records.slice(start, size) for start in range(0, count, size))
    written = tables_of([one for cut in cuts for one in kernel.decode(cut)])
    return unlike_rows(validation, written, by_reference(validation, records))


def change_of_one(validation: ValidationContext, pair: Pair) -> tuple[Change, ...]:
    """Return the rows of a message by itself, by the verdict of one that it equals in kind."""
    validator = MessageValidator(validation)
    validator.validate(*pair, decodes=False)
    return validator.validate(*pair, decodes=True).changes
