"""Evidence accumulator: collects the evidence of many messages, one after the other."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import combinations, permutations, product
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import INFO, Finding
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.discriminator_model import Evidence
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.detect.column_forms import ColumnForms
from cdc_contracts.registry.core.detect.image_order import ImageOrder
from cdc_contracts.registry.core.detect.message_evidence import CatalogueValidators, MessageEvidence, RecordPlace
from cdc_contracts.registry.core.detect.outliers import enough
from cdc_contracts.registry.core.detect.repeated_members import RepeatedMembers, taken_for
from cdc_contracts.registry.core.detect.sender_timeline import (
    SampledMessage,
    SenderTimeline,
    moment_in,
    parted_subjects,
)
from cdc_contracts.registry.core.detect.votes import (
    CODE_SEEN,
    COLUMN_FORM,
    COLUMN_TURN,
    DDL_SEEN,
    DOUBTED_CHAIN,
    KEY_CHAIN,
    MARK,
    PLAINER,
    PROCESS_TIME,
    VALUE_FORM,
    Votes,
)
from cdc_contracts.registry.core.detect.weights import WeighedMessages
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.column_ways import WrittenTable
from cdc_contracts.registry.core.stats.column_writing import ColumnWriting
from cdc_contracts.registry.core.stats.position_sequences import Point, Stretch
from cdc_contracts.registry.core.stats.record_facts import written_rows
from cdc_contracts.registry.core.stats.writing_turns import drifting_turns
from cdc_contracts.registry.core.values import Number

_WHOLE: Final = "the after image of one change of a row is the before image of the next"
_SAMPLES: Final = 20
_BYTES_OF_VALUE: Final = 20
_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass
class VersionRefusal:
    """Messages that one version accepts and another refuses, with the reason for the first of them."""

    finding: Finding
    first: RecordPlace
    count: int = 0


@dataclass
class EvidenceAccumulator:
    """The evidence of the messages so far.

    `values` counts the values of columns that versions read from them, each of which takes its time.
    `senders` counts messages by their possible senders, `takers` by the contracts that accept them, also those that row
    changes refute. `differing` counts for two versions the messages with rows that
    both accept and read differently, `unlike_controls` those without rows, `parted` for a subject the messages that
    some of its versions accept and decode differently.
    """

    catalogue: Catalogue
    reading_options: ReadingOptions
    messages: int = 0
    values: int = 0
    senders: Counter[WeighedMessages] = field(default_factory=Counter)
    takers: Counter[WeighedMessages] = field(default_factory=Counter)
    first: dict[WeighedMessages, RecordPlace] = field(default_factory=dict)
    differing: Counter[frozenset[Version]] = field(default_factory=Counter)
    unlike_controls: Counter[frozenset[Version]] = field(default_factory=Counter)
    parted: Counter[tuple[WeighedMessages, str]] = field(default_factory=Counter)
    refusals: dict[tuple[Version, Version], VersionRefusal] = field(default_factory=dict)
    votes: Votes = field(default_factory=Votes)
    timeline: SenderTimeline = field(default_factory=SenderTimeline)
    _writing: ColumnWriting = field(default_factory=ColumnWriting)
    turns: list[tuple[str, RecordPlace, RecordPlace]] = field(default_factory=list)
    """Which versions row changes prove one after the other, from where to where, where it is more than one."""
    _first_foreign: list[tuple[RecordPlace, bytes]] = field(default_factory=list)
    _repeats: RepeatedMembers = field(default_factory=RepeatedMembers)

    @cached_property
    def validators(self) -> CatalogueValidators:
        return CatalogueValidators(self.catalogue, self.reading_options)

    @property
    def samples(self) -> list[bytes]:
        """The first messages that nothing takes, in order of offsets."""
        return [value for _, value in self._first_foreign]

    def add(self, place: RecordPlace, value: bytes, key: bytes | None = None) -> None:
        """Add one message; its key need not be known."""
        message_evidence = self.validators.add(place, value, key)
        self.messages += 1
        self.values += message_evidence.values if message_evidence.fits else len(value) // _BYTES_OF_VALUE
        senders = WeighedMessages(
            tuple(message_evidence.fits), message_evidence.may_be, message_evidence.marked, message_evidence.hosts
        )
        self._compare(message_evidence)
        parted, moment = tuple(parted_subjects(message_evidence)), moment_in(message_evidence)
        self._count(SampledMessage(place, senders, parted, moment), value)
        for relative in message_evidence.proven:
            for side, version in taken_for(message_evidence, relative):
                self.votes.cast(side, version, MARK, f"what only {relative.name} writes", place)
        self._repeats.take(message_evidence, value)
        for order in self._orders.values() if message_evidence.whole else ():
            order.follow(message_evidence)
        if any(entry.column_form for version in message_evidence.fits for entry in version.meaning.version_evidence):
            self._columns.take(message_evidence)
            self._take_writing(message_evidence)

    def read_alike(self, one: Version, other: Version) -> bool:
        """Return whether two versions read all rows that both accept alike, and control messages except outliers."""
        pair = frozenset((one, other))
        return not self.differing[pair] and self.unlike_controls[pair] < max(enough(self.messages), 1)

    def add_unreadable(self, place: RecordPlace, value: bytes) -> None:
        """Add a value that is not a message."""
        self.messages += 1
        self._count(SampledMessage(place, WeighedMessages()), value)
        self.pass_over(place)

    def _count(self, message: SampledMessage, value: bytes) -> None:
        self.timeline.add(message, value)
        if not message.senders.sides:
            insort(self._first_foreign, (message.place, value))
            del self._first_foreign[_SAMPLES:]

    def count_parted(self, subject: str) -> int:
        """Return how many messages some versions of a subject accept and decode differently."""
        return sum(count for (_, parted), count in self.parted.items() if parted == subject)

    def place_versions(self, subject: str) -> tuple[VersionRanges | None, int]:
        """Return the ranges in which versions of a subject are proven, and how many messages no range covers.

        None if no version reads a message of the subject differently from another, or if row changes contradict any
        range: then each message has to prove itself.
        """
        parted = self.count_parted(subject)
        if not parted or (subject in self._orders and self._orders[subject].is_disputed):
            return None, parted
        versions = [version.reference for version in self.catalogue.versions(subject)]
        return self.timeline.ranges(subject, versions)

    def pass_over(self, place: RecordPlace) -> None:
        """Skip a record without a message."""
        for order in self._orders.values():
            order.pass_over(place)

    def finalize(self) -> None:
        """Cast the votes that need all messages; call it once, at the end."""
        self.votes.messages = self.messages
        self._repeats.cast(self.votes)
        refuted: dict[RecordPlace, frozenset[Version]] = {}
        for order in self._orders.values():
            order.weigh()
            self.turns += order.turns
            refuted |= order.refuted()
            doubt = order.doubt
            kind, says = (KEY_CHAIN, _WHOLE) if doubt is None else (DOUBTED_CHAIN, f"{_WHOLE}, {doubt}")
            for vote in order.votes():
                for winner, loser in product(_in_order(vote.winners), _in_order(vote.losers)):
                    self.votes.cast(winner, loser, kind, says, vote.first, count=vote.votes)
        self._weigh(refuted)
        for version, other, name in self._columns.votes():
            form = version.catalogue.mapping(version.mapping_names()[0]).form_of("DATETIME")
            self.votes.cast(version, other, COLUMN_FORM, f"column {name} is always written as {form}", None)

        turns = [(turn, switch) for turn, switch in drifting_turns(self._writing, self.catalogue) if switch is not None]
        names = ", ".join(sorted({turn.name for turn, _ in turns}))
        for turn, switch in sorted(turns, key=lambda one: (one[0].rows[:2], one[0].stretch.first.offset)):
            place = RecordPlace(turn.rows.topic, turn.rows.partition, turn.stretch.first.offset)
            says = f"columns are written as {switch.before.reference} writes them, and then as it does: {names}"
            self.votes.cast(switch.after, switch.before, COLUMN_TURN, says, place)

    def _weigh(self, refuted: Mapping[RecordPlace, frozenset[Version]]) -> None:
        """Count the messages by their possible senders, without those that row changes refute."""
        found = list(self.timeline.refute(refuted))
        present = {version for before, _ in found for version in before.senders.versions}
        for before, message in found:
            senders = message.senders.with_hosts(present)
            self.takers[before.senders.with_hosts(present)] += 1
            self.senders[senders] += 1
            self.first.setdefault(senders, message.place)
            for subject in message.parted:
                self.parted[senders, subject] += 1

    def _take_writing(self, message_evidence: MessageEvidence) -> None:
        """Record the value layouts of the columns of an untyped message."""
        version = next(iter(message_evidence.fits))
        reading = Reading(version.meaning, dict(message_evidence.message), self.reading_options)
        written = (
            written_rows(reading, self.validators.validators[version].forms.columns_of(reading))
            if reading.holds_rows
            else None
        )
        if written is None or written.described:
            return
        place, names = message_evidence.place, reading.names
        table = table_name(names.database, names.schema, names.table)
        rows = WrittenTable(
            place.topic, place.partition, table, version.subject, written.loaded, written.at, written.typed
        )
        point = Point(place.offset, None)
        for row in reading.rows(written.source) or ():
            self._writing.add_row(rows, row, Stretch(1, point, point))

    def _compare(self, message_evidence: MessageEvidence) -> None:
        """Record what distinguishes versions that accept a message from each other and from those that refuse it."""
        fits, place = message_evidence.fits, message_evidence.place
        for taken in fits:
            for version, reason in message_evidence.refused.items():
                refusal = self.refusals.get((taken, version))
                if refusal is None:
                    refusal = self.refusals[taken, version] = VersionRefusal(reason.finding, place)
                elif place < refusal.first:
                    refusal.finding, refusal.first = reason.finding, place
                refusal.count += 1
        for one, other in combinations(fits, 2):
            if not message_evidence.agree(one, other):
                rows = bool(fits[one].changes or fits[other].changes)
                (self.differing if rows else self.unlike_controls)[frozenset((one, other))] += 1
        for one, other in permutations(fits, 2):
            if message_evidence.is_plain(one) and not message_evidence.is_plain(other):
                finding = next(found for found in fits[other].findings if found.severity != INFO)
                self.votes.cast(
                    one, other, PLAINER, f"{other.reference} would warn about {describe_breach(finding)}", place
                )
            result = dict(reversed([*_evidence_for(message_evidence, one, other)]))  # a message gives each vote once
            for kind, says in reversed(result.items()):
                self.votes.cast(one, other, kind, says, place)

    @cached_property
    def _orders(self) -> Mapping[str, ImageOrder]:
        """The order of images of every subject with versions that place them differently."""
        found = {}
        for subject in self.catalogue.subjects():
            versions = self.catalogue.versions(subject)
            chained = [one for one in versions if any(entry.key_chain for entry in one.meaning.version_evidence)]
            if len(chained) > 1:
                found[subject] = ImageOrder(chained)
        return found

    @cached_property
    def _columns(self) -> ColumnForms:
        return ColumnForms(list(self.catalogue.all_versions()))


def _evidence_for(message_evidence: MessageEvidence, one: Version, other: Version) -> Iterator[tuple[str, str]]:
    """Yield the evidence, by the contract of the first of two accepting versions, for it and against the other."""
    for entry in _own_evidence(one, other):
        for kind, describe in _EVIDENCE_KINDS.items():
            says = describe(entry, message_evidence, one, other)
            if says is not None:
                yield kind, says


@lru_cache(4096)
def _own_evidence(one: Version, other: Version) -> tuple[Evidence, ...]:
    """Return the evidence entries of a version that another does not have."""
    theirs = other.meaning.version_evidence
    return tuple(entry for entry in one.meaning.version_evidence if entry not in theirs)


def _describe_form(entry: Evidence, message_evidence: MessageEvidence, one: Version, other: Version) -> str | None:
    if entry.value_form is None or entry.proves != "subject" or one.subject == other.subject:
        return None
    forms, changes = message_evidence.fits[other].opinion.forms, message_evidence.fits[one].changes
    for path, form in message_evidence.fits[one].opinion.forms.items():
        if form == entry.is_form and forms.get(path) not in (None, form) and _holds_value(changes, path):
            return f"{path} is written as {form}"
    return None


def _describe_code(entry: Evidence, message_evidence: MessageEvidence, one: Version, other: Version) -> str | None:
    codes = one.meaning.columns.codes
    if entry.code_seen is None or codes is None or one.subject == other.subject:
        return None
    found = follow(message_evidence.message, split_pointer(codes.at))
    result = found.values() if isinstance(found, dict) else ()
    seen = any(isinstance(code, Number) and code.token == str(entry.code_seen) for code in result)
    return f"type code {entry.code_seen} is used" if seen else None


def _describe_ddl(entry: Evidence, message_evidence: MessageEvidence, one: Version, other: Version) -> str | None:
    control = message_evidence.fits[one].control
    if not entry.ddl_seen or one.subject == other.subject or control is None or control.kind != "ddl":
        return None
    return "there are DDL messages, and it describes them"


def _describe_time(entry: Evidence, message_evidence: MessageEvidence, one: Version, other: Version) -> str | None:
    if entry.process_time_before is None or one.subject != other.subject:
        return None
    until = _micros(entry.process_time_before)
    times = [change.process_time for change in message_evidence.fits[one].changes]
    earlier = any(time is not None and time < until for time in times)
    return f"written before {entry.process_time_before}" if earlier else None


_EVIDENCE_KINDS: Final[Mapping[str, Callable[[Evidence, MessageEvidence, Version, Version], str | None]]] = {
    VALUE_FORM: _describe_form,
    CODE_SEEN: _describe_code,
    DDL_SEEN: _describe_ddl,
    PROCESS_TIME: _describe_time,
}


def _in_order(versions: Iterable[Version]) -> list[Version]:
    return sorted(versions, key=lambda version: version.reference)


def describe_breach(finding: Finding) -> str:
    """Return a finding on a message in words."""
    return f"{finding.path or 'the message'}: expected {finding.expected}, observed {finding.observed}"


def _holds_value(changes: Iterable[Any], path: str) -> bool:
    column = split_pointer(path)[-1]
    return any((image or {}).get(column) is not None for one in changes for image in (one.after, one.before))


def _micros(text: str) -> int:
    return int((datetime.fromisoformat(text) - _EPOCH).total_seconds()) * 1_000_000
