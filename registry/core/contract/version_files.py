"""Version files: documents in which users declare contract versions by range of a topic.

    topics:
      orders:
        0:
          - {to: 987, contract: dts/canal@1}
          - {from: 2171, contract: dts/canal@2}
        all: [{from: "2022-03-20T00:00:00+08:00", contract: dts/canal@2}]
      shop.public.orders:
        all: [{contract: debezium/json@4, options: {decimal.handling.mode: string}}]

`from` is included, `to` is not. What no range covers belongs to no version. `options` are those of the producer.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.contract_references import parse_reference
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.document_model import Document
from cdc_contracts.registry.core.contract.reading_options import check_options
from cdc_contracts.registry.core.contract.value_mappings import known_options
from cdc_contracts.registry.core.contract.version_ranges import (
    OFFSETS,
    TIMES,
    Place,
    VersionRange,
    VersionRanges,
    in_order,
    order_of,
)

EVERY: Final = "all"
"""The name of every partition that is not named itself."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST: Final = 10**18
_FORM: Final = "Write `topics: {TOPIC: {PARTITION: [{contract: SYSTEM/DIALECT@N}]}}`."
_BOUND: Final = "an offset from 0, or a time with its zone such as 2024-05-01T00:00:00Z"


def _parse_bound(given: Any) -> int | datetime | None:
    if given is None or isinstance(given, datetime):
        return given
    if type(given) is int:
        if not 0 <= given < _MOST:
            raise ValueError(f"expected {_BOUND}; found the number {given}")
        return given
    try:
        time = datetime.fromisoformat(given) if isinstance(given, str) and not given.isdecimal() else None
    except ValueError:
        time = None
    if time is None:
        raise ValueError(f"expected {_BOUND}")
    if time.tzinfo is None:
        raise ValueError(f"the time {given} has no zone; add Z for UTC, or an offset such as +08:00")
    return time


def _parse_partitions(given: Any) -> Any:
    """Return the partitions by number, as YAML has them, also where the keys are texts, as JSON has them."""
    if not isinstance(given, dict):
        return given
    result: dict[Any, Any] = {}
    for key, ranges in given.items():
        number = int(key) if isinstance(key, str) and re.fullmatch("0|[1-9][0-9]{0,8}", key) else key
        if number != EVERY and not (type(number) is int and 0 <= number < 10**9):
            raise ValueError(f"`{key}` is not a partition; write its number, or `{EVERY}` for all others")
        if number in result:
            raise ValueError(f"partition {key} occurs twice")
        result[number] = [] if ranges is None else ranges
    return result


def _check_reference(text: str) -> str:
    try:
        selector = parse_reference(text).selector
    except UsageError as error:
        raise ValueError(f"{error.what}; write SYSTEM/DIALECT@N") from error
    if selector is None:
        raise ValueError(f"`{text}` names no version; write {text}@N")
    return text


def _parse_options(given: Any) -> Any:
    """Return options with their values as texts; YAML has digits as numbers."""
    if not isinstance(given, dict):
        return given
    return {name: str(value) if type(value) is int else value for name, value in given.items()}


_BOUND_SCHEMA: Final = {
    "description": "An offset, or a time with its zone (ISO 8601).",
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "format": "date-time"}],
}
_OPTIONS_SCHEMA: Final = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]},
}
Bound = Annotated[int | datetime | None, BeforeValidator(_parse_bound), WithJsonSchema(_BOUND_SCHEMA)]
Reference = Annotated[
    str, AfterValidator(_check_reference), Field(description="The version that holds there: SYSTEM/DIALECT@N.")
]
Options = Annotated[dict[str, str], BeforeValidator(_parse_options), WithJsonSchema(_OPTIONS_SCHEMA)]


class WrittenRange(Document):
    """A part of a partition: from `from`, included, up to `to`, not included; without one, up to that end."""

    start: Bound = Field(default=None, alias="from")
    """Where the range begins, included: an offset, or a time with its zone. Without it, at the beginning."""
    end: Bound = Field(default=None, alias="to")
    """Where the range ends, not included: an offset, or a time with its zone. Without it, at the end."""
    contract: Reference
    options: Options = Field(default_factory=dict)
    """The options that the producer wrote it with; they go before parameters of the run."""

    @model_validator(mode="after")
    def _is_something(self) -> WrittenRange:
        if self.start is not None and self.end is not None:
            if type(self.start) is not type(self.end):
                raise ValueError("one end is an offset and the other a time; write both as offsets or both as times")
            if self.start >= self.end:  # type: ignore[operator]  # both are of one type
                raise ValueError(f"is empty: `from` {_describe(self.start)} is not before `to` {_describe(self.end)}")
        return self

    def as_range(self, contract: str) -> VersionRange:
        """Return the range with the reference of its version."""
        times = isinstance(self.start, datetime) or isinstance(self.end, datetime)
        start = _number(self.start) if self.start != 0 else None
        return VersionRange(start, _number(self.end), contract, TIMES if times else OFFSETS, in_order(self.options))


