"""Single messages by the plan of their subject, against the reference: outcome, findings and every value, warm and cold.

A verdict is repeated for messages that equal an earlier one in kind, so each contract is asked many messages that
differ in little: samples, drift samples, their mutations, and streams.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from both_paths import CATALOGUE, SHOWN, SUBJECTS, VERSIONS, samples, terms_of
from chance_messages import broken_messages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lookalike_messages import LOOKALIKES
from mutations import replaced, walk, written
from rule_violations import breaker_of, pairs_of, scope_of
from sample_mutants import SOME, AnnotatedMessage, mutants, mutate

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.messages import message_validator, value_readings
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext, open_validation
from cdc_contracts.registry.core.values import Number


def shown(validated: ValidatedMessage, *, decodes: bool, several: bool) -> tuple[Any, ...]:
    """Return all that a result says; versions are compared where one of several has to be chosen."""
    verdict = validated.verdict if several else replace(validated.verdict, differs=False)
    chosen = [(one.verdict.version, one.changes, one.table) for one in validated.alternatives]
    decoded = (validated.changes, validated.control, chosen) if decodes else ()
    return (verdict, validated.table, validated.code, *decoded)


def differences(validation: ValidationContext, values: Sequence[bytes | None]) -> list[str]:
    """Return where single messages are validated otherwise than by the reference, each asked twice."""
    validator, several = MessageValidator(validation), len(validation.validated) > 1
    wanted = [validation.validate(value) for value in values]
    found = []
    for decodes in (True, False, True):
        for value, expected in zip(values, wanted, strict=True):
            validated = validator.validate(value, decodes=decodes)
            mine, theirs = (shown(one, decodes=decodes, several=several) for one in (validated, expected))
            if mine != theirs:
                found.append(f"{validation.declared}: {value!r:.3000}\n  single    {mine}\n  reference {theirs}")
    return found


def report(found: Sequence[str]) -> str:
    return f"{len(found)} disagreements\n" + "\n".join(found[:SHOWN])


def streamed(version, *, broken: int) -> list[bytes]:
    """Return a stream of a version, of which one of so many messages is broken."""
    draw, wire = random.Random(version.reference), open_transport(version, ReadingOptions())
    values = list(Renderer(version, ReadingOptions()).render_all(row_stream(21, 60, snapshot=10, controls=20)))
    for place in range(0, len(values), broken):
        message = wire.open(values[place])
        menu = list(mutate(message, AnnotatedMessage(version, message, few=draw)))
        values[place] = written(wire, draw.choice(menu)[1]) or values[place][:-1]
    return values


@pytest.mark.one_in(5)
@pytest.mark.parametrize("reading_options", ["alone", "with tables", "with a zone"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_message_alone_is_judged_and_read_as_by_the_reference(version, reading_options, part):
    others = [value for reference, found in samples().items() if reference != version.reference for _, value in found]
    own = part((value for _, value in samples()[version.reference]), 7)
    values = [None, *own, *part(others, 1501), *part(mutants(version), 49), *part(streamed(version, broken=6), 31)]
    references = part((version.subject, version.reference), 2)
    options = terms_of(reading_options)

    found = [one for name in references for one in differences(open_validation(CATALOGUE, name, options), values)]

    assert not found, report(found)


@pytest.mark.parametrize(("subject", "values"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_verdict_is_not_repeated_for_a_message_that_only_looks_alike(subject, values):
    validation = open_validation(CATALOGUE, subject, terms_of("with tables"))

    found = differences(validation, [*values, *reversed(values)])

    assert not found, report(found)


@settings(
    max_examples=50 if SOME else 150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(messages=broken_messages(), subject=st.sampled_from(SUBJECTS))
def test_messages_broken_by_chance_are_judged_as_by_the_reference(messages, subject):
    found = differences(open_validation(CATALOGUE, subject, terms_of("with tables")), messages)

    assert not found, report(found)


KINDS = [json.loads(kind, parse_int=Number) for kind in ("[]", "[{}]", "{}", '{"a":[1]}', "null", "true", "1", '"x"')]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_member_of_any_kind_in_any_place_is_judged_as_by_the_reference(version, part):
    """Whatever a message holds, it is no exception: a consumer would stop on it."""
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    good = [value for _, value in samples()[version.reference] if not validation.validate(value).verdict.findings]
    members = [
        (message, parts, kind)
        for message in map(validation.wire.open, good[:3])
        for parts, _, _ in walk(message)
        for kind in KINDS
        if parts
    ]
    values = [
        value
        for message, parts, kind in part(members, 97)
        if (value := written(validation.wire, replaced(message, parts, kind)))
    ]
    assert values or validation.wire.transport == "avro"  # a record holds few of them

    found = differences(validation, values)

    assert not found, report(found)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("first", ["good", "broken"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_good_message_and_one_that_breaks_a_rule_keep_their_verdicts_whichever_comes_first(version, first, part):
    found = []
    for rule in part((*version.meaning.rules, *version.meaning.notes), 7):
        goods, broken = pairs_of(version, breaker_of(rule))
        values = [*goods, *broken[:24]] if first == "good" else [*broken[:24][::-1], *goods[::-1]]
        found += differences(scope_of(version.reference), values)

    assert not found, report(found)


def test_a_value_beyond_its_type_is_told_from_one_within_whichever_comes_first():
    version = CATALOGUE.version("dts/canal@2")
    (rendered,) = Renderer(version, ReadingOptions()).render_all(row_stream(23, 1))
    message = json.loads(rendered)
    message["mysqlType"] = {
        name: "decimal(5,2)" if name == "total" else kind for name, kind in message["mysqlType"].items()
    }
    values = []
    for total in ("1.00", "1234567.00", "1.005", "2.00"):
        message["data"][0]["total"] = total
        values.append(json.dumps(message).encode())
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())

    beyond = [any(one.name == "precision" for one in validation.validate(value).verdict.findings) for value in values]

    assert beyond == [False, True, True, False]
    assert not differences(validation, values)
    assert not differences(validation, values[::-1])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_most_messages_of_a_stream_repeat_a_verdict(version, monkeypatch):
    values = list(Renderer(version, ReadingOptions()).render_all(row_stream(22, 80)))
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    validator = MessageValidator(validation)
    for value in values:
        validator.validate(value, decodes=True)
    asked = []
    version_verdicts = ValidationContext.version_verdicts
    monkeypatch.setattr(
        ValidationContext,
        "version_verdicts",
        lambda self, message: asked.append(message) or version_verdicts(self, message),
    )

    outcomes = {validator.validate(value, decodes=True).verdict.outcome for value in values}

    assert outcomes <= {"conforming", "control"}
    assert len(asked) <= len(values) // 8


def test_threads_that_share_a_validator_get_what_one_gets_alone(monkeypatch):
    for module, name in (
        (message_validator, "_MOST_KINDS"),
        (message_validator, "_MOST_VERDICTS"),
        (value_readings, "_MOST_VALUES"),
    ):
        monkeypatch.setattr(module, name, 3)  # so that what is remembered is forgotten all the time
    version = CATALOGUE.version("oms-community/canal@2")
    values = [value for broken in (3, 5) for value in streamed(version, broken=broken)]
    validation = open_validation(CATALOGUE, version.subject, ReadingOptions())
    wanted = [shown(validation.validate(value), decodes=True, several=True) for value in values]
    validator = MessageValidator(validation)
    failures: list[Any] = []

    def work(seed: int) -> None:
        places = list(range(len(values)))
        random.Random(seed).shuffle(places)
        try:
            for place in places:
                validated = shown(validator.validate(values[place], decodes=True), decodes=True, several=True)
                if validated != wanted[place]:
                    failures.append((values[place], validated, wanted[place]))
        except Exception as error:  # noqa: BLE001  a thread must not hide it
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    assert failures == []


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(message_validator, "_MOST_KINDS", 20)
    version = CATALOGUE.version("dts/canal@2")
    validator = MessageValidator(open_validation(CATALOGUE, version.reference, ReadingOptions()))
    (value,) = Renderer(version, ReadingOptions()).render_all(row_stream(23, 1))
    for number in range(25):
        message = value.replace(b'"orders"', f'"orders_{number}"'.encode())
        assert validator.validate(message, decodes=True).table == f"shop.orders_{number}"
    assert len(validator._kinds) <= 20
