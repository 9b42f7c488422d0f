"""Avro containers (object container files): the schema at the beginning, then the records in blocks.

Blocks are compressed with `deflate`, which every reader of Avro knows. Files written by others may use any codec that
fastavro can read here.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final, NoReturn, Self

import fastavro

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.message.avro_records import AvroError, Codec

MAGIC: Final = b"Obj\x01"
_BLOCK_BYTES: Final = 64 * 1024
_SYNC_BYTES: Final = 16
_HEADER: Final[Any] = {
    "type": "record",
    "name": "org.apache.avro.file.Header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": len(MAGIC)}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": _SYNC_BYTES}},
    ],
}


class ContainerWriter:
    """Writes bare records of one schema to a container file; nothing before the first block, the last by `finish`."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._file = file
        self._schema = schema
        self._sync = b""
        self._waiting: list[bytes] = []
        self._size = 0

    def write(self, record: bytes) -> None:
        """Write one record."""
        self._waiting.append(record)
        self._size += len(record)
        if self._size >= _BLOCK_BYTES:
            self._write_block()

    def finish(self) -> None:
        """Write the pending records; the file stays open."""
        if not self._sync:
            self._write_header()
        if self._waiting:
            self._write_block()

    def _write_header(self) -> None:
        self._sync = os.urandom(_SYNC_BYTES)
        text = json.dumps(self._schema, ensure_ascii=False, separators=(",", ":"))
        meta = {"avro.schema": text.encode(), "avro.codec": b"deflate"}
        fastavro.schemaless_writer(self._file, _HEADER, {"magic": MAGIC, "meta": meta, "sync": self._sync})

    def _write_block(self) -> None:
        if not self._sync:
            self._write_header()
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        packed = packer.compress(b"".join(self._waiting)) + packer.flush()
        for number in (len(self._waiting), len(packed)):
            fastavro.schemaless_writer(self._file, "long", number)
        self._file.write(packed + self._sync)
        self._waiting, self._size = [], 0


class ContainerReader:
    """Reads the messages of a container file by the schema that it carries itself."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        """Raise UnavailableError if the file is no container, UsageError if its schema holds no JSON messages."""
        self._where = where
        try:
            self._blocks = fastavro.block_reader(file)
        except Exception as error:  # fastavro raises a dozen kinds for bytes
            raise UnavailableError(f"not an Avro container file: {_describe_error(error)}", where=where) from error
        self.schema: Any = json.loads(self._blocks.metadata["avro.schema"])
        try:
            self._codec = Codec(self.schema)
        except AvroError as error:
            raise UsageError(f"its schema cannot represent JSON messages: {error}", where=where) from error

    def check(self, schema: Any) -> Self:
        """Return the reader. Raises UsageError if the file holds another record type than the schema."""
        found, wanted = _full_name(self.schema), _full_name(schema)
        if found != wanted:
            raise UsageError(f"it contains records of {found}, not of {wanted}", where=self._where,
                             hint="Give the version of these messages with --contract.")  # fmt: skip
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the messages. Raises UnavailableError if the file is cut off, or holds what the schema does not."""
        number = 0
        try:
            for block in self._blocks:
                data = io.BytesIO(block.bytes_.read())  # type: ignore[attr-defined]  # it is there, but not in the types
                for _ in range(block.num_records):
                    yield self._codec.read_from(data)
                    number += 1
                if data.read(1):
                    self._refuse(number, "its block holds more than its records")
        except AvroError as error:
            self._refuse(number, str(error))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001  fastavro raises a dozen kinds for bytes
            self._refuse(number, _describe_error(error))

    def _refuse(self, number: int, problem: str) -> NoReturn:
        raise UnavailableError(f"the container cannot be read after {number:,} records: {problem}", where=self._where,
                               hint="It is truncated or damaged: write it again.") from None  # fmt: skip


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _full_name(schema: Any) -> str:
    if not isinstance(schema, dict) or "name" not in schema:
        return "no record"
    space = schema.get("namespace")
    return f"{space}.{schema['name']}" if space and "." not in schema["name"] else str(schema["name"])
