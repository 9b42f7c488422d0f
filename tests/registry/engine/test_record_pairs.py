"""Every rule of every contract: good records and what breaks the rule through one validator, whichever come first.

What the fast path says of one record it says of all that are alike to it. So a rule that reads what the fast path does
not tell records apart by shows here: the good record lends its verdict to the broken one, or the other way round.
The pairs are enumerated: every rule and note of a contract, every op that it has a sample of. Of records that differ in
one member of any kind a fixed choice is validated; CDC_CONTRACTS_MUTATIONS=kinds validates them all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from both_paths import CATALOGUE, VERSIONS, by_fast_path, by_reference, differences, report, samples, shown
from mutations import put, to_bytes
from rule_violations import (
    ONE_MESSAGE_SHOWS_NOTHING,
    absent_and_null_images,
    alike_drifts,
    breaker_of,
    good_records,
    hiding,
    in_blocks,
    neighbours,
    pairs_of,
    scope_of,
)

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.verdicts import Verdict

EVERY = 31 if os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") == "some" else 1
"""One of so many records that differ in one member is validated."""
MANY, STEP = 8, 5 if EVERY > 1 else 1
"""Of more mutations that break a rule than so many a part is validated, another one under each version."""
TURNS = 32 if EVERY > 1 else 1
"""What a member may hide is tried in one of so many members, each in others."""


def declared_as(version: Version) -> tuple[str, ...]:
    """Return by what a version is declared: by itself, and by its subject where that has others."""
    several = len(CATALOGUE.versions(version.subject)) > 1
    return (version.reference, version.subject) if several else (version.reference,)


@cache
def judged_apart(version: Version, value: bytes) -> Mapping[str, Verdict]:
    """Return what the reference says of a record, however the version is declared."""
    declared = declared_as(version)
    return dict(zip(declared, by_reference([scope_of(one) for one in declared], value), strict=True))


def disagreements(
    version: Version, goods: Sequence[bytes], mutants: Sequence[bytes], part: Callable[..., list[Any]]
) -> list[str]:
    """Return where the fast path says something else of the good ones first, or of the mutants first."""
    found = []
    orders = ([*goods, *mutants], version.reference), ([*mutants[::-1], *goods[::-1]], declared_as(version)[-1])
    for values, declared in part(orders, 2):
        expected = [judged_apart(version, value)[declared] for value in values]
        validator = FastValidator(scope_of(declared))
        half = len(goods) if values[0] == goods[0] else len(mutants)
        for some in (slice(0, half), slice(half, None)):
            found += differences(validator, values[some], expected[some])
    return found


def drift_samples(version: Version, rule: str) -> list[bytes]:
    """Return the samples that break a rule."""
    return [value for _, value in samples()[version.reference] if breaks(version, value, rule)]


def breaks(version: Version, value: bytes, rule: str) -> bool:
    return any(one.rule.endswith(f".{rule}") for one in judged_apart(version, value)[version.reference].findings)


RULES_OF_VERSIONS = [
    (version, rule) for version in VERSIONS for rule in (*version.meaning.rules, *version.meaning.notes)
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("version", "rule"), RULES_OF_VERSIONS, ids=str)
def test_a_good_record_and_one_that_breaks_a_rule_keep_their_verdicts_whichever_comes_first(version, rule, part):
    goods, every = pairs_of(version, breaker_of(rule))
    mutants = part(every, STEP) if len(every) > MANY else [*every]
    mutants += drift_samples(version, rule)

    found = disagreements(version, goods, mutants, part) if goods and mutants else []

    assert not found, report(found)
    broken = any(breaks(version, value, rule) for value in (*mutants, *every))  # a part may break nothing
    by_key_alone = rule == "primary-key-in-image" and version.meaning.envelope.key_place is not None
    assert broken == (rule not in ONE_MESSAGE_SHOWS_NOTHING and not by_key_alone)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_records_that_differ_in_one_member_keep_their_verdicts_whichever_comes_first(version, part):
    goods, mutants = pairs_of(version, neighbours, every=EVERY)
    mutants = part(mutants, 3)

    found = disagreements(version, goods, mutants, part)

    assert not found, report(found)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_record_keeps_its_verdict_among_hundreds_of_others(version):
    goods, mutants = pairs_of(version, neighbours, every=97)
    values = in_blocks(goods[0], [*goods[1:], *mutants])
    expected = {value: judged_apart(version, value)[version.reference] for value in dict.fromkeys(values)}

    validator = FastValidator(scope_of(version.reference))
    found = {
        (value, str(shown(verdict))) for value, verdict in zip(values, by_fast_path(validator, values), strict=True)
    }

    assert found == {(value, str(shown(verdict))) for value, verdict in expected.items()}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_an_absent_image_and_a_null_one_keep_their_verdicts_however_often_they_come(version):
    validator, found = FastValidator(scope_of(version.reference)), []

    for values in absent_and_null_images(version):
        expected = [judged_apart(version, value)[version.reference] for value in values]
        found += differences(validator, values, expected)

    assert not found, report(found)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", [one for one in VERSIONS if one.meaning.transport == "json"], ids=str)
def test_records_that_drift_in_one_way_are_judged_together_not_one_by_one(version):
    goods, mutants = pairs_of(version, alike_drifts)

    found = FastValidator(scope_of(version.reference)).validate([*goods, *mutants], texts=True)

    assert [number for number, _ in found.alone] == []


PARTIAL_OBJECTS = [
    (version, op)
    for version in VERSIONS
    for op in ("update", "update-after")
    if version.meaning.images.hold_one_row and (sides := version.meaning.images.of(op)) and sides.after
    if sides.after.completed_from is not None
]


@pytest.mark.parametrize(("version", "op"), PARTIAL_OBJECTS, ids=str)
@pytest.mark.parametrize("first", ["nothing", "something"])
def test_an_update_that_changes_nothing_is_the_row_it_was_whatever_came_before(version, op, first):
    some = next(reading for reading in good_records(version) if reading.op == op)
    after = version.meaning.images.of(op).after
    empty = to_bytes(put(some.message, {split_pointer(after.at): {}}))
    values = [empty, to_bytes(some.message), empty]

    kernel = Kernel(scope_of(version.reference))
    rows = [row for batch in (values if first == "nothing" else values[1:]) for row in decoded(kernel, batch)]

    still = rows[-1]
    assert len(rows) == len(values) - (first == "something")
    assert (still["op"], still["changed"]) == ("update", [])
    assert still["before"] == still["after"]
    assert still["after"] == scope_of(version.reference).validate(empty).changes[0].after
    assert dict(still["after"]).keys() == reading_of(version, empty).rows(after.completed_from)[0].keys()


def decoded(kernel: Kernel, value: bytes) -> list[dict[str, Any]]:
    """Return the rows of `changes/` that one message comes to."""
    records = pa.record_batch({
        "value": pa.array([value], pa.binary()), "topic": ["t"], "partition": pa.array([0], pa.int32()),
        "offset": pa.array([0], pa.int64()),
    })  # fmt: skip
    rows = [row for written in kernel.decode(records) for row in written.changes.to_pylist()]
    return [{**row, "before": dict(row["before"]), "after": dict(row["after"])} for row in rows]


def reading_of(version: Version, value: bytes) -> Reading:
    return Reading(version.meaning, scope_of(version.reference).wire.open(value), ReadingOptions())


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", [one for one in VERSIONS if one.meaning.transport == "json"], ids=str)
def test_what_the_first_of_two_members_hides_decides_as_well(version):
    good = next(one for one in good_records(version) if one.op in ("insert", "upsert"))
    reported = [(to_bytes(good.message), "conforming"), *hiding(good, every=TURNS)]
    values, expected = [value for value, _ in reported], [outcome for _, outcome in reported]

    for order in (1, -1):
        validator = FastValidator(scope_of(version.reference))
        assert [one.outcome for one in by_fast_path(validator, values[::order])] == expected[::order]
    every = slice(None, None, 9)
    apart = [by_reference([scope_of(version.reference)], value)[0].outcome for value in values[every]]
    assert apart == expected[every]
