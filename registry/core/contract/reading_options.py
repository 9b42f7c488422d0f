"""Reading options of one run: facts that messages do not state, so the user does."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import Severities
from cdc_contracts.registry.core.common.json_messages import MAX_BYTES
from cdc_contracts.registry.core.common.time_zones import Zone, parse_zone
from cdc_contracts.registry.core.contract.column_model import Columns
from cdc_contracts.registry.core.contract.document_model import SOURCE_MODES
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.contract.table_selection import Selection
from cdc_contracts.registry.core.contract.value_mappings import split_values
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

DELETION = "deletion"
"""What `null_values` says where a null value is the deletion of the row that the key names."""
PARAMETERS = ("source_mode", "time_zone", "timestamp_zone", "avro_timestamp_fraction", "null_values", "row_columns")
_LACKING = {"all": False, "some": True}
"""What `row_columns` says, and whether rows may lack columns then."""
_CHOICES = {"source_mode": SOURCE_MODES, "avro_timestamp_fraction": ("micros", "nanos"),
            "null_values": ("tombstone", DELETION), "row_columns": tuple(_LACKING)}  # fmt: skip
_DIGITS = {"micros": 6, "nanos": 9}
_OF_OPTIONS = frozenset(".-")
"""Characters in the names of a producer's options, one of which no parameter has."""


@dataclass(frozen=True)
class ReadingOptions:
    """Parameters, table contracts, severities and limits, the same for every record of a run.

    `table` names the table of messages that do not: an option, else the topic. `selection` says which tables an audit
    validates, `wrapping` what another tool put around the messages; `schemas` are those that ids in front of records
    or in their headers name. `show_values` only decides what a report shows:
    values, or their shapes; and `profiled` whether it has a profile.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    tables: TableContracts = field(default_factory=TableContracts)
    severities: Severities = field(default_factory=Severities)
    max_bytes: int = MAX_BYTES
    strict_json: bool = False
    table: str | None = None
    selection: Selection = field(default_factory=Selection)
    show_values: bool = False
    wrapping: str | None = None
    profiled: bool = False
    schemas: WriterSchemas | None = None
    sampled: frozenset[str] = frozenset()
    """The options of producers among the parameters that a sample decided, and nobody stated."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What parameters have called members and op codes in the contracts, which have these names already."""

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if name not in PARAMETERS and not _OF_OPTIONS & set(name):  # which options there are, the contracts say
                raise UsageError(f"there is no parameter `{name}`", hint=f"Known are {', '.join(PARAMETERS)}.")
            if name in _CHOICES and value not in _CHOICES[name]:
                raise UsageError(
                    f"`{value}` is not one of its values",
                    where=f"parameter {name}",
                    hint=f"Use {' or '.join(_CHOICES[name])}.",
                )
            if name.endswith("_zone"):
                try:
                    parse_zone(value)
                except ValueError as error:
                    raise UsageError(str(error), where=f"parameter {name}") from error

    @property
    def families(self) -> TableFamilies:
        """The families of sharded tables, which reports name together and decode writes as one table each."""
        return self.tables.families

    @property
    def options(self) -> dict[str, str]:
        """The options of producers among the parameters."""
        return {name: value for name, value in self.parameters.items() if name not in PARAMETERS}

    def stating(self, options: Mapping[str, str], *, sampled: bool = False) -> ReadingOptions:
        """Return the same with some options of a producer, stated or `sampled`; the same object without any."""
        if not options:
            return self
        names = self.sampled | options.keys() if sampled else self.sampled - options.keys()
        return replace(self, parameters={**self.parameters, **options}, sampled=names)

    def check_options(self, known: Mapping[str, Collection[str]]) -> None:
        """Check the options of producers among the parameters as the function does."""
        check_options(self.options, known, beside=PARAMETERS)

    def zone(self, parameter: str) -> Zone | None:
        """Return the zone that a parameter names, or None if the user did not say it."""
        text = self.parameters.get(parameter)
        return None if text is None else parse_zone(text)

    def timestamp_zone(self, table: TableContract | None) -> Zone | None:
        """Return the zone of a table's zone-less timestamps: its own, otherwise the parameter; None if unknown."""
        own = table.zone if table is not None else None
        return own or self.zone("timestamp_zone")

    @property
    def reads_headers(self) -> bool:
        """Whether headers of records are read, which may name the schema of a value or key."""
        return self.schemas is not None

    def deletes_by_null(self, otherwise: str | None = None) -> bool:
        """Return whether a null value is the deletion of the row that its key names; `otherwise` if nobody says."""
        return self.parameters.get("null_values", otherwise) == DELETION

    def may_lack_columns(self, columns: Columns) -> bool:
        """Return whether a row may lack columns that others of its table have, as its contract or the user says."""
        return _LACKING.get(self.parameters.get("row_columns", ""), columns.optional)

    @property
    def says_null_values(self) -> bool:
        """Whether the user said what a null value is."""
        return "null_values" in self.parameters

    @property
    def says_fraction(self) -> bool:
        """Whether the user said what Avro records count in the last part of a time."""
        return "avro_timestamp_fraction" in self.parameters

    def second_digits(self, documented: str) -> int:
        """Return how many digits of a second an Avro record counts: `documented` unless the user says otherwise."""
        return _DIGITS[self.parameters.get("avro_timestamp_fraction", documented)]

    def identity(self) -> str:
        """Return everything here that decides outcomes, as canonical JSON (part of a run's fingerprint)."""
        parts: dict[str, Any] = {
            "parameters": dict(sorted(self.parameters.items())),
            "tables": self.tables.documents(),
            "severities": self.severities.raised,
            "max_bytes": self.max_bytes,
            "strict_json": self.strict_json,
            **({"table": self.table} if self.table is not None else {}),
            **({"wrapping": self.wrapping} if self.wrapping is not None else {}),
            **({"families": [*self.families.patterns.items()]} if self.tables.of_families() else {}),
            **({"schemas": self.schemas.named} if self.schemas is not None else {}),
            **({"selection": [self.selection.include, self.selection.exclude]} if self.selection else {}),
        }
        return json.dumps(parts, sort_keys=True, separators=(",", ":"))


def check_options(
    options: Mapping[str, str], known: Mapping[str, Collection[str]], *, beside: Collection[str] = ()
) -> None:
    """Check options of a producer; `known` has the values of each, `beside` are other parameters that could be meant.

    Raises UsageError: no contract has such an option, or not with this value.
    """
    for name, value in options.items():
        if name not in known:
            names = ", ".join([*beside, *sorted(known)]) or "none"
            raise UsageError(f"there is no parameter `{name}`", hint=f"Known are {names}.")
        for one in split_values(value):
            if one not in known[name]:
                raise UsageError(
                    f"`{one}` is not one of its values",
                    where=f"parameter {name}",
                    hint=f"Use {' or '.join(sorted(known[name]))}, or several with commas between them.",
                )
