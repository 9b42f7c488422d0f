"""Findings: where one message does not conform to its contract, and the closed list of drift classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.common.errors import UsageError

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"
SEVERITIES: Final = (ERROR, WARNING, INFO)


@dataclass(frozen=True, slots=True)
class DriftClass:
    """One class of drift: what triggers it, its severity, and what to do."""

    id: str
    name: str
    severity: str
    says: str
    action: str
    good: str
    bad: str


_CLASSES = (
    DriftClass(
        "D01", "malformed", ERROR,
        "The value is not one JSON text (or one record of the Avro schema): broken encoding, trailing data, "
        "NaN, a lone surrogate, nesting deeper than 128, no object at the top.",
        "Find the producer or converter that writes these bytes; `decode` keeps them whole in its quarantine.",
        '{"type":"INSERT"}', '{"type":"INSERT"} trailing',
    ),
    DriftClass(
        "D02", "other-dialect", ERROR,
        "The message speaks another dialect: another subject's marks are there and this one's are not.",
        "Name the right contract with --contract, or split the topic.",
        '{"payload":{"op":"INSERT"}} judged as oms-community/dataworks',
        '{"payload":{"op":"INSERT"}} judged as dts/canal',
    ),
    DriftClass(
        "D03", "other-version", ERROR,
        "The message does not fit the version it is judged by, and fits another version of the same subject.",
        "Check when the project or instance was created or restarted; audit with the version that fits.",
        'a DELETE with its row in "data", judged as dts/canal@2',
        'a DELETE with its row in "old", judged as dts/canal@2',
    ),
    DriftClass(
        "D04", "unknown-field", WARNING,
        "The message has a member that the contract does not know. Every row is still decoded.",
        "Look whether the product was upgraded; add the member to a new version of the contract.",
        '{"type":"INSERT","ts":1618323429026}', '{"type":"INSERT","ts":1618323429026,"shard":7}',
    ),
    DriftClass(
        "D05", "missing-field", ERROR,
        "A member that the contract requires is not there. A null is not the same as an absent member.",
        "Look for a filter or transformation between product and topic, or an older product.",
        '{"table":"orders","type":"INSERT"}', '{"type":"INSERT"}',
    ),
    DriftClass(
        "D06", "type-change", ERROR,
        "A value is of another JSON kind than its contract says: text for a number, an object for a text.",
        "Compare the product version and its serialization options with the contract.",
        '{"es":1609344671000}', '{"es":"1609344671000"}',
    ),
    DriftClass(
        "D07", "value-form", ERROR,
        "A value is of the right JSON kind but not written in the documented form of its source type.",
        "Compare the product version with the contract; the observed shape tells what was sent.",
        '"1606233662.012345" for a TIMESTAMP', '"2020-11-24T16:01:02Z" for a TIMESTAMP',
    ),
    DriftClass(
        "D08", "unknown-enum", ERROR,
        "A code is not in the closed list of the contract: an op, a type name, a type code.",
        "Look the code up in the product's newer document; add it to a new version of the contract.",
        '{"type":"INSERT"}', '{"type":"UPSERT"}',
    ),
    DriftClass(
        "D09", "cross-field", ERROR,
        "Two members of a message do not agree with each other.",
        "Read the rule named after the dot; the paths show which members disagree.",
        'an UPDATE with "old" and "data"', 'an UPDATE without "old"',
    ),
    DriftClass(
        "D10", "unknown-table", WARNING,
        "The topic carries a table that the table contracts do not list.",
        "Add a contract for the table, or exclude it.",
        "shop.orders with a contract for shop.orders", "shop.returns without one",
    ),
    DriftClass(
        "D11", "table-schema", WARNING,
        "The columns of a table change in mid-stream, or are not what its table contract says: which there are, which "
        "of them are the key, and which are never NULL.",
        "Look for the statement that altered the table; apply the change to the table contract, and where rows go.",
        "every message of a table has the same columns", "a column appears in mid-stream",
    ),
    DriftClass(
        "D12", "order", WARNING,
        "Positions go back or repeat within a partition, where the documents promise that they do not.",
        "Look at the producer's retries and restarts, and whether two producers write to the partition.",
        "positions that rise", "a position that was there before",
    ),
    DriftClass(
        "D13", "control-share", INFO,
        "How many messages hold no row.",
        "Nothing, unless the share is unusual.",
        "some heartbeats", "heartbeats only",
    ),
    DriftClass(
        "D14", "precision", ERROR,
        "A value cannot be kept as it is: a number that written out has more than 4,096 characters, or a value that "
        "the type in the table contract of its column does not hold (D14.range, D14.scale, D14.second-digits).",
        "Compare the table contract with the table: the column may have been widened. No database column holds a "
        "number of 4,096 characters: look for its producer.",
        "12.10 in a decimal(10,2)", "12.105 in a decimal(10,2); 1E999999999",
    ),
    DriftClass(
        "D15", "not-exercised", INFO,
        "A rule of the contract was never put to the test by the messages read.",
        "Read a longer range before trusting a green result.",
        "a topic with every op", "a topic without a DELETE",
    ),
    DriftClass(
        "D16", "ambiguous", ERROR,
        "The message fits several versions that read it differently; decoding it would be a guess.",
        "Declare the version with --contract SUBJECT@N, or that of each part of a topic with --versions FILE.",
        "an UPDATE judged as dts/canal@2", "the same UPDATE judged as dts/canal",
    ),
)  # fmt: skip

CLASSES: Final[Mapping[str, DriftClass]] = MappingProxyType({entry.name: entry for entry in _CLASSES})


@dataclass(frozen=True, slots=True)
class Finding:
    """One point in which a message does not conform to its contract.

    `path` is a JSON Pointer with array positions of rows written 0; `observed` is a shape or a code, never a value
    of a row.
    """

    rule: str
    name: str
    severity: str
    path: str
    expected: str
    observed: str

    @property
    def order(self) -> tuple[int, str, str, str]:
        return (SEVERITIES.index(self.severity), self.name, self.rule, self.path)


class Severities:
    """The severity of each class in this run: the defaults, raised by `--severity CLASS=LEVEL`."""

    def __init__(self, raised: Mapping[str, str] | None = None) -> None:
        """Raise UsageError where a class or level is unknown, or an error class would be lowered."""
        self.raised = dict(sorted((raised or {}).items()))
        for name, level in self.raised.items():
            if name not in CLASSES:
                raise UsageError(f"there is no drift class `{name}`", hint="`cdc-contracts rules` lists them")
            if level not in SEVERITIES:
                raise UsageError(f"`{level}` is not a severity", hint="one of error, warning, info")
            if SEVERITIES.index(level) > SEVERITIES.index(CLASSES[name].severity):
                raise UsageError(
                    f"{name} is {CLASSES[name].severity} and cannot be lowered to {level}",
                    hint="use --fail-on to decide which severity fails the run",
                )

    def of(self, name: str, own: str | None = None) -> str:
        """Return the severity of a finding of a class; `own` is what its rule says where that differs.

        Notes (info by their own rule) are not touched.
        """
        if own == INFO:
            return INFO
        level = own or CLASSES[name].severity
        raised = self.raised.get(name)
        return raised if raised is not None and SEVERITIES.index(raised) < SEVERITIES.index(level) else level


def heaviest(*severities: str) -> str:
    """Return the highest severity."""
    return min(severities, key=SEVERITIES.index)


def rule_id(name: str, cause: str | None = None) -> str:
    """Return the stable id of a rule: class number, then the named rule or cause."""
    number = CLASSES[name].id
    return f"{number}.{cause}" if cause else number
