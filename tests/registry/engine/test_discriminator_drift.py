"""Drift in what distinguishes a subject: what the fast path says of such messages, and what it has to look at for it."""

from __future__ import annotations

from collections import Counter

import pytest
from both_paths import SUBJECTS, VERSIONS, by_reference, differences, report
from discriminator_drifts import drifts_of, edited, with_escapes
from mutations import get
from topics import CATALOGUE, PLAIN, rendered, scope_of

from cdc_contracts.registry.common.pointers import split_pointer
from cdc_contracts.registry.contract.discriminators import holds
from cdc_contracts.registry.engine.fast_validator import FastValidator
from cdc_contracts.registry.message import transport
from cdc_contracts.registry.message.transport import open_transport
from cdc_contracts.registry.validate.reference_validator import ReferenceValidator

EACH = 10
"""Messages with one drift: more than are asked for one by one whether another subject claims them."""
MANY = 160
"""Messages of a batch whose cost is counted; one like it comes before."""
FEW = MANY // 10
"""Messages of a batch that may be looked at one by one: the first of each kind."""
OPENED = frozenset({
    "absent /prevStruct/__light_type is object", "absent /postStruct/__light_type is object",
    "absent /prevStruct/__light_type is text", "absent /postStruct/__light_type is text",
    "absent /payload is object", "absent /schema is text",
})  # fmt: skip
"""Drifts that only another subject can tell: whoever looks finds an object or a text where something else belongs.

Some have each message validated by itself, as any message is in which rows or the envelope hold such a thing.
"""
OPENED_WITH_ESCAPES = OPENED | {"absent /version is text"}
"""Without escapes, the bytes already show that a value is missing which another subject asks for."""


@pytest.mark.parametrize("written", ["as usual", "with escapes"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_agree_on_drift_in_each_discriminator(version, written):
    wire = open_transport(version, PLAIN)
    if wire.transport != "json" and written == "with escapes":
        pytest.skip("an Avro record has no escapes")
    more = [with_escapes] if written == "with escapes" else []
    messages = rendered(version.reference, EACH, seed=5, snapshot=2, controls=5)
    values = [value for edit in drifts_of(version).values() for value in edited(wire, messages, edit, *more)]
    validations = [scope_of(version.subject), scope_of(version.reference)]
    expected = [by_reference(validations, value) for value in values]

    found = []
    for place, validation in enumerate(validations):
        found += differences(FastValidator(validation), values, [verdicts[place] for verdicts in expected])

    assert not found, report(found)
    assert {verdict.outcome for verdicts in expected for verdict in verdicts} - {"conforming", "control"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("written", ["as usual", "with escapes"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_messages_that_drift_in_a_discriminator_cost_no_more_than_a_look_by_each_subject_that_may_claim_them(
    version, written, monkeypatch
):
    """One look is what a clean message costs."""
    wire = open_transport(version, PLAIN)
    more = [with_escapes] if written == "with escapes" and wire.transport == "json" else []
    messages = rendered(version.reference, 2 * MANY, seed=6)
    looks = count_looks(monkeypatch)
    opened = OPENED_WITH_ESCAPES if more else OPENED
    found = {}
    for name, edit in drifts_of(version).items():
        values = edited(wire, messages, edit, *more)
        judge = FastValidator(scope_of(version.reference))
        judge.judge(values[:MANY], texts=False)
        looks.clear()
        judge.judge(values[MANY:], texts=False)
        seen = {"examined": 0, "parsed": 0, "judged": 0, **looks}
        some = [wire.open(value) for value in values[MANY::4]]
        asked = sum(any(may_claim(one, subject) for one in some) for subject in SUBJECTS if subject != version.subject)
        if name not in opened and (seen["examined"] > MANY * (1 + asked) or max(seen["parsed"], seen["judged"]) > FEW):
            found[name] = {"asked": asked, **seen}
    assert found == {}


def may_claim(message, subject):
    """Say whether the discriminators of a subject hold for a message, as far as they ask for more than a text."""
    return any(
        all(holds_but_for_texts(test, message) for test in version.meaning.discriminators)
        for version in CATALOGUE.versions(subject)
    )


def holds_but_for_texts(test, message):
    if test.any:
        return any(holds_but_for_texts(one, message) for one in test.any)
    asked = test.equals or test.within
    return holds(test, message) or (asked is not None and isinstance(get(message, split_pointer(asked)), str))


def count_looks(monkeypatch):
    """Count the messages that subjects examine together, those that are parsed one by one, and those judged so."""
    looks = Counter()

    def counted(owner, name, count_of):
        whole = getattr(owner, name)

        def counting(*args, **options):
            what, count = count_of(args)
            looks[what] += count
            return whole(*args, **options)

        monkeypatch.setattr(owner, name, counting)

    counted(FastValidator, "_examine", lambda args: ("examined", len(args[1])))
    counted(transport, "parse_message", lambda args: ("parsed", 1))
    counted(ReferenceValidator, "judge", lambda args: ("judged", 1))
    return looks
