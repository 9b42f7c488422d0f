"""A message schema refuses what validating calls an error, as far as JSON Schema can say it, and nothing else.

Validated by jsonschema and by jsonschema-rs: every sample, every drift sample, and every member of the samples with
another value in its place.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache

import jsonschema
import jsonschema_rs
import pytest
from both_paths import CATALOGUE
from mutations import DROP, KINDS, replaced, walk
from plain_messages import holds_long_numbers, plain

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import Number

VERSIONS = list(CATALOGUE.all_versions())
EVERY = 59 if os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") == "some" else 1
"""One of so many changed messages is validated: a number without a part in common with that of the kinds."""


@cache
def schema_of(version):
    return json.loads(version.folder.joinpath("message.schema.json").read_text(encoding="utf-8"))


@cache
def validators(version):
    schema = schema_of(version)
    return jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema)


def is_taken(version, message, *, by_both=False):
    """Say whether a message is taken: by the faster validator where it keeps the numbers, or else by the other."""
    slow, fast = validators(version)
    reported = plain(message)
    if holds_long_numbers(reported):
        return slow.is_valid(reported)
    taken = fast.is_valid(reported)
    assert not by_both or slow.is_valid(reported) == taken
    return taken


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_sample_that_conforms_is_taken(version, part):
    samples = find_samples(version)
    wire, both = ReferenceValidator(version, samples.reading_options()).wire, part(samples.messages, 5)
    refused = [one.name for one in samples.messages if not is_taken(version, wire.open(one.value), by_both=one in both)]
    assert samples.messages
    assert refused == []


def drifts(part):
    """Yield every drift sample that can be read: version, name, whether it is taken, its outcome and error rules."""
    for version in VERSIONS:
        samples = find_samples(version)
        wire, both = ReferenceValidator(version, samples.reading_options()).wire, part(samples.drifts, 5)
        for one in samples.drifts:
            try:
                message = wire.open(one.value)
            except Unreadable:
                continue
            reported = one.expected()
            rules = {found["rule"] for found in reported["findings"] if found["severity"] == "error"}
            yield version, one.name, is_taken(version, message, by_both=one in both), rules


BY_COLUMN = {"D03.value-form", "D06", "D07", "D09.codes-match-types", "D14.digits", "D14.range"}
"""Classes that ask of a column by its own type, which a schema of no table in particular cannot name."""


def test_more_than_half_of_the_drift_samples_are_refused_and_the_rest_for_a_reason(part):
    found = list(drifts(part))
    refused = [one for one in found if not one[2]]
    assert len(found) >= 835
    assert len(refused) >= 457
    assert [one[:2] for one in refused if not one[3]] == []  # what is a warning to validating is none of its business
    left = Counter(
        "by column"
        if rules <= BY_COLUMN | {rule for rule in rules if rule.startswith("D07.")}
        else " ".join(sorted(rules))
        for _, _, taken, rules in found
        if taken and rules
    )
    # a field of a row whose schema names no type of the database, as only ticdc/avro has it; and in both versions of
    # flattened rows one column more than there are types, which may be the mark of a deletion that no block describes;
    # and the deletion of a document whose row its Kafka key may hold
    assert left == {"by column": left["by column"], "D02": 4, "D09.columns-typed": 3, "D09.image-present-for-op": 2}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_is_refused_is_an_error_to_judging(version, part):
    """Every member of every sample that conforms in turn with a value of another kind, or taken away."""
    validator, (_, fast) = ReferenceValidator(version, ReadingOptions()), validators(version)
    changed = []
    for sample in find_samples(version).messages:
        message = validator.wire.open(sample.value)
        places = [] if holds_long_numbers(plain(message)) else [parts for parts, _, _ in walk(message) if parts]
        changed += [(sample.name, message, parts, value) for parts in places for value in (*KINDS.values(), DROP)]
    wrong = []
    for name, message, parts, value in part(changed, EVERY):
        mutant = replaced(message, parts, value)
        if not fast.is_valid(plain(mutant)) and not validator.validate(mutant).opinion.errors:
            wrong.append((name, parts, value))
    assert changed
    assert wrong == []


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_the_examples_of_a_schema_are_messages_of_its_version_one_for_each_op_that_can_be_rendered(version):
    validator = ReferenceValidator(version, ReadingOptions())
    reported = schema_of(version)["examples"]
    ops = set()
    for message in reported:
        assert is_taken(version, message)
        text = json.dumps(message)
        if validator.wire.text_images is not None:
            text = validator.wire.text_of(text.encode())
        version_verdict = validator.validate(json.loads(text, parse_int=Number, parse_float=Number))
        assert version_verdict.opinion.errors == 0
        ops.add(Reading(version.meaning, message, ReadingOptions()).op)
    assert {"insert", "upsert"} & ops
    assert ops <= {*version.meaning.ops.values(), *(flag.means for flag in version.meaning.envelope.op.flags)}
