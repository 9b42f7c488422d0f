"""Tests of discriminators on parsed messages: a value of a contract is compared with what the strict parser makes."""

import json
from pathlib import Path

import pytest
from both_paths import by_fast_path, by_reference, shown
from topics import CATALOGUE

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.discriminator_model import Test as DiscriminatorTest
from cdc_contracts.registry.core.contract.discriminators import holds
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.validate.validation_context import open_validation

VALUES = [
    (7, {"7": True, "7.0": True, "7e0": True, '"7"': False, "8": False, "-7": False, "true": False, "null": False}),
    (1, {"1": True, "true": False, '"1"': False}),
    (True, {"true": True, "1": False, '"true"': False, "false": False}),
    ("7", {'"7"': True, "7": False, '"\\u0037"': True}),
]


@pytest.mark.parametrize(
    ("wanted", "sent", "fits"), [(wanted, *one) for wanted, each in VALUES for one in each.items()]
)
def test_a_member_equals_a_value_of_its_own_kind_however_it_is_written(wanted, sent, fits):
    test = DiscriminatorTest.model_validate({"equals": "/a", "value": wanted})

    assert holds(test, parse_message(f'{{"a": {sent}}}'.encode())) is fits


@pytest.mark.parametrize(
    ("message", "fits"),
    [
        ('{"ts_ms": 1}', True),
        ('{"ts_ms": null}', False),
        ('{"ts_ms": 1, "user": 2}', False),
        ('{"user": 2}', False),
        ("{}", False),
    ],
)
def test_a_member_is_alone_if_no_other_is_beside_it(message, fits):
    at_the_top = DiscriminatorTest.model_validate({"alone": "/ts_ms"})
    below = DiscriminatorTest.model_validate({"alone": "/payload/ts_ms"})
    framed = f'{{"schema": {{}}, "payload": {message}}}'

    assert holds(at_the_top, parse_message(message.encode())) is fits
    assert holds(below, parse_message(framed.encode())) is fits
    assert not holds(below, parse_message(b'{"payload": [1]}'))


@pytest.mark.parametrize("subject", ["debezium/json", "debezium/json-schema"])
def test_batches_and_single_messages_are_claimed_alike_by_a_member_that_is_alone(subject):
    heartbeat = Path(str(CATALOGUE.version(f"{subject}@4").folder), "samples", "heartbeat.json").read_text()
    assert heartbeat.count('{"ts_ms":') == 1
    event = heartbeat.replace('{"ts_ms":', '{"user":2,"ts_ms":')
    values = [heartbeat.encode(), event.encode(), event.encode(), heartbeat.encode()] * 20
    validation = open_validation(CATALOGUE, f"{subject}@4", ReadingOptions())

    for value, fast in zip(values, by_fast_path(FastValidator(validation), values), strict=True):
        assert shown(fast) == shown(by_reference([validation], value)[0])
    assert validation.claims_value(values[0])
    assert not validation.claims_value(values[1])


def test_batches_and_single_messages_are_claimed_alike_by_a_number():
    catalogue = Catalogue(CATALOGUE.roots)
    version = catalogue.version("debezium/json@2")
    tests = [*version.resolved["discriminators"], {"equals": "/source/server_id", "value": 7}]
    for one in catalogue.resolve("debezium/json"):
        vars(one).update(resolved=one.resolved | {"discriminators": tests})
    sample = json.loads(Path(str(version.folder), "samples", "insert-from-mysql.json").read_text(encoding="utf-8"))
    text = json.dumps(sample)
    assert '"server_id": 1' in text
    values = [
        text.replace('"server_id": 1', f'"server_id": {sent}').encode() for sent in ("7", "8", "7.0", "7", "-7")
    ] * 20
    validation = open_validation(catalogue, "debezium/json@2", ReadingOptions())

    for value, fast in zip(values, by_fast_path(FastValidator(validation), values), strict=True):
        assert shown(fast) == shown(by_reference([validation], value)[0])
    assert validation.claims_value(values[0])
    assert not validation.claims_value(values[1])
