"""Codes and kinds of sources that no contract lists: one verdict for all that look alike, as by the reference."""

from __future__ import annotations

import pytest
from both_paths import by_fast_path, by_reference, differences, report
from discriminator_drifts import count_looks, edited, put
from record_batches import batch_of
from topics import CATALOGUE, PLAIN, rendered, scope_of

from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.registry.core.engine.parse.batch_parser import Parser
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.stats.tally import Tally

MANY = 300
"""More messages than are parsed to learn a shape."""
CODES = [
    "A1",
    "B2",
    "A1x",
    "a 1",
    "merge",
    "MERGE",
    "VARCHAR2",
    "ü",
    "",
    "x" * 60,
    "MySQL",
    "DB2 luw",
    "OMS",
    "7",
    "c",
    "r",
]
"""Of one shape, of others, known elsewhere as a verb, a type, a kind of source or a code."""
PLACES = [
    ("oms-community/canal@2", "/type"), ("debezium/json@4", "/op"), ("debezium/json@4", "/source/connector"),
    ("drs/json@2", "/opType"), ("oms/debezium@1", "/source/name"), ("ticdc/canal-json@2", "/type"),
]  # fmt: skip


def with_texts(reference, at, texts, *, count=MANY):
    """Messages of a stream in a version, each with one of some texts in turn at a place."""
    wire = open_transport(CATALOGUE.version(reference), PLAIN)
    values = rendered(reference, count, seed=8)
    return [edited(wire, [value], put(at, texts[number % len(texts)]))[0] for number, value in enumerate(values)]


@pytest.mark.parametrize(("reference", "at"), PLACES)
def test_both_paths_agree_on_texts_that_a_contract_does_not_list(reference, at):
    values = with_texts(reference, at, CODES, count=2 * len(CODES))
    validation = scope_of(reference)

    found = differences(FastValidator(validation), values, [by_reference([validation], value)[0] for value in values])

    assert not found, report(found)


@pytest.mark.parametrize(("reference", "at"), PLACES)
def test_messages_with_a_code_each_that_nobody_lists_are_validated_once(reference, at, monkeypatch):
    values = with_texts(reference, at, [f"Q{number:04}" for number in range(MANY)])
    validator = FastValidator(scope_of(reference))
    validator.validate(values[:4], texts=False)
    looks = count_looks(monkeypatch)

    validator.validate(values[4:], texts=False)

    assert looks["validated"] <= MANY // 10


def test_kinds_of_sources_are_told_apart_where_all_but_one_are_unlisted():
    """A message with a listed kind is not taken for one of those that have the same members."""
    kinds = ["postgresql" if number % 7 == 0 else f"Q{number:04}" for number in range(MANY)]
    values = with_texts("debezium/json@4", "/source/connector", kinds)
    expected = ["conforming" if kind == "postgresql" else "drifted" for kind in kinds]
    validator = FastValidator(scope_of("debezium/json@4"))

    for batch in (range(1, 7), [*range(1, 7)] * MANY, range(MANY)):
        found = by_fast_path(validator, [values[number] for number in batch])

        assert [verdict.outcome for verdict in found] == [expected[number] for number in batch]


def test_values_of_unlisted_codes_are_shown_by_record_where_they_may_be():
    values = with_texts("oms-community/canal@2", "/type", ["Q1", "Q2", "Q1", "Q3"], count=8)
    validation = scope_of("oms-community/canal@2", show_values=True)
    expected = Tally()
    for offset, value in enumerate(values):
        one = account_of(validation.validate(value), Source("t", 0), Point(offset, None), value, show_values=True)
        expected.merge(one)

    found = Kernel(validation).audit(batch_of([(0, offset, value) for offset, value in enumerate(values)]))

    observed = [dict(one.observed) for one in found.findings.values() if "Q1" in one.observed]
    assert observed == [{"Q1": 4, "Q2": 2, "Q3": 2}]
    assert observed == [dict(one.observed) for one in expected.findings.values() if "Q1" in one.observed]


@pytest.mark.skipif(describe_native() != "native", reason="needs the native part")
def test_messages_without_a_name_of_a_schema_are_scanned_like_all_others(monkeypatch):
    """Debezium has a null there for MySQL: without table contracts all went through the parser."""
    parsed = []
    sort = Parser.sort
    monkeypatch.setattr(Parser, "sort", lambda self, values: parsed.append(len(values)) or sort(self, values))
    values = rendered("debezium/json@4", 1_000, seed=8)
    validator = FastValidator(scope_of("debezium/json@4"))
    validator.validate(values, texts=False)
    parsed.clear()

    validator.validate(values, texts=False)

    assert sum(parsed) == 0
