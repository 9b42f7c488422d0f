"""Drift in what distinguishes a subject: what the fast path says of such messages, and what it has to look at for it."""

from __future__ import annotations

import pytest
from both_paths import SUBJECTS, VERSIONS, by_reference, differences, report
from discriminator_drifts import count_looks, drifts_of, edited, texts_of_others, with_escapes
from topics import CATALOGUE, PLAIN, rendered, scope_of

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.discriminators import holds
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.values import Number

EACH = 10
"""Messages with one drift: more than are asked for one by one whether another subject claims them."""
MANY = 80
"""Messages of a batch whose cost is counted; one like it comes before."""
FEW = 16
"""Messages of a batch that may be looked at one by one: the first of each kind."""
SPELLINGS = [
    (version, written)
    for version in VERSIONS
    for written in ("as usual", "with escapes")
    if written == "as usual" or open_transport(version, PLAIN).transport == "json"
]
"""An Avro record has no escapes."""
PARTS, TEXT_PARTS = 20, 48
"""A default run tries one in so many drifts of a version, and of the texts that others ask for."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("version", "written"), SPELLINGS, ids=str)
def test_both_paths_agree_on_drift_in_each_discriminator(version, written, part):
    wire = open_transport(version, PLAIN)
    more = [with_escapes] if written == "with escapes" else []
    messages = rendered(version.reference, EACH, seed=5, snapshot=2, controls=5)
    every = drifts_of(version).values()
    drifts = part(every, PARTS)
    values = [value for edit in drifts for value in edited(wire, messages, edit, *more)]
    validations = [scope_of(version.subject), scope_of(version.reference)]
    expected = [by_reference(validations, value) for value in values]

    found = []
    for place, validation in enumerate(validations):
        found += differences(FastValidator(validation), values, [verdicts[place] for verdicts in expected])

    assert not found, report(found)
    whole = len(drifts) == len(every)  # some edits are no drift
    if whole and wire.transport == "json":  # an Avro record has all its members
        assert {verdict.outcome for verdicts in expected for verdict in verdicts} - {"conforming", "control"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_agree_on_texts_that_other_subjects_ask_for(version, part):
    wire = open_transport(version, PLAIN)
    edits = part(texts_of_others(version, VERSIONS), TEXT_PARTS)
    assert edits
    each = [edited(wire, rendered(version.reference, EACH, seed=7), edit) for edit in edits]
    values = [value for alike in zip(*each, strict=True) for value in alike]
    validation = scope_of(version.reference)

    found = differences(FastValidator(validation), values, [by_reference([validation], value)[0] for value in values])

    assert not found, report(found)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("version", "written"), SPELLINGS, ids=str)
def test_messages_that_drift_in_a_discriminator_cost_no_more_than_a_look_by_each_subject_that_may_claim_them(
    version, written, part, monkeypatch
):
    """One look is what a clean message costs."""
    wire = open_transport(version, PLAIN)
    more = [with_escapes] if written == "with escapes" else []
    messages = rendered(version.reference, 2 * MANY, seed=6)
    looks = count_looks(monkeypatch)
    found = {}
    # where a message is its row, a member too many is a column: those with objects are looked at until one is known
    few = 3 * FEW if "" in version.meaning.images.pointers() else FEW
    drifts = part(drifts_of(version).items(), PARTS)
    assert drifts
    for name, edit in drifts:
        values = edited(wire, messages, edit, *more)
        validator = FastValidator(scope_of(version.reference))
        validator.validate(values[:MANY], texts=False)
        looks.clear()
        validator.validate(values[MANY:], texts=False)
        seen = {"examined": 0, "parsed": 0, "validated": 0, **looks}
        some = [wire.open(value) for value in values[MANY::4]]
        asked = sum(any(may_claim(one, subject) for one in some) for subject in SUBJECTS if subject != version.subject)
        if seen["examined"] > MANY * (1 + asked) or max(seen["parsed"], seen["validated"]) > few:
            found[name] = {"asked": asked, **seen}
    assert found == {}


def may_claim(message, subject):
    """Say whether the discriminators of a subject hold for a message, or for one that has another number somewhere."""
    return any(
        all(holds(test, message) or asks_for_number(test, message) for test in version.meaning.discriminators)
        for version in CATALOGUE.versions(subject)
    )


def asks_for_number(test, message):
    found = follow(message, split_pointer(test.equals)) if test.equals is not None else None
    return type(test.value) is int and isinstance(found, Number)
