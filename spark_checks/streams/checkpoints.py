"""Checkpoints: Spark's files with the offsets of a stream, and our files under `_cdc`.

metadata            the id of the query: the same for as long as the checkpoint lives     (Spark's)
sources/0/0         where the stream began                                                (Spark's)
offsets/N           where batch N ends; written before it is read                         (Spark's)
commits/N           batch N is done                                                       (Spark's)
_cdc/stream.json    what the stream is: command, topics, contract                         (ours)
_cdc/batches/N.json what batch N is validated against; written before validation          (ours)
_cdc/contracts/     the documents that batches are validated against, by their digest     (ours)
_cdc/rolling/N      what all batches up to N came to                                      (ours)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.files.folders import Folder
from cdc_contracts.spark_checks.runs.run_records import write_ranges

OWN: Final = "_cdc"
KEPT: Final = 100
"""For how many past batches their validation context is kept; Spark keeps the offsets of as many."""
_STREAM: Final = f"{OWN}/stream.json"


class StreamSetup(Struct, frozen=True, forbid_unknown_fields=True):
    """The identity of a stream, as long as its checkpoint exists.

    `partitions` are those that `--from` named, null if all are read, including new ones. `detected` and `detection`
    are the detected contract and evidence if none was declared. `beside` are the queries whose rows were in the output
    when this one began, with the user's consent. `topic_ids` are the broker's ids of the topics. `options` are those
    of the producer that a sample decided before the first batch of a decode, null until there was one.
    """

    command: str
    topics: tuple[str, ...]
    contract: str
    partitions: dict[str, list[int]] | None = None
    detected: dict[str, list[str]] | None = None
    detection: ReportedDetection | None = None
    beside: tuple[str, ...] = ()
    topic_ids: dict[str, str] | None = None
    options: dict[str, str] | None = None


class Checkpoint:
    """The checkpoint of one stream, in a local folder or on a filesystem that both Spark and pyarrow support."""

    def __init__(self, directory: str) -> None:
        """Raise UnavailableError if pyarrow does not support the filesystem."""
        self.directory = directory
        self._folder = Folder(re.sub("^s3[an]:", "s3:", directory))

    @property
    def location(self) -> str:
        """The directory for Spark; a local one stays local whatever Spark's default filesystem is."""
        return f"file://{self._folder.root}" if self._folder.local else self.directory

    @property
    def query(self) -> str | None:
        """The id of the query; None before the first start."""
        return self._member("metadata", "id")

    @property
    def last(self) -> int | None:
        """The number of the last batch that was started; None if there was none."""
        return max(self._numbers("offsets"), default=None)

    @property
    def finished(self) -> int | None:
        """The number of the last finished batch; None if there was none."""
        return max(self._numbers("commits"), default=None)

    def committed(self, number: int) -> bool:
        """Return whether Spark has recorded that a batch is finished."""
        return self._folder.read(f"commits/{number}") is not None

    def begins(self) -> dict[Source, int]:
        """Return the offsets at which the stream began, by partition."""
        return self._offsets("sources/0/0", (self._folder.read("sources/0/0") or b"").lstrip(b"\0"))

    def ends(self, number: int) -> dict[Source, int]:
        """Return the offsets at which a batch ends, by partition. Raises UnavailableError if they are not recorded."""
        return self._offsets(f"offsets/{number}", self._folder.read(f"offsets/{number}") or b"")

    def spans(self, number: int) -> dict[Source, Span]:
        """Return the range of a batch by partition.

        A partition that was added is read from its beginning.
        Raises UnavailableError if a topic ends before the offset up to which it was read: it was recreated.
        """
        starts = self.begins() if number == 0 else self.ends(number - 1)
        spans = {source: Span(starts.get(source, 0), end) for source, end in sorted(self.ends(number).items())}
        for source, span in spans.items():
            if span.end < span.start:
                raise UnavailableError(
                    f"the topic was recreated: it ends at {span.end}, and had been read up to {span.start}",
                    where=f"{source.topic} partition {source.partition}",
                    hint="Follow it with a new checkpoint.",
                )
        return spans

    def setup(self) -> StreamSetup | None:
        """Return the setup of the stream; None before the first start. Raises UnavailableError if it is unreadable."""
        found = self._folder.read(_STREAM)
        if found is None:
            return None
        try:
            return msgspec.convert(json.loads(found), StreamSetup)
        except ValueError as error:
            raise UnavailableError(
                "the description of the stream cannot be read: another release wrote it",
                where=f"{self.directory}/{_STREAM}",
                hint="Use the release that started the stream, or a new checkpoint.",
            ) from error

    def keep_setup(self, setup: StreamSetup) -> None:
        self._write(_STREAM, json.dumps(msgspec.to_builtins(setup), indent=1, ensure_ascii=False).encode())

    def pin_of(self, number: int) -> str | None:
        """Return the digest of the pinned contracts of a batch; None if it was not started."""
        return self._member(f"{OWN}/batches/{number}.json", "pin")

    def keep_batch(self, number: int, pin: str, fingerprint: str, spans: Mapping[Source, Span]) -> None:
        """Record what a batch is validated against, and remove the records of old batches."""
        document = {
            "batch": number,
            "pin": pin,
            "fingerprint": fingerprint,
            "range": msgspec.to_builtins(write_ranges(spans)),
        }
        self._write(f"{OWN}/batches/{number}.json", (json.dumps(document, indent=1) + "\n").encode())
        known = self._numbers(f"{OWN}/batches")
        self._folder.remove(f"{OWN}/batches/{one}.json" for one in known if one < number - KEPT)

    def pin(self, digest: str) -> str | None:
        """Return the text of pinned contracts, None if there is none."""
        found = self._folder.read(f"{OWN}/contracts/{digest}.json")
        return None if found is None else found.decode()

    def keep_pin(self, digest: str, text: str) -> None:
        if self._folder.read(f"{OWN}/contracts/{digest}.json") is None:
            self._write(f"{OWN}/contracts/{digest}.json", text.encode())

    def rolling(self, number: int) -> bytes | None:
        """Return the totals of all batches up to this one."""
        return self._folder.read(f"{OWN}/rolling/{number}")

    def keep_rolling(self, number: int, data: bytes) -> None:
        """Keep the totals up to this batch, and those up to the one before, as this one may be repeated."""
        self._write(f"{OWN}/rolling/{number}", data)
        known = self._numbers(f"{OWN}/rolling")
        self._folder.remove(f"{OWN}/rolling/{one}" for one in known if one < number - 1)

    def _member(self, name: str, member: str) -> str | None:
        """Return a member of a JSON document, None if there is no document. Raises UnavailableError if it has none."""
        document = self._folder.read_document(name)
        if document is None:
            return None
        if member not in document:
            raise self._damaged(name)
        return str(document[member])

    def _offsets(self, name: str, text: bytes) -> dict[Source, int]:
        """Return the offsets in the last line of one of Spark's files."""
        try:
            version, *lines = text.decode().splitlines()
            return read_offsets(json.loads(lines[-1] if version == "v1" else "null"))
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise self._damaged(name) from error

    def _damaged(self, name: str) -> UnavailableError:
        return UnavailableError(
            "the checkpoint is damaged, or was written by an incompatible Spark",
            where=f"{self.directory}/{name}",
            hint="Use the Spark that started the stream, or a new checkpoint.",
        )

    def _numbers(self, folder: str) -> list[int]:
        names = [entry.base_name.removesuffix(".json") for entry in self._folder.files(folder)]
        return [int(name) for name in names if name.isdecimal()]

    def _write(self, name: str, data: bytes) -> None:
        """Write a file atomically and durably. Raises UnavailableError if it cannot be written."""
        try:
            self._folder.write(name, data)
        except OSError as error:
            raise UnavailableError(
                f"the checkpoint cannot be written: {error.strerror or error}", where=f"{self.directory}/{name}"
            ) from error


def read_offsets(written: Mapping[str, Mapping[str, int]]) -> dict[Source, int]:
    """Return offsets as Spark writes them, by topic and partition."""
    return {
        Source(topic, int(partition)): int(offset)
        for topic, partitions in written.items()
        for partition, offset in partitions.items()
    }
