"""Meaning proofs: the proof of a difference is one message, actually validated against both contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
    CompatibilityProof,
)
from cdc_contracts.registry.authoring.compat.meaning.altered_messages import DROPPED, look, put, raw_values
from cdc_contracts.registry.authoring.compat.meaning.contract_facts import ask
from cdc_contracts.registry.authoring.compat.meaning.contract_section import ANY, COLUMN, Question
from cdc_contracts.registry.authoring.compat.meaning.fact_places import lineage_of
from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import TYPE_NAMES, UNTYPED_FORM
from cdc_contracts.registry.authoring.compat.meaning.paired_readings import ReadResult, VersionReader, differing
from cdc_contracts.registry.authoring.compat.meaning.probe_messages import Messages
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.core.validate.message_edits import Path, walk

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.meaning.contract_section import FactDifference
    from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import MappingPair
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.contract.model import Meaning

ACCEPTED: Final = "accepted"
CHECKED_BY: Final = "the reference validator"
_TABLES: Final = ("orders", "shop.orders")
_MOST_TRIES: Final = 1000
_MOST_TRIES_OF_ALL: Final = 4000
"""Tries of one comparison, shared among its differences: what is not shown by then is undecided."""
_MOST_TYPES: Final = 12
_SPELLINGS: Final = ("int(11)", "bigint unsigned", "timestamp(6)", "int", "INTERVAL_DAY_TO_SECOND", "varchar(20)")
_DEEPEST: Final = 2
_OF_KIND: Final = {"number": (int, float), "text": (str,), "boolean": (bool,)}
_ZONE: Final = "+08:00"
_FRAME: Final = b"\x00\x00\x00\x00\x01"
_FOLLOWING: Final = frozenset({"before_complete", "after_complete", "changed", "invalid", "holds", "update_part"})
"""Members of a change that follow from its images."""
_WRONG: Final = (ValueError, TypeError, KeyError, AttributeError, OverflowError, LookupError)


@dataclass
class Trial:
    """The search for messages that show the differences of two contracts."""

    old: Version
    new: Version
    tries: int = _MOST_TRIES
    _readers: dict[tuple[str, str], VersionReader] = field(default_factory=dict)

    def share_tries(self, differences: int) -> None:
        """Bound the messages that are tried for each of a number of differences."""
        self.tries = min(_MOST_TRIES, _MOST_TRIES_OF_ALL // max(1, differences))

    def refuse_each_other(self) -> CompatibilityProof | None:
        """Return the proof that no message of the one contract is one of the other; None if some is."""
        question, found = Question(ROW_OPS, rules=ANY), None
        reading_options, result = self._reading_options(question, None, None)
        readers = (self._reader(self.old, reading_options), self._reader(self.new, reading_options))
        for version, reader in zip((self.old, self.new), readers, strict=True):
            for message in Messages(version, reader, reading_options).plain(question, None):
                value = _write(reader, message)
                if value is not None and all(one.read(value).accepted for one in readers):
                    return None
                found = found or _proof_of(question, readers, reader, message, result)
        return found

    def prove(self, difference: FactDifference, pair: MappingPair | None = None) -> CompatibilityProof | None:
        """Return the proof of a difference; None if no message that was tried shows it."""
        question = ask(difference, self.old, self.new)
        if difference.key[0] == "avro":
            return self._prove_wire()
        for source_type in self._types(question, difference, pair):
            for zone in self._zones(question):
                reading_options, result = self._reading_options(question, source_type, pair, zone)
                readers = (self._reader(self.old, reading_options), self._reader(self.new, reading_options))
                tried = self._messages(question, source_type, reading_options, readers, pair)
                for writer, message in islice(tried, self.tries):
                    proof = _proof_of(question, readers, writer, message, result)
                    if proof is not None:
                        return _smallest(question, readers, writer, proof, result)
        return self._prove_by_samples(question, difference, pair) if question.column is not None else None

    def _prove_by_samples(
        self, question: Question, difference: FactDifference, pair: MappingPair | None
    ) -> CompatibilityProof | None:
        """Return the proof that a column of a sample is: messages of a draft cannot be generated."""
        reading_options, result = self._reading_options(question, None, pair)
        readers = (self._reader(self.old, reading_options), self._reader(self.new, reading_options))
        columns = [
            (reader, message, path)
            for version, reader in zip((self.old, self.new), readers, strict=True)
            for message, path in islice(Messages(version, reader, reading_options).columns_of_samples(), self.tries)
            if _is_read_by(difference, readers, reader, message, path)
        ]
        as_they_are = ((*one, look(*one[1:])) for one in columns)
        altered = ((*one, value) for one in columns for value in raw_values())
        for reader, message, path, value in islice(chain(as_they_are, altered), self.tries):
            named = replace(question, named=str(path[-1]))
            proof = _proof_of(named, readers, reader, put(message, path, value), result)
            if proof is not None:
                return _smallest(named, readers, reader, proof, result)
        return None

    def _zones(self, question: Question) -> Iterator[str | None]:
        """Yield what to say of the zone of a column: first nothing, then one, where a contract takes it."""
        yield None
        takes_one = any("timestamp_zone" in version.meaning.parameters for version in (self.old, self.new))
        if question.column is not None and takes_one:
            yield _ZONE

    def _messages(
        self,
        question: Question,
        source_type: str | None,
        reading_options: ReadingOptions,
        readers: tuple[VersionReader, VersionReader],
        pair: MappingPair | None,
    ) -> Iterator[tuple[VersionReader, Any]]:
        """Yield messages of the old contract, and of the new one before these have used up the tries."""
        kind = pair.kind if pair is not None else None
        both = [
            Messages(version, reader, reading_options, kind)
            for version, reader in zip((self.old, self.new), readers, strict=True)
        ]
        old, new = (zip(repeat(one.reader), one.of(question, source_type)) for one in both)
        yield from chain(islice(old, self.tries * 3 // 4), new, old)

    def _types(self, question: Question, difference: FactDifference, pair: MappingPair | None) -> Iterator[str | None]:
        """Yield the source types of the column that a question is about."""
        if question.column is None or difference.rule is UNTYPED_FORM:
            yield None
        elif question.column:
            yield from dict.fromkeys((question.column.lower(), question.column))
        elif difference.rule is TYPE_NAMES:
            yield from _SPELLINGS
        else:
            mappings = (
                [pair.old, pair.new] if pair else [self._reader(self.old, ReadingOptions()).validator.forms.mapping]
            )
            names = [types[0] for types in mappings[0].document.forms.values() if types]
            if pair is not None:
                names = [name for name in names if pair.old.form_of(name) != pair.new.form_of(name)]
            yield from (name.lower() for name in names[:_MOST_TYPES])

    def _reading_options(
        self, question: Question, source_type: str | None, pair: MappingPair | None, zone: str | None = None
    ) -> tuple[ReadingOptions, str]:
        """Return the reading options of a trial, and in words what they say besides the messages."""
        meanings, result = (self.old.meaning, self.new.meaning), ""
        if any("release-of-version" in meaning.rules for meaning in meanings):
            result += ", whatever release it states"
        parameters: dict[str, str] = {}
        if any("time_zone" in meaning.parameters for meaning in meanings):
            parameters["time_zone"] = _ZONE
        if zone is not None:
            parameters["timestamp_zone"] = zone
            result += f", with timestamp_zone={zone}"
        if pair is not None and pair.mode is not None:
            parameters["source_mode"] = pair.mode
            result += f", with source_mode={pair.mode}"
        tables = TableContracts()
        if source_type is not None and any(meaning.columns.types == "none" for meaning in meanings):
            columns = {"id": {"type": "int"}, COLUMN: {"type": source_type}}
            tables = TableContracts(
                TableContract.model_validate({"table": name, "columns": columns}) for name in _TABLES
            )
            result += f", with a table contract: {COLUMN} is {source_type}"
        return ReadingOptions(parameters=parameters, tables=tables, table="shop.orders"), result

    def _reader(self, version: Version, reading_options: ReadingOptions) -> VersionReader:
        key = (version.reference + str(version.folder), reading_options.identity())
        if key not in self._readers:
            self._readers[key] = VersionReader(version, reading_options)
        return self._readers[key]

    def _prove_wire(self) -> CompatibilityProof | None:
        """Return the proof that the bytes of a record are read by one version only."""
        reading_options = ReadingOptions()
        readers = (self._reader(self.old, reading_options), self._reader(self.new, reading_options))
        for version, reader in zip((self.old, self.new), readers, strict=True):
            for value in _records(version, reader):
                result = (readers[0].read(value), readers[1].read(value))
                if result[0].accepted != result[1].accepted:
                    message = {"bytes": value.hex()}
                    return _refused(message, result[0], result[1], (), CHECKED_BY)
        return None


def _records(version: Version, reader: VersionReader) -> Iterator[bytes]:
    """Yield records of a version as they may stand in Kafka: bare, framed, and of each of its schemas."""
    from cdc_contracts.registry.core.generate.contract_samples import find_samples

    question = Question(("insert",))
    if version.meaning.transport == "avro":
        for message in islice(Messages(version, reader, ReadingOptions()).of(question, None), 1):
            value = reader.write(message)
            yield value
            yield _FRAME + value
    for one in lineage_of(version):
        yield from sorted((sample.value for sample in find_samples(one).messages), key=len)


def _write(writer: VersionReader, message: Any) -> bytes | None:
    """Return the value that holds a message; None if the wire has no such message."""
    try:
        return writer.write(message)
    except _WRONG:
        return None


def _proof_of(
    question: Question,
    readers: tuple[VersionReader, VersionReader],
    writer: VersionReader,
    message: Any,
    reading_options: str,
) -> CompatibilityProof | None:
    """Return the proof that a message is, where it shows what is asked for."""
    value = _write(writer, message)
    if value is None or not any(reader.may_accept(value) for reader in readers):
        return None
    old, new = readers[0].read(value), readers[1].read(value)
    checked_by = CHECKED_BY + reading_options
    if old.accepted != new.accepted:
        refusing = new if old.accepted else old
        about = tuple(one for one in refusing.refusals if question.counts(one))
        if about or (refusing.unreadable is not None and "*" in question.rules):
            return _refused(message, old, new, about, checked_by)
        return None
    if not old.accepted:
        return None
    here, there = differing(old, new)
    if not question.concerns({**here, **there}) or not _is_about(question, here, there):
        return None
    kept = {**here, **there}.keys() if "*" in question.fields else question.fields
    shown = [name for name in kept if name not in _FOLLOWING] if not kept <= _FOLLOWING else list(kept)
    pairs = [{name: result[name] for name in result if name in shown} for result in (here, there)]
    if not any(pairs):
        pairs = [here, there]
    return CompatibilityProof(READ_DIFFERENTLY, message, pairs[0], pairs[1], checked_by)


def _is_read_by(
    difference: FactDifference,
    readers: tuple[VersionReader, VersionReader],
    writer: VersionReader,
    message: Any,
    path: Path,
) -> bool:
    """Return whether a column of a message is read by the forms in which two contracts differ."""
    value = _write(writer, message)
    rows = () if value is None else next((rows for one in readers if (rows := one.read(value).rows)), ())
    types = (rows[0].get("column_types") or {}) if rows else {}
    source_type, mappings = types.get(path[-1]), [one.validator.forms.mapping for one in readers]
    kind = difference.key[1].removesuffix(" without a type")
    if difference.rule is UNTYPED_FORM:
        held = look(message, path)
        return (
            source_type is None and isinstance(held, _OF_KIND[kind]) and isinstance(held, bool) == (kind == "boolean")
        )
    forms = [fact.value if fact is not None else None for fact in (difference.old, difference.new)]
    return source_type is not None and [one.form_of(source_type) for one in mappings] == forms


def _smallest(
    question: Question,
    readers: tuple[VersionReader, VersionReader],
    writer: VersionReader,
    proof: CompatibilityProof,
    reading_options: str,
) -> CompatibilityProof:
    """Return the proof without the members of its message that neither contract asks for; rows stay whole."""
    for path in list(_optional_members(proof.message, readers)):
        smaller = _proof_of(question, readers, writer, put(proof.message, path, DROPPED), reading_options)
        if smaller is not None and (smaller.kind, smaller.old, smaller.new) == (proof.kind, proof.old, proof.new):
            proof = smaller
    return proof


def _optional_members(message: Any, readers: tuple[VersionReader, VersionReader]) -> Iterator[Path]:
    """Yield where a message has members that no schema requires, images and column types apart."""
    schemas = [reader.validator.version.schema for reader in readers]
    kept = {split_pointer(at) for reader in readers for at in _kept_members(reader.validator.meaning)}
    for path, value in walk(message):
        inside = any(path[: len(one)] == one or one[: len(path)] == path for one in kept if one)
        if 0 < len(path) <= _DEEPEST and not inside and not isinstance(value, dict):
            parents = [_schema_at(schema, path[:-1]) for schema in schemas]
            named = any(path[-1] in parent.get("properties", ()) for parent in parents)
            if named and not any(path[-1] in parent.get("required", ()) for parent in parents):
                yield path


def _kept_members(meaning: Meaning) -> Iterator[str]:
    types = meaning.columns.types
    yield from meaning.images.pointers()
    if types != "none" and types.at is not None:
        yield types.at


def _schema_at(schema: Any, path: Path) -> Mapping[str, Any]:
    for part in path:
        schema = schema.get("properties", {}).get(part, {}) if isinstance(schema, dict) else {}
    return schema if isinstance(schema, dict) else {}


def _is_about(question: Question, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether what is decoded differently is of the column that matters, where one does."""
    if question.column is None:
        return True
    images = [result.get(side) for result in (old, new) for side in ("before", "after")]
    return any(isinstance(image, dict) and question.named in image for image in images) or (
        question.named == COLUMN and "invalid" in {**old, **new}
    )


def _refused(
    message: Any, old: ReadResult, new: ReadResult, about: tuple[Any, ...], checked_by: str
) -> CompatibilityProof:
    if old.accepted:
        return CompatibilityProof(REFUSED_BY_NEW, message, ACCEPTED, new.refusal(about), checked_by)
    return CompatibilityProof(REFUSED_BY_OLD, message, old.refusal(about), ACCEPTED, checked_by)
