"""Contracts by reference: their messages checked, decoded and explained one by one, or in batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

from cdc_contracts.api.arguments import Tables, as_mapping, as_number, as_text, open_tables
from cdc_contracts.api.decoded_values import python_readers, read_change, read_control
from cdc_contracts.api.frozen_values import FrozenDict, freeze_document
from cdc_contracts.api.message_batches import Messages, is_columnar, read_batches
from cdc_contracts.api.messages import Message, headers_of, key_of, place_of, records_of, value_of
from cdc_contracts.api.results import (
    AuditReport,
    Change,
    ChangeFacts,
    CheckedMessage,
    DecodedMessage,
    Detection,
    ExplainedFinding,
    Explanation,
    Finding,
    Severity,
    UndecidedChange,
)
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.extras import require_extra
from cdc_contracts.registry.core.common.findings import Severities
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.chosen_names import apply_names
from cdc_contracts.registry.core.contract.contract_folders import open_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.contract.version_files import read_versions
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.validate.decoded_changes import ColumnKinds, value_kinds
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import (
    AUTO,
    ValidatedMessage,
    ValidationContext,
    open_validation,
)
from cdc_contracts.registry.core.validate.verdicts import unreadable
from cdc_contracts.registry.core.writer_schemas.schema_headers import frame_or_none, put_frames
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED

if TYPE_CHECKING:
    from cdc_contracts.api.batches import BatchValidator, DecodedBatch
    from cdc_contracts.registry.core.common import findings as internal
    from cdc_contracts.registry.core.contract.catalogue import Catalogue
    from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

Folders = str | Path | Sequence[str | Path]
"""One or several folders of contracts."""

_ENOUGH: Final = 2_000


def contract(
    reference: str,
    *,
    versions: str | Path | None = None,
    tables: Tables | None = None,
    table: str | None = None,
    parameters: Mapping[str, str] | None = None,
    severities: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
    schema_registry: str | Path | None = None,
    families: Mapping[str, str] | None = None,
    strict_json: bool = False,
) -> Contract:
    """Return the contract that a reference names: `dts/canal@2`, `dts/canal@2022-03-20`, or `dts/canal`, any version.

    * `versions` is a versions file, which says which version applies to which offsets of which partition; messages are
      then records of a Kafka client, and the reference names no version.
    * `tables` are table contracts, which dialects without column types need: a file, a folder, or their content.
    * `table` names the table of messages that name none.
    * `parameters` are facts that messages do not carry, such as `{"timestamp_zone": "+08:00"}`.
    * `severities` raises classes of drift, such as `{"unknown-field": "error"}`.
    * `contracts` are folders of your own contracts.
    * `schema_registry` is where the schemas are that ids in front of records, or in their headers, name: the URL of a
      registry, or a folder of `registry dump`.
    * `families` are sharded tables, such as `{"orders": "orders_[0-9]{4}"}`: the name of the table in
      `DecodedBatch.tables` for all shards, and a regular expression of their names.
    * `strict_json` treats duplicate member names as malformed.

    Raises UsageError if there is no such contract or an argument is wrong.
    """
    if as_text("a reference", reference, "dts/canal@2") == AUTO:
        raise UsageError(
            "the contract of single messages must be given", hint="`cdc_contracts.detect(messages).contract` finds it."
        )
    catalogue, options = open_options(
        tables, table, parameters, severities, contracts, schema_registry, families, strict_json=strict_json
    )
    if versions is None:
        return Contract(open_validation(catalogue, reference, options))
    (subject,) = {version.subject for version in catalogue.resolve(reference)}
    if reference != subject:
        raise UsageError("a versions file says which version applies", hint=f"Give {subject}, without a version.")
    ranges = read_versions(Path(versions), catalogue)
    others = sorted(one for one in ranges.contracts if catalogue.version(one).subject != subject)
    if others:
        raise UsageError(
            f"the versions file names {others[0]}, and the contract is {subject}", where=ranges.where,
            hint="Open a contract for each subject, each with a file of its own.",
        )  # fmt: skip
    return Contract(open_ranges(catalogue, ranges, options))


def detect(
    messages: Messages,
    *,
    tables: Tables | None = None,
    parameters: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
    schema_registry: str | Path | None = None,
    most: int = _ENOUGH,
) -> Detection:
    """Return the contract that messages follow, with the evidence; at most the first `most` messages are read.

    `messages` is an iterable of single ones, or columns as `Contract.check_batch` takes them.
    Messages must be in the order of their topic: versions that swap the images before and after a change are
    distinguished by consecutive changes of a row. Raises UsageError if an argument is wrong.
    """
    from cdc_contracts.registry.core.detect.classifier import detect as conclude
    from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
    from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
    from cdc_contracts.registry.core.report.report_wording import evidence_list

    accumulator = EvidenceAccumulator(*open_options(tables, None, parameters, None, contracts, schema_registry))
    framed = accumulator.reading_options.reads_headers
    for number, (value, frame) in enumerate(islice(_values(messages, framed), as_number("most", most, least=1))):
        place = RecordPlace("messages", 0, number)
        if value is None:
            accumulator.pass_over(place)
        elif frame is None:
            accumulator.add_unreadable(place, value)
        else:
            accumulator.add(place, frame + value)
    found = conclude(accumulator).report()
    return Detection(
        verdict=found.verdict,
        contract=found.reference,
        equivalent=found.equivalent,
        nearest=found.nearest,
        evidence=tuple(f"{says} ({support})" for says, support in evidence_list(found)),
        messages=found.messages,
        settle=found.settle,
    )


class Contract:
    """A contract, open to validate and decode messages; `contract()` returns it.

    Several threads may share it; batches are validated one after the other.
    """

    def __init__(self, validation: ValidationContext) -> None:
        if not isinstance(validation, ValidationContext):
            raise UsageError(
                "a contract is opened by a function", hint='Write `cdc_contracts.contract("dts/canal@2")`.'
            )
        self._validation = validation
        self._messages = {id(validation): MessageValidator(validation)}

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be pickled or copied: open it in each process that uses it")

    @property
    def reference(self) -> str:
        """The reference as it was given."""
        return self._validation.declared

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that messages may follow, lowest first."""
        return tuple(version.reference for version in self._validation.validated)

    def __repr__(self) -> str:
        return f"contract({self.reference!r})"

    def check(self, message: Message) -> CheckedMessage:
        """Validate one message. Drift is in the result, never an exception."""
        validated = self._validate(message, self._scope(message), decodes=False)
        verdict = validated.verdict
        return CheckedMessage(
            outcome=verdict.outcome,
            contract=verdict.version.reference if verdict.version is not None else None,
            undecided=verdict.undecided,
            table=validated.table,
            findings=as_findings(verdict.findings),
        )

    def decode(self, message: Message) -> DecodedMessage:
        """Validate one message and return its row changes as Python values; none if it does not conform."""
        scope = self._scope(message)
        validated = self._validate(message, scope, decodes=True)
        verdict = validated.verdict
        return DecodedMessage(
            outcome=verdict.outcome,
            contract=verdict.version.reference if verdict.version is not None else None,
            undecided=verdict.undecided,
            table=validated.table,
            findings=as_findings(verdict.findings),
            changes=tuple((_undecided if validated.alternatives else _changes)(validated, scope)),
            control=read_control(validated.control) if validated.control is not None else None,
        )

    def explain(self, message: Message, *, show_values: bool = False) -> Explanation:
        """Explain one message: every member, which rules it breaks and why, and which other contracts it fits.

        Values are shown as their shapes unless `show_values`.
        """
        from cdc_contracts.registry.authoring.explain.message_explanations import explain_message, write_explanation
        from cdc_contracts.registry.core.records.record_origins import FoundPlace

        scope = self._scope(message)
        found = explain_message(
            value_of(message),
            self._validation.catalogue,
            scope.reading_options,
            key=key_of(message),
            validation=scope,
            show_values=show_values,
            headers=headers_of(message),
        )
        return Explanation(
            outcome=found.outcome,
            contract=found.contract,
            choice=found.choice,
            findings=tuple(
                ExplainedFinding(
                    one.rule, one.name, cast("Severity", one.severity), one.path, one.expected, one.observed,
                    meaning=one.means, contract_says=one.says, action=one.action,
                )
                for one in found.findings
            ),
            fits=tuple(other.contract for other in found.others if other.fits),
            document=freeze_document(json.loads(json.dumps(write_explanation(found, FoundPlace())))),
        )  # fmt: skip

    def check_batch(self, messages: Messages, *, fail_on: str = "warning") -> AuditReport:
        """Validate many messages and return what drifted, how often and since where. Needs the extra `arrow`.

        `messages` is an iterable of single ones, or columns with one named `value`: an Arrow table, record batch or
        reader, a pandas DataFrame or Series, a Polars or DuckDB result. Severities and classes in `fail_on` lead to the
        verdict `drift`, no messages at all to `inconclusive`. Raises UsageError if there is no column `value`, or what
        is given is no message; UnavailableError without the extra.
        """
        return self._batches.check(messages, as_text("fail_on", fail_on, "warning"))

    def decode_batch(self, messages: Messages) -> DecodedBatch:
        """Validate many messages and return their rows as Arrow tables. Needs the extra `arrow`.

        `messages` and errors are as for `check_batch`. Unlike the command `decode`, this does not withhold rows if all
        messages together contradict the contract; `check_batch` reports such evidence.
        """
        return self._batches.decode(messages)

    @cached_property
    def _batches(self) -> BatchValidator:
        require_extra("arrow")
        from cdc_contracts.api.batches import BatchValidator

        return BatchValidator(self._validation)

    def _validate(self, message: Message, scope: ValidationContext, *, decodes: bool) -> ValidatedMessage:
        value = value_of(message)
        validator = self._messages.get(id(scope))
        if validator is None:
            validator = self._messages.setdefault(id(scope), MessageValidator(scope))
        key = key_of(message) if scope.reads_keys else None
        headers = headers_of(message) if scope.reading_options.reads_headers else ()
        try:
            value, key = put_frames(value, key, headers)
        except Unreadable as error:
            return ValidatedMessage(unreadable(error.cause, EXPECTED_FRAMED, error.observed))
        return validator.validate(value, key, decodes=decodes)

    def _scope(self, message: Message) -> ValidationContext:
        """Return the validation context of a message. Raises UsageError if it is not in a topic of a versions file."""
        ranges = self._validation.ranges
        if ranges is None or message is None:
            return self._validation
        place = place_of(message)
        if place.topic not in ranges.topics:
            ranges.of_named([place.topic])
        return self._validation.at(*place)


