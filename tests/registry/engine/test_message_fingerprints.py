"""Fingerprints of messages: two have the same one if, and only if, they have the same slices."""

import random

import numpy as np
import pyarrow as pa
import pytest
from topics import CATALOGUE, named_samples, scope_of

from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.native.message_fingerprints import fingerprint_messages
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.records.message_values import MessageValues

pytestmark = pytest.mark.skipif(native_library() is None, reason="no native part was compiled here")


def fingerprints_of(values, numbers, marks):
    return fingerprint_messages(MessageValues(values), np.array(numbers), marks).tolist()


@pytest.mark.parametrize(
    ("marks", "value", "alike", "unlike"),
    [
        ([(b'"t"', b",")], b'{"t":"a","n":1}', b'{"n":22,"t":"a","o":3}', b'{"t":"b","n":1}'),
        ([(b'"t"', b"}}")], b'{"t":{"x":{"y":1}},"n":1}', b'{"t":{"x":{"y":1}}}', b'{"t":{"x":{"z":1}},"n":1}'),
        ([(b'"b"', 3)], b'{"b":{"x":1}}', b'{"b":{"y":22}}', b'{"b":null}'),
        ([(b'"b"', 300)], b'{"b":1}', b'{"n":1,"b":1}', b'{"b":2}'),
        ([(b'"t"', b",")], b'{"n":1}', b'{"t":1}', b'{"t":1,"n":1}'),
        ([(b'"a"', b","), (b'"b"', b",")], b'{"b":1,"a":2,}', b'{"a":2,"b":1,}', b'{"a":1,"b":2,}'),
    ],
)
def test_what_lies_outside_of_the_slices_makes_no_difference(marks, value, alike, unlike):
    assert fingerprints_of([value, alike, unlike], [0, 1, 2], marks) == [0, 0, 1]


def test_fingerprints_are_numbered_as_they_come_and_only_those_of_the_values_asked_for():
    values = pa.array([b"", b'{"t":3,}', b'{"t":1,}', b'{"t":2,}', b'{"t":1,}', b'{"t":3,}'], pa.binary())
    assert fingerprints_of(values.slice(1), [4, 1, 2, 3, 0], [(b'"t"', b",")]) == [0, 1, 2, 1, 0]


@pytest.mark.parametrize("reference", ["debezium/json@4", "oms-community/canal@2", "dts/canal@2", "maxwell/json@2"])
def test_samples_have_the_same_fingerprint_as_the_guess_of_one_value_says(reference):
    guess = FastValidator(scope_of(reference))._sorter._parser._guess
    values = [value for version in CATALOGUE.all_versions() for _, value in named_samples(version)][::3] * 2
    random.Random(4).shuffle(values)
    slices = [guess._look(value) for value in values]
    firsts = {one: place for place, one in enumerate(dict.fromkeys(slices))}
    assert fingerprints_of(values, range(len(values)), guess._marks) == [firsts[one] for one in slices]
