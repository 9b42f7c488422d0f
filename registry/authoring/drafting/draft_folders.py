"""Contract folders: a draft as files, checked against the very messages it was made from, with samples of these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.contract_texts import Lines
from cdc_contracts.registry.authoring.drafting.draft_checks import find_lost_rows
from cdc_contracts.registry.authoring.drafting.drafted_contracts import ContractDraft, draft_contract
from cdc_contracts.registry.authoring.drafting.message_members import SampleMessage
from cdc_contracts.registry.authoring.drafting.message_parts import VOCABULARY
from cdc_contracts.registry.authoring.drafting.nearest_contracts import nearest_contract
from cdc_contracts.registry.authoring.drafting.op_codes import holding_images
from cdc_contracts.registry.authoring.drafting.rewritten_values import Rewriter
from cdc_contracts.registry.authoring.drafting.unframed_records import unframe
from cdc_contracts.registry.authoring.drafting.unread_members import find_unread, unread_questions
from cdc_contracts.registry.authoring.drafting.written_drafts import write_contract, write_mapping
from cdc_contracts.registry.core.common.errors import UndetectedError, UsageError
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, ENVELOPE, Catalogue, Version
from cdc_contracts.registry.core.contract.discriminators import all_hold
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import changes_document, find_samples
from cdc_contracts.registry.core.generate.drifting_messages import write_message
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.schema.message_schemas.schema_files import lay_out, write_message_files
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext, open_validation
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas, frame_of

MOST_SAMPLES: Final = 3
"""Samples written of each kind of message."""
_AVRO: Final = b"Obj\x01"
"""What an Avro file begins with."""
_ROUNDS: Final = 30
_SHOWN: Final = 3
_FITTING: Final = (CONFORMING, CONTROL)
_LIKE: Final = ("envelope", "ops", "images", "split_update", "ddl", "columns", "values", "parameters", "rules",
                "enums", "discriminators", "full_load")  # fmt: skip


@dataclass
class ContractFolder:
    """The files of a draft, by their place below the folder of contracts, and what is left to the author."""

    reference: str
    files: dict[str, bytes]
    questions: list[str] = field(default_factory=list)
    samples: int = 0
    left_out: int = 0
    """The number of messages whose rewritten copies do not conform, so that no samples are made of them."""
    fits: list[str] = field(default_factory=list)
    """The contracts that take every one of the messages already."""
    nearest: str | None = None
    """The contract that comes nearest to most of the messages where none takes them all."""


def read_samples(
    records: Iterable[tuple[str, bytes] | tuple[str, bytes, bytes | None]], schemas: WriterSchemas | None = None
) -> list[SampleMessage]:
    """Return messages by place, bytes, and the key of their record.

    Records behind the id of a schema are what a JSON converter writes of them with its schema block, by `schemas`.
    Raises UndetectedError if one is no JSON object, or there is none.
    """
    messages = []
    for place, value, *key in records if schemas is None else _unframed(records, schemas):
        try:
            messages.append(SampleMessage(place, value, parse_message(value), key[0] if key else None))
        except Unreadable as error:
            if value.startswith(_AVRO):
                raise UndetectedError(
                    "messages in Avro", where=place, hint="Contracts are drafted from JSON messages."
                ) from error
            hint = "Contracts are drafted from JSON objects, one a line; --unwrap is for `audit` and `detect`."
            if schemas is None and frame_of(value) is not None:
                hint = "It is framed for a schema registry: --schema-registry says where its schema is."
            elif b"\n" in value.strip():
                hint = "A .json file is one message, or has a message in each line."
            raise UndetectedError(f"not a message in JSON: {error.observed}", where=place, hint=hint) from error
    if not messages:
        raise UndetectedError("there is no message to draft a contract from")
    return messages


def _unframed(
    records: Iterable[tuple[str, bytes] | tuple[str, bytes, bytes | None]], schemas: WriterSchemas
) -> Iterator[tuple[str, bytes, bytes | None]]:
    """Yield records whose values and keys are JSON texts where a schema says what they hold."""
    given = [(place, value, key[0] if key else None) for place, value, *key in records]
    values, keys = unframe([value for _, value, _ in given], [key for _, _, key in given], schemas)
    for (place, _, _), value, key in zip(given, values, keys, strict=True):
        yield place, value, key


def make_folder(
    catalogue: Catalogue,
    subject: str,
    document: str,
    messages: Sequence[SampleMessage],
    *,
    like: str | None,
    keep_values: bool,
) -> ContractFolder:
    """Return the files of a contract that takes all of the messages.

    `like` is a contract that it states its differences to. Raises UndetectedError if contracts cannot express the
    messages, UsageError if `like` is not known, or is not given and a version of the subject takes all of the messages.
    """
    versions = _versions(catalogue, subject)
    number = max((version.number for version in versions), default=0) + 1
    taken = next((one for one in reversed(versions) if like is None and _all_fit(catalogue, one, messages)), None)
    if taken is not None:
        raise UsageError(
            f"{count_messages(len(messages))} to {taken.reference}, so nothing was drafted", where=str(taken.folder),
            hint=f"Edit that version; --like {taken.reference} drafts the next one.",
        )  # fmt: skip
    reference = f"{subject}@{number}"
    base = None if like is None else catalogue.version(like)
    draft = None
    if base is None or not _all_fit(catalogue, base, messages):
        draft = draft_contract(reference, document, messages)
    with TemporaryDirectory() as folder:
        attempt = _Attempt(catalogue, Path(folder), reference, document, messages, draft, base)
        files, questions = attempt.settle()
        attempt.write(files)
        attempt.verify()
        attempt.lookalikes = _lookalikes(attempt.version(), messages, catalogue)
        if attempt.lookalikes or attempt.open_members:
            files, questions = attempt.text()
            attempt.write(files)
        samples, left_out = attempt.samples(keep_values=keep_values)
        files |= samples
        attempt.write(files)
        rows = frozenset(attempt.version().meaning.images.pointers())
        for file in write_message_files(attempt.version()):
            files[file.relative_to(folder).as_posix()] = file.read_bytes()
    found = ContractFolder(reference, files, questions, len(samples) // 2, left_out)
    if like is None:
        likely = (version for version in catalogue.all_versions() if _may_take(version, messages))
        found.fits = [version.reference for version in likely if _all_fit(catalogue, version, messages)]
        found.nearest = None if found.fits else nearest_contract(catalogue, messages, rows)
    return found


def count_messages(total: int) -> str:
    """Return how many messages conform, as a sentence without its object."""
    return "the one message conforms" if total == 1 else f"all {total:,} messages conform"


def _versions(catalogue: Catalogue, subject: str) -> list[Version]:
    return catalogue.versions(subject) if subject in catalogue.subjects() else []


def _may_take(version: Version, messages: Sequence[SampleMessage]) -> bool:
    json_alone = version.resolved.get("transport") == "json" and "discriminators" in version.resolved
    return json_alone and all_hold(version.meaning.discriminators, messages[0].content)


def _all_fit(catalogue: Catalogue, version: Version, messages: Sequence[SampleMessage]) -> bool:
    validation = open_validation(catalogue, version.reference, ReadingOptions())
    validated = (validation.validate(message.value, message.key) for message in messages)
    return all(one.verdict.outcome in _FITTING and not _heavy(one) for one in validated)


def _lookalikes(version: Version, messages: Sequence[SampleMessage], catalogue: Catalogue) -> list[str]:
    """Return the subjects with a sample that a version's discriminators take, or that take one of its messages."""
    found, tests = [], version.meaning.discriminators
    for subject in catalogue.subjects():
        others = [] if subject == version.subject else catalogue.versions(subject)
        theirs = [other.meaning.discriminators for other in others if "discriminators" in other.resolved]
        if any(all_hold(tests, content) for other in others for content in _contents(other)) or any(
            all_hold(one, message.content) for one in theirs for message in messages
        ):
            found.append(subject)
    return found


