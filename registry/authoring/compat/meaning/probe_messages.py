"""Probe messages that may show a difference of two contracts: generated from each, altered, and samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.meaning.altered_messages import alter, put, raw_values
from cdc_contracts.registry.authoring.compat.meaning.contract_facts import reachable_ops
from cdc_contracts.registry.authoring.compat.meaning.contract_section import COLUMN, Question
from cdc_contracts.registry.authoring.compat.meaning.fact_places import lineage_of
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.message_edits import Path, walk

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.meaning.paired_readings import VersionReader
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.message.canonical_changes import Image

_MOMENT: Final = 1_609_344_671_123_000
_LATER: Final = _MOMENT + 1_250_000
_ID_TYPES: Final = ("int", "INTEGER", "varchar(20)", "VARCHAR2(20)", "text", "string")
_TEXT_TYPES: Final = ("varchar(20)", "VARCHAR2(20)", "text", "string", "int")
_CANONICAL: Final = (
    "apple", "5", "12.50", "2020-12-30T16:11:11.123456Z", "2020-12-30T16:11:11.5", "2020-12-30T16:11:00", "2020-12-30",
    "01:02:03.5", "01:02:00", "2020", "true", "AQL/", "P3D",
)  # fmt: skip
"""Canonical texts, one or two of each kind: a form writes those that it holds."""
_BARE: Final = {"begin", "commit", "rollback", "heartbeat", "mark", "truncate"}
_MOST_SAMPLES: Final = 40
_LONGEST_SAMPLE: Final = 4000
_WRONG: Final = (CdcContractsError, Unreadable, ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""Exceptions that writing an unforeseen message may raise."""


@dataclass
class Messages:
    """Messages of one version that may show a difference, as the JSON that they are shown as."""

    version: Version
    reader: VersionReader
    reading_options: ReadingOptions
    source_kind: str | None = None

    def of(self, question: Question, source_type: str | None) -> Iterator[Any]:
        """Yield the messages of a question: plain ones, samples, and altered ones, smallest first where that is known.

        Altered messages are many, and the tries are few where contracts differ in much. The columns of samples have
        other names: `columns_of_samples` are for questions about one.
        """
        plain = list(self.plain(question, source_type))
        yield from plain
        if question.column is None:
            yield from self.samples()
        else:
            for message in plain[:1]:
                for path, _ in walk(message):
                    if path and path[-1] == COLUMN and self._is_in_image(path):
                        yield from (put(message, path, value) for value in raw_values())
            return
        coded = [put(message, split_pointer(at), code) for message in plain for at, code in question.codes]
        yield from coded
        for message in (*coded, *plain):
            yield from alter(message, question.targets)

    def plain(self, question: Question, source_type: str | None) -> Iterator[Any]:
        """Yield messages of the ops that are asked about, as the version writes them."""
        return self._written(question, self.table(source_type))

    def samples(self) -> Iterator[Any]:
        """Yield the samples of the version and of what it is based on, smallest first."""
        values = [sample.value for one in lineage_of(self.version) for sample in find_samples(one)]
        for value in sorted(values, key=len)[:_MOST_SAMPLES]:
            if len(value) <= _LONGEST_SAMPLE:
                try:
                    yield json.loads(self.reader.validator.wire.text_of(value))
                except _WRONG:
                    continue

    def columns_of_samples(self) -> Iterator[tuple[Any, Path]]:
        """Yield the samples, each with the place of a column in it, once for each column."""
        for message in self.samples():
            for path, held in walk(message):
                is_column = isinstance(path[-1] if path else 0, str) and not isinstance(held, dict | list)
                if is_column and self._is_in_image(path):
                    yield message, path

    def table(self, source_type: str | None) -> SourceTable:
        """Return the smallest table that shows something: a key, and the column that matters."""
        types = {"id": self._first_known(_ID_TYPES, source_type)}
        types[COLUMN] = source_type if source_type is not None else self._first_known(_TEXT_TYPES, None)
        return SourceTable("orders", types, ("id",), database="shop")

    def _first_known(self, wanted: Sequence[str], but: str | None) -> str:
        mapping = self.reader.validator.forms.mapping
        known = [name for name in wanted if mapping.form_of(name) is not None]
        return next((name for name in known if name != but), wanted[0])

    def _written(self, question: Question, table: SourceTable) -> Iterator[Any]:
        kind = self.source_kind or "OB_MYSQL"
        renderers = [
            Renderer(self.version, self.reading_options, full_old=full_old, source_kind=kind)
            for full_old in ((False,) if question.column is not None else (False, True))
        ]
        seen = []
        for op in question.ops:
            if op not in _BARE and op != "ddl" and op not in reachable_ops(self.version):
                continue
            for event in self._events(op, table, texts=_CANONICAL if question.column is not None else ("green", "red")):
                for renderer in renderers:
                    try:
                        message = json.loads(self.reader.validator.wire.text_of(renderer.render(event)))
                    except _WRONG:
                        continue
                    if message not in seen:
                        seen.append(message)
                        yield message

    def _events(self, op: str, table: SourceTable, texts: Sequence[str]) -> Iterator[Event]:
        """Yield events of an op: one for each text that the column may hold, the last with none."""
        if op == "ddl":
            yield Event(op, table, None, None, _MOMENT, _LATER, "41", "7", "ALTER TABLE orders ADD c INT", "ALTER")
            return
        if op in _BARE:
            yield Event(op, None, None, None, _MOMENT, _LATER, "41", "7")
            return
        for number, text in enumerate([*texts, None]):
            row: Image = {"id": "7", COLUMN: text}
            other: Image = {"id": "7", COLUMN: texts[number - 1] if op in ("update", "update-after") else text}
            before = other if op in ("update", "update-after") else row if op in ("delete", "update-before") else None
            after = row if op not in ("delete", "update-before") else None
            yield Event(op, table, before, after, _MOMENT, _LATER, "41", "7")

    def _is_in_image(self, path: tuple[str | int, ...]) -> bool:
        places = (split_pointer(pointer) for pointer in self.version.meaning.images.pointers())
        return any(path[: len(place)] == place and len(path) > len(place) for place in places)