def _undecided(validated: ValidatedMessage, scope: ValidationContext) -> Iterator[UndecidedChange]:
    """Yield the changes of an ambiguous message, each with its readings."""
    known = {str(one.verdict.version): _changes(one, scope) for one in validated.alternatives}
    for index in range(max(map(len, known.values()))):
        readings = {name: changes[index] for name, changes in known.items() if index < len(changes)}
        facts = {one.name: getattr([*readings.values()][-1], one.name) for one in fields(ChangeFacts)}
        yield UndecidedChange(**facts, readings=FrozenDict(readings))


def _changes(validated: ValidatedMessage, scope: ValidationContext) -> list[Change]:
    version, reading, columns = validated.verdict.version, validated.reading, validated.columns
    if not validated.changes or version is None or reading is None or columns is None:
        return []
    if validated.kinds is not None:
        read_value = python_readers(validated.kinds)
        return [read_change(change, read_value, read_value) for change in validated.changes]
    kinds = value_kinds(reading, columns, scope.validator_of(version).forms)
    return [
        read_change(change, *(python_readers(ColumnKinds(side, columns.types or {})) for side in sides))
        for change, sides in zip(validated.changes, kinds, strict=True)
    ]


def _values(messages: Messages, framed: bool) -> Iterator[tuple[bytes | None, bytes | None]]:  # noqa: FBT001
    """Yield values, and the frames that their headers stand for if they are `framed`; None if these are unreadable."""
    if not is_columnar(messages):
        for value, _, headers in records_of(messages):
            yield value, frame_or_none(headers) if framed else b""
        return
    require_extra("arrow")
    from cdc_contracts.registry.core.records.framed_columns import header_frames

    for batch in read_batches(messages):
        frames = header_frames(batch, "value").frames if framed else None
        yield from zip(
            batch.column("value").to_pylist(), [b""] * len(batch) if frames is None else frames.to_pylist(), strict=True
        )