@lru_cache(128)
def _contents(version: Version) -> tuple[dict[str, Any], ...]:
    """Return the samples of a version, parsed once for all drafts of a process."""
    if version.resolved.get("transport") != "json":
        return ()
    wire, found = open_transport(version, ReadingOptions()), []
    for sample in find_samples(version).messages:
        with suppress(Unreadable):
            found.append(wire.open(sample.value))
    return tuple(found)


@dataclass
class _Attempt:
    """A draft in a temporary folder, where it is checked like any contract."""

    catalogue: Catalogue
    folder: Path
    reference: str
    document: str
    messages: Sequence[SampleMessage]
    draft: ContractDraft | None
    base: Version | None
    lookalikes: list[str] = field(default_factory=list)
    """Subjects whose messages cannot be distinguished from these."""
    open_members: list[str] = field(default_factory=list)
    """Questions about members that the contract does not read."""
    _sections: Sequence[str] | None = None

    @property
    def own(self) -> str:
        subject, _, number = self.reference.partition("@")
        return f"{subject}/v{number}"

    def settle(self) -> tuple[dict[str, bytes], list[str]]:
        """Return the files that take all messages, taking back from the draft what some contradict.

        Raises UndetectedError if nothing can be taken back.
        """
        if self.draft is None:
            return self._overlay()
        sections = self._sections = None if self.base is None else _LIKE
        for _ in range(_ROUNDS):
            files, questions = self._files(sections)
            faults = self._faults(files)
            if not faults:
                break
            if not any(self.draft.withdraw(rule, path, where) for rule, path, where, _ in faults):
                shown = "; ".join(
                    f"{where}: {rule} {path} {says}".rstrip() for rule, path, where, says in faults[:_SHOWN]
                )
                raise UndetectedError(
                    f"no contract can express these messages: {len(faults):,} do not fit what the others show",
                    where=shown, hint="Give messages of one dialect; leave out what another product wrote.",
                )  # fmt: skip
        if self.base is not None:
            return self._narrow(files, questions)
        return files, questions

    def text(self) -> tuple[dict[str, bytes], list[str]]:
        """Return the files again, with what was learnt since."""
        if self.draft is None:
            return self._overlay()
        self.draft.not_separable, self.draft.open_members = self.lookalikes, self.open_members
        return self._files(self._sections)

    def verify(self) -> None:
        """Decode the messages by what is in the folder, and ask about the members that nothing reads.

        Raises UndetectedError if a row does not come out as it is in its message.
        """
        version, validation = self.version(), self._validation()
        validated = [(message, validation.validate(message.value, message.key)) for message in self.messages]
        lost = next(find_lost_rows(validation, validated), None)
        if lost is not None:
            raise UndetectedError(
                f"no contract was found that gives every row of these messages: {lost[1]}", where=lost[0],
                hint="Give messages of one kind. " + VOCABULARY,
            )  # fmt: skip
        read = [(message, one.reading) for message, one in validated if one.reading is not None]
        unread = find_unread(version, read, None if self.base is None else self.base.schema)
        asked = set() if self.draft is None else self.draft.envelope.asked | self.draft.blocks
        self.open_members = unread_questions(
            {parts: one for parts, one in unread.items() if join_pointer(*parts) not in asked}, len(self.messages)
        )

    def version(self) -> Version:
        """Return the version as it is in the folder."""
        return self._catalogue().version(self.reference)

    def write(self, files: dict[str, bytes]) -> None:
        for name, content in files.items():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def samples(self, *, keep_values: bool) -> tuple[dict[str, bytes], int]:
        """Return samples with what they decode to, a few of each kind of message, and how many could not be made."""
        validation, files, left_out = self._validation(), dict[str, bytes](), 0
        for name, message in self._chosen():
            value = message.value
            if message.of_key or not keep_values:  # a file has no key, whose row stands in the message then
                content = message.content if keep_values else self._rewritten(message)
                value = validation.wire.write(write_message(content))
            validated = validation.validate(value)
            if validated.verdict.outcome not in _FITTING:
                left_out += 1
                continue
            if validated.verdict.outcome == CONFORMING and not validated.changes:
                continue  # its row is missing, which the contract allows: it shows nothing
            files[f"{self.own}/samples/{name}.json"] = value
            files[f"{self.own}/samples/{name}.change.json"] = _changes(validated)
        return files, left_out

    def _rewritten(self, message: SampleMessage) -> dict[str, Any]:
        draft = self.draft or draft_contract(self.reference, self.document, self.messages)
        return Rewriter(draft.members, draft.places, draft.kept(), draft.absent.texts).rewrite(message)

    def _chosen(self) -> Iterator[tuple[str, SampleMessage]]:
        """Yield the first messages of each op and each combination of images, by a name."""
        draft = self.draft or draft_contract(self.reference, self.document, self.messages)
        seen: dict[Any, int] = {}
        for message in draft.members.messages:
            op = draft.codes.op(message) or "message"
            code = draft.codes.code(message) or ""
            kind = (op, code, tuple(holding_images(message, draft.places)))
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] <= MOST_SAMPLES:
                seen[op] = seen.get(op, 0) + 1
                yield f"{op}-{seen[op]}", message

    def _files(self, sections: Sequence[str] | None) -> tuple[dict[str, bytes], list[str]]:
        assert self.draft is not None  # noqa: S101  a base alone has no draft
        base = None if self.base is None else self.base.reference
        contract, mapping = write_contract(self.draft, base=base, sections=sections), write_mapping(self.draft)
        codes = [] if self.base is None or sections is None or "ops" in sections else list(self.base.meaning.ops)
        schema, avro = self.draft.schemas(codes)
        files = {
            f"{self.own}/contract.yaml": contract.text(),
            f"{self.own}/{ENVELOPE}": lay_out(schema),
            f"{self.own}/{AVRO_ENVELOPE}": lay_out(avro),
        }
        questions = list(contract.questions)
        if sections is None or "values" in sections:
            files[f"{self.draft.subject.partition('/')[0]}/types/{self.draft.mapping}.yaml"] = mapping.text()
            questions += mapping.questions
        return {name: text.encode() for name, text in files.items()}, questions

    def _overlay(self) -> tuple[dict[str, bytes], list[str]]:
        """Return a contract that says nothing but what it is based on: every message fits that already."""
        assert self.base is not None  # noqa: S101  only called with one
        lines = Lines()
        lines.name_schema("contract", depth=3)
        lines.lines.append(f"# All {len(self.messages):,} messages conform to {self.base}.")
        lines.add("contract", self.reference)
        lines.add("based_on", self.base.reference)
        lines.ask('which releases or dates does it hold for (`since: "1.0"`), and what is counted?')
        lines.add("applies", {"since": None, "until": None, "counted_from": "product-version"})
        lines.ask("which document describes these messages, and in which section?")
        lines.add("provenance", {"document": self.document, "errata": []})
        if self.lookalikes or "not_separable_from" in self.base.resolved:
            lines.add("not_separable_from", self.lookalikes)
        for question in self.open_members:
            lines.ask(question)
        return {f"{self.own}/contract.yaml": lines.text().encode()}, lines.questions

    def _narrow(self, files: dict[str, bytes], questions: list[str]) -> tuple[dict[str, bytes], list[str]]:
        """Return the draft without the sections in which its base says what takes all messages as well."""
        chosen = list(_LIKE)
        for section in _LIKE:
            fewer = [one for one in chosen if one != section]
            attempt, asked = self._files(fewer)
            if not self._faults(attempt) and self._claims_all():
                chosen, files, questions = fewer, attempt, asked
        self._sections = chosen
        return files, questions

    def _claims_all(self) -> bool:
        """Return whether the discriminators of the version in the folder hold for every message."""
        version = self.version()
        return all(all_hold(version.meaning.discriminators, message.content) for message in self.messages)

    def _faults(self, files: dict[str, bytes]) -> list[tuple[str, str, str, str]]:
        """Return what speaks against a draft: rule, path, place of the message, and what was expected and observed."""
        from shutil import rmtree

        for entry in self.folder.iterdir():
            rmtree(entry)
        self.write(files)
        try:
            validation = self._validation()
            validated = [(message, validation.validate(message.value, message.key)) for message in self.messages]
        except UsageError as error:
            return [("", "", error.where, error.what)]
        return [
            (one.rule, one.path, message.place, f"expected {one.expected}, observed {one.observed}")
            for message, result in validated
            if result.verdict.outcome not in _FITTING or _heavy(result)
            for one in result.verdict.findings or ()
        ]

    def _validation(self) -> ValidationContext:
        return open_validation(self._catalogue(), self.reference, ReadingOptions())

    def _catalogue(self) -> Catalogue:
        return self.catalogue.with_root(self.folder)


def _heavy(validated: ValidatedMessage) -> bool:
    return any(finding.severity != "info" for finding in validated.verdict.findings)


def _changes(validated: ValidatedMessage) -> bytes:
    return (json.dumps(changes_document(validated), ensure_ascii=False, indent=2) + "\n").encode()
