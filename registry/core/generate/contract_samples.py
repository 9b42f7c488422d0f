"""Contract samples: messages that belong to a version, each with the expected result of its validation.

`samples/NAME.json` (or `.avro`) holds the exact bytes of one message and `NAME.change.json` its row changes, an
empty list for a message without a row. `samples/drift/NAME.*` holds a value that drifts and `NAME.findings.json`
its outcome and findings under this very version; `samples/drift/NAME.jsonl` is a stream, a message a line, for drift
that one message cannot show. `samples/tables/*.yaml` are table contracts that hold for all. Wheels have the folder as
`samples.zip`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, Final

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.common.json_files import parse_json_file
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.sample_folders import open_samples
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage

CHANGES: Final = ".change.json"
FINDINGS: Final = ".findings.json"
_MESSAGES: Final = (".json", ".avro")
_VALUES: Final = (".json", ".avro", ".bin")
_STREAMS: Final = (".jsonl",)


@dataclass(frozen=True)
class Sample:
    """One message of a version, or one stream of messages, and the file with the expected result."""

    name: str
    file: Traversable
    expectation: Traversable
    drifts: bool

    @cached_property
    def value(self) -> bytes:
        return self.file.read_bytes()

    @cached_property
    def expected_text(self) -> str:
        """What the expectation says. Raises UnicodeDecodeError if that is no text."""
        return self.expectation.read_text(encoding="utf-8")

    @cached_property
    def _expected(self) -> Any:
        return parse_json_file(self.expected_text)

    def expected(self) -> Any:
        """Return the changes, or the outcome with its findings. Raises ContractError if that is no JSON."""
        try:
            return self._expected
        except ValueError as error:
            raise ContractError(f"not readable as JSON: {error}", where=str(self.expectation)) from error


@dataclass(frozen=True)
class Samples:
    """The samples of one version, in order of their names; `unpaired` are files that belong to no sample."""

    messages: tuple[Sample, ...]
    drifts: tuple[Sample, ...]
    streams: tuple[Sample, ...]
    table_files: tuple[Traversable, ...]
    unpaired: tuple[Traversable, ...]

    def __iter__(self) -> Iterator[Sample]:
        yield from self.messages
        yield from self.drifts

    def __len__(self) -> int:
        return len(self.messages) + len(self.drifts) + len(self.streams)

    def tables(self) -> TableContracts:
        """Return the table contracts that hold for the samples. Raises ContractError if one is wrong."""
        return TableContracts(
            parse_table_contract(yaml_documents.parse_document(file.read_text(encoding="utf-8"), str(file)), str(file))
            for file in self.table_files
        )

    def reading_options(self) -> ReadingOptions:
        """Return the reading options of the samples: their tables, and where there is one table its name.

        Messages of a dialect without names are of that one. Raises ContractError if a table contract is wrong.
        """
        tables = self.tables()
        names = [document["table"] for document in tables.documents()]
        return ReadingOptions(tables=tables, table=names[0] if len(names) == 1 else None)


def find_samples(version: Version) -> Samples:
    """Return the samples in a version's own folder; those of its base belong to the base."""
    folder = open_samples(version)
    drift, tables = folder.joinpath("drift"), folder.joinpath("tables")
    messages, unpaired = _pair(folder, _MESSAGES, CHANGES, drifts=False)
    pairs, unpaired_drifts = _pair(drift, (*_VALUES, *_STREAMS), FINDINGS, drifts=True)
    drifts = tuple(sample for sample in pairs if not sample.file.name.endswith(_STREAMS))
    streams = tuple(sample for sample in pairs if sample.file.name.endswith(_STREAMS))
    beside = _files(tables)
    table_files = [file for file in beside if file.name.endswith(".yaml")]
    other_files = [file for file in beside if not file.name.endswith(".yaml")]
    return Samples(messages, drifts, streams, tuple(table_files), (*unpaired, *unpaired_drifts, *other_files))


def changes_document(validated: ValidatedMessage) -> list[dict[str, Any]]:
    """Return the row changes of a validated sample as `.change.json` writes them."""
    return [change.as_document(undecided=validated.verdict.undecided) for change in validated.changes]


def statistics_document(tally: Tally, expected: Any) -> dict[str, Any]:
    """Return the findings of a stream, counted in full and finalized, as `.findings.json` writes them.

    Notes are left out where what is expected has none of their class: few streams are about them.
    """
    wanted = expected.get("findings", ()) if isinstance(expected, dict) else ()
    named = {one.get("class") for one in wanted if isinstance(one, dict)}
    return {
        "findings": [
            {
                "rule": key.rule,
                "class": key.name,
                "severity": finding.severity,
                "table": key.table,
                "path": key.path,
                "expected": " / ".join(sorted(finding.expected)),
                "observed": sorted(finding.observed),
                "count": finding.count,
                "first": min(extent.first.offset for extent in finding.extents.values()),
            }
            for key, finding in sorted(tally.findings.items(), key=lambda entry: entry[0].order)
            if finding.severity != INFO or key.name in named
        ]
    }


def findings_document(validated: ValidatedMessage) -> dict[str, Any]:
    """Return the outcome and findings of a validated sample as `.findings.json` writes them."""
    return {
        "outcome": validated.verdict.outcome,
        "findings": [finding.as_document() for finding in validated.verdict.findings],
    }


def _pair(
    folder: Traversable, endings: tuple[str, ...], expectation: str, *, drifts: bool
) -> tuple[tuple[Sample, ...], list[Traversable]]:
    """Return the values of a folder that have an expectation beside them, and the files left over."""
    left = {file.name: file for file in _files(folder)}
    pairs = []
    for name in sorted(left):
        stem, dot, ending = name.rpartition(".")
        if name.endswith((CHANGES, FINDINGS)) or dot + ending not in endings or stem + expectation not in left:
            continue
        pairs.append(Sample(stem, left[name], left[stem + expectation], drifts))
    for sample in pairs:
        left.pop(sample.file.name)
    for sample in pairs:
        left.pop(sample.expectation.name, None)
    return tuple(pairs), list(left.values())


def _files(folder: Traversable) -> list[Traversable]:
    if not folder.is_dir():
        return []
    found = [entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")]
    return sorted(found, key=lambda entry: entry.name)