def _check_ranges(ranges: tuple[WrittenRange, ...]) -> tuple[WrittenRange, ...]:
    units = {type(end) for one in ranges for end in (one.start, one.end) if end is not None}
    if len(units) > 1:
        raise ValueError("some ranges use offsets and others times; use one kind for each partition")
    ordered = sorted(ranges, key=lambda one: order_of(one.as_range(one.contract)))
    for before, after in pairwise(ordered):
        if before.end is None or after.start is None or after.start < before.end:  # type: ignore[operator]
            raise ValueError(f"two ranges overlap: {_describe_range(before)}, and {_describe_range(after)}")
    return ranges


Ranges = Annotated[tuple[WrittenRange, ...], AfterValidator(_check_ranges)]


class VersionsFile(Document):
    """Which version of a contract holds where, by topic and partition."""

    topics: dict[str, Annotated[dict[Any, Ranges], BeforeValidator(_parse_partitions)]] = Field(min_length=1)
    """The ranges of each topic, by its name."""


def read_versions(path: Path, catalogue: Catalogue) -> VersionRanges:
    """Return the ranges in a file, YAML or JSON.

    Raises UsageError if there is no such file, ContractError if it is not as it should be or names a version that
    the catalogue does not have.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path}", hint="Give --versions a file that --write-versions wrote.")
    text = yaml_documents.read_text(path)
    return parse_versions(yaml_documents.parse_values(text, str(path), may_be_empty=True), str(path), catalogue)


def topics_in(path: Path) -> tuple[str, ...]:
    """Return the topics that a file names, whatever else it says. Raises as `read_versions` does."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}", hint="`versions` names a file that --write-versions wrote.")
    topics = yaml_documents.parse_values(yaml_documents.read_text(path), str(path), may_be_empty=True).get("topics")
    return tuple(map(str, topics)) if isinstance(topics, dict) else ()


def parse_versions(document: dict[str, Any], where: str, catalogue: Catalogue) -> VersionRanges:
    """Return the ranges of a document. Raises ContractError as `read_versions` does."""
    try:
        result = VersionsFile.checked(document, where)
    except ContractError as error:
        if not any(document.values()):
            raise ContractError("names no topic", where=where, hint=_FORM) from error
        raise
    places: dict[Place, tuple[VersionRange, ...]] = {}
    for topic, partitions in result.topics.items():
        for key, ranges in partitions.items():
            at = f"topics.{topic}.{key}"
            places[topic, None if key == EVERY else key] = tuple(
                one.as_range(_resolve(one, f"{at}.{number}", where, catalogue)) for number, one in enumerate(ranges)
            )
    return VersionRanges(places, where)


def _resolve(one: WrittenRange, at: str, where: str, catalogue: Catalogue) -> str:
    """Return the reference of the one version that a range names, as SYSTEM/DIALECT@N, which knows its options."""
    try:
        version = catalogue.version(one.contract)
    except UsageError as error:
        raise ContractError(f"{at}.contract: {error.what}", where=where, hint=error.hint) from error
    try:
        check_options(one.options, known_options(map(catalogue.mapping, version.mapping_names())))
    except UsageError as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        raise ContractError(f"{at}.options: {what}", where=where, hint=error.hint) from error
    return version.reference


def _number(bound: int | datetime | None) -> int | None:
    if isinstance(bound, datetime):
        return (bound - _EPOCH) // timedelta(microseconds=1)
    return bound


def _describe_range(one: WrittenRange) -> str:
    words = [
        f"{word} {_describe(bound)}" for word, bound in (("from", one.start), ("to", one.end)) if bound is not None
    ]
    return f"{' '.join(words) or 'everything'} ({one.contract})"


def _describe(bound: int | datetime | None) -> str:
    return bound.isoformat().replace("+00:00", "Z") if isinstance(bound, datetime) else str(bound)