def validation_of(contract: Contract) -> ValidationContext:
    """Return the validation context of an open contract."""
    return contract._validation  # noqa: SLF001  not for users of the interface


def open_options(
    tables: Tables | None,
    table: str | None,
    parameters: Mapping[str, str] | None,
    severities: Mapping[str, str] | None,
    contracts: Folders | None,
    schema_registry: str | Path | None = None,
    families: Mapping[str, str] | None = None,
    *,
    strict_json: bool = False,
) -> tuple[Catalogue, ReadingOptions]:
    """Return the catalogue and the reading options of arguments. Raises UsageError if one is wrong."""
    folders = [contracts] if isinstance(contracts, str | Path) else contracts or ()
    if not isinstance(folders, Sequence) or not all(isinstance(folder, str | Path) for folder in folders):
        raise UsageError(
            f"contracts cannot be of the type {type(contracts).__name__}", hint="Give a folder, or several."
        )
    given = as_mapping("parameters", parameters, '{"timestamp_zone": "+08:00"}')
    catalogue, rest, names = apply_names(open_catalogue([Path(folder) for folder in folders]), given)
    return catalogue, ReadingOptions(
        parameters=rest,
        names=names,
        tables=open_tables(tables, TableFamilies(as_mapping("families", families, '{"orders": "orders_[0-9]{4}"}'))),
        severities=Severities(as_mapping("severities", severities, '{"unknown-field": "error"}')),
        strict_json=strict_json,
        schemas=None if schema_registry is None else _open_source(str(schema_registry)),
        table=None if table is None else as_text("a table", table, "shop.orders"),
    )


def _open_source(place: str) -> WriterSchemas:
    from cdc_contracts.registry.authoring.sync.schema_sources import open_source  # only here: it takes long to import

    return open_source(place)


def as_findings(findings: Iterable[internal.Finding]) -> tuple[Finding, ...]:
    """Return findings as the interface has them."""
    return tuple(
        Finding(one.rule, one.name, cast("Severity", one.severity), one.path, one.expected, one.observed)
        for one in findings
    )
