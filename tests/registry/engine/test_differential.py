"""The fast path against the reference, record by record: samples, systematic mutations, streams, and found by chance.

Both have to agree on outcome, version, versions that fit, whether those differ, and every finding. Only what was
observed in a broken value of a column may differ: of records that are alike, the fast path shows the first.

Which mutations are validated is said by CDC_CONTRACTS_MUTATIONS (`sample_mutants.py`).
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from both_paths import (
    CATALOGUE,
    SUBJECTS,
    VERSIONS,
    by_reference,
    differences,
    report,
    samples,
    shown,
    terms_of,
)
from chance_messages import broken_messages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lookalike_messages import LOOKALIKES
from mutations import written
from sample_mutants import SOME, AnnotatedMessage, mutants, mutate

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.group.group_decisions import GroupDecisions
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

FOREIGN = 128
"""One of so many samples of other subjects is validated under a subject."""
TURNS = 4 if SOME else 1
"""Declared by its version, one of so many records is validated; declared by its subject, every one."""


# --- both paths, side by side


@dataclass
class Tally:
    """How many records were compared, by where they come from."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, count: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + count


@pytest.fixture(scope="module")
def tally(request) -> Iterator[Tally]:
    counted = Tally()
    yield counted
    plugins = request.config.pluginmanager
    terminal = plugins.getplugin("terminalreporter")
    if terminal is None:
        return  # one of several processes, which has no terminal
    parts = ", ".join(f"{count:,} {what}" for what, count in counted.counts.items())
    with plugins.getplugin("capturemanager").global_and_fixture_disabled():
        terminal.write_line(f"\nfast path and reference agree on {sum(counted.counts.values()):,} records: {parts}")


# --- samples


def declare(validator: FastValidator, validation: ValidationContext) -> None:
    """Have a fast validator validate under another version: what it has learnt of the messages holds under any."""
    validator.validation, validator._decisions = validation, GroupDecisions(validation)


@cache
def candidate_subjects(reading_options: str) -> dict[str, Any]:
    """Return the validators of other subjects by subject: they learn the samples once, and not for each subject anew."""
    return {}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("reading_options", ["alone", "with tables"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_both_paths_agree_on_every_sample_of_every_contract(subject, reading_options, part, tally):
    own = [value for reference, found in samples().items() if reference.startswith(f"{subject}@") for _, value in found]
    foreign = [
        value for reference, found in samples().items() if not reference.startswith(f"{subject}@") for _, value in found
    ]
    if SOME:  # other subjects' samples are mostly refused alike: a few of each will do
        foreign = foreign[zlib.crc32(f"{subject} {reading_options}".encode()) % FOREIGN :: FOREIGN]
    values = [*part(own, 5), *part(foreign, 3)]
    references = [subject, *(version.reference for version in CATALOGUE.versions(subject))]
    validations = [open_validation(CATALOGUE, reference, terms_of(reading_options)) for reference in references]
    expected = [by_reference(validations, value) for value in values]

    found = []
    validator = FastValidator(validations[0])
    validator._claims._known = candidate_subjects(reading_options)
    for place, validation in enumerate(validations):
        declare(validator, validation)
        some = slice((place + len(reading_options)) % TURNS, None, TURNS) if place else slice(None)
        found += differences(validator, values[some], [verdicts[place] for verdicts in expected[some]])
        assert [shown(validator.validation.validate(value).verdict) for value in values[::80]] == [
            shown(verdicts[place]) for verdicts in expected[::80]
        ]

    assert not found, report(found)
    tally.add("samples under each version", len(values) * len(validations))


# --- mutations


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_agree_on_every_kind_of_mutation_of_the_samples(version, part, tally):
    values = part(mutants(version), 7)
    reading_options = terms_of("with tables") if version.meaning.columns.types == "none" else terms_of("with a zone")
    validations = [
        open_validation(CATALOGUE, reference, reading_options) for reference in (version.subject, version.reference)
    ]
    expected = [by_reference(validations, value) for value in values]
    validator = FastValidator(validations[0])

    found = []
    for place, validation in enumerate(validations):
        declare(validator, validation)
        some = slice(place % TURNS, None, TURNS) if place else slice(None)
        found += differences(validator, values[some], [verdicts[place] for verdicts in expected[some]])

    assert not found, report(found)
    tally.add("mutations", len(values))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_agree_on_mutations_that_another_subject_is_asked_for(version, part, tally):
    values = part(mutants(version), 37)
    others = [subject for subject in SUBJECTS if subject != version.subject]
    found = []
    for place, subject in enumerate(others):
        validation = open_validation(CATALOGUE, subject, terms_of("with tables"))
        mine = values[place :: len(others)]
        found += differences(FastValidator(validation), mine, [by_reference([validation], value)[0] for value in mine])

    assert not found, report(found)
    tally.add("mutations under another subject", len(values))


# --- streams


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_agree_on_a_stream_in_which_some_messages_are_broken(version, tally):
    """Here records are alike in everything but their values: what was said of one is said of many."""
    draw = random.Random(7)
    renderer, wire = Renderer(version, ReadingOptions()), open_transport(version, ReadingOptions())
    values = list(renderer.render_all(row_stream(11, 24 if SOME else 400, snapshot=9, controls=9)))
    values += list(renderer.render_all(row_stream(12, 12 if SOME else 200, fractions=False)))
    for place in range(0, len(values), 12):
        message = wire.open(values[place])
        menu = list(mutate(message, AnnotatedMessage(version, message, few=draw)))
        values[place] = written(wire, draw.choice(menu)[1]) or values[place][:-1]
    validations = [
        open_validation(CATALOGUE, reference, ReadingOptions()) for reference in (version.subject, version.reference)
    ]
    expected = [by_reference(validations, value) for value in values]

    found = []
    validator = FastValidator(validations[0])
    for place, validation in enumerate(validations):
        declare(validator, validation)
        found += differences(validator, values, [verdicts[place] for verdicts in expected])

    assert not found, report(found)
    tally.add("messages of streams", len(values))


# --- by chance


@cache
def experienced(subject: str) -> FastValidator:
    """Return a validator that keeps what it learns from one test to the next."""
    return FastValidator(open_validation(CATALOGUE, subject, terms_of("with tables")))


@settings(
    max_examples=50 if SOME else 5000,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
@given(messages=broken_messages(), subject=st.sampled_from(SUBJECTS))
def test_both_paths_agree_on_messages_broken_by_chance(messages, subject, tally):
    validator = experienced(subject)

    found = differences(validator, messages, [by_reference([validator.validation], value)[0] for value in messages])

    assert not found, report(found)
    tally.add("messages broken by chance", len(messages))


# --- records that look alike


@pytest.mark.parametrize(("subject", "values"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_what_was_said_of_a_record_is_not_said_of_one_that_only_looks_alike(subject, values, tally):
    validation = open_validation(CATALOGUE, subject, ReadingOptions())
    expected = [by_reference([validation], value)[0] for value in values]

    found = differences(FastValidator(validation), values, expected)
    found += differences(FastValidator(validation), values[::-1], expected[::-1])
    validator = FastValidator(validation)
    for value, verdict in zip(values, expected, strict=True):
        found += differences(validator, [value], [verdict])

    assert not found, report(found)
    assert len({str(shown(verdict)) for verdict in expected}) > 1
    tally.add("records that look alike", 3 * len(values))
