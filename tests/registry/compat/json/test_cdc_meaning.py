"""The policy cdc against its own meaning: random pairs of schemas, random messages, and jsonschema as the validator.

`CDC_MEANING_PAIRS` is the number of pairs, and `CDC_MEANING_SEED` where their numbers start.
"""

import json
import os
from collections import Counter

import jsonschema
import pytest
from cdc_meaning import forget, refuting
from schema_pairs import DRAFTS, compare_bounded, pairs

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import REFUSED_BY_NEW, REFUSED_BY_OLD, conclude
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

EACH = 250
TOGETHER = 50
"""Pairs that are compared in one process with limits: starting one takes longer than comparing a pair."""
PAIRS = int(os.environ.get("CDC_MEANING_PAIRS", "750"))
SEED = int(os.environ.get("CDC_MEANING_SEED", "31"))


def validate(old, new):
    sides = [SchemaDocument(JSON, name, schema, json.dumps(schema)) for name, schema in (("old", old), ("new", new))]
    return compare_schemas(sides[:1], sides[1], level=Level.FULL, policy=Policy.CDC)


def is_founded(old, new, finding):
    """Return whether jsonschema confirms the message of a finding, or the finding says that there is none."""
    proof = finding.proof
    if proof is None:
        return "No message was found" in finding.says
    accepts = [jsonschema.validators.validator_for(one)(one).is_valid(proof.message) for one in (old, new)]
    return accepts == {REFUSED_BY_NEW: [True, False], REFUSED_BY_OLD: [False, True]}.get(proof.kind, [True, True])


@pytest.mark.parametrize("seed", range(SEED, SEED + PAIRS // EACH))
def test_no_message_refutes_what_cdc_calls_compatible_and_one_shows_what_breaks(seed, record_property):
    verdicts, refuted, unfounded = Counter(), [], []
    several = list(pairs(seed, EACH))
    compared = [one for at in range(0, EACH, TOGETHER) for one in compare_bounded(several[at : at + TOGETHER])]
    for (old, new), findings in zip(several, compared, strict=True):
        compatible = None if findings is None else conclude(Level.FULL, Policy.CDC, findings).compatible
        verdicts[compatible] += 1
        if compatible is True:
            try:
                found = refuting(json.dumps(old), json.dumps(new))
            except OverflowError:
                verdicts["too many alternatives"] += 1
                continue
            refuted += [] if found is None else [(json.dumps(old), json.dumps(new), found)]
            forget()
        elif compatible is False:
            told = [one for one in findings if one.severity == BREAKING]
            verdicts["breaks without a message"] += all(one.proof is None for one in told)
            unfounded += [(old, new, one) for one in told if not is_founded(old, new, one)]
    record_property("pairs", f"{EACH} pairs: {dict(verdicts)}, {len(refuted)} refuted")
    assert refuted[:3] == []
    assert unfounded[:3] == []
    assert verdicts["breaks without a message"] < verdicts[False] / 8
    assert verdicts[True] > EACH / 10
    assert verdicts["too many alternatives"] < EACH / 50


OBJECT = {"type": "object"}
EITHER, WHOLE = {"type": ["integer", "string"]}, {"type": "integer"}


@pytest.mark.parametrize("asked", [
    {"required": ["b"]}, {"dependencies": {"c": ["b"]}}, {"minProperties": 2}, {"required": ["b"], "minProperties": 2},
    {"allOf": [{"required": ["b"]}]}, {"anyOf": [{"required": ["b"]}]}, {"if": {}, "then": {"required": ["b"]}},
    {"not": {"maxProperties": 1}}, {"propertyNames": {"pattern": "^[bc]$"}, "minProperties": 2},
    {"patternProperties": {"^b": {}}, "minProperties": 2}, {"not": {"not": {"minProperties": 2}}},
])  # fmt: skip
def test_a_narrower_member_breaks_beside_members_that_no_property_describes(asked):
    """Issue: a member named only in `required` was taken for impossible, so that nothing was ever sent."""
    for around in (lambda row: row, lambda row: {"type": "object", "properties": {"row": row}, "required": ["row"]}):
        old, new = (around({**OBJECT, "properties": {"c": held}, **asked}) for held in (EITHER, WHOLE))
        verdict = validate(old, new)
        assert verdict.compatible is False, verdict
        assert verdict.findings[0].proof is not None
        assert validate(new, old).compatible is False


def test_a_member_that_the_reader_names_and_refuses_is_not_one_that_it_ignores():
    old = {"dependencies": {"bar": []}}
    dependent = {"foo": {"properties": {"bar": {}}, "additionalProperties": False}}
    new = {"properties": {"foo": {}}, "dependencies": dependent}
    verdict = validate(old, new)
    assert verdict.compatible is False
    assert "foo" in verdict.findings[0].proof.message


def test_a_member_beside_a_reference_that_hides_it_is_not_one_that_is_missed():
    shared = {"properties": {"c": {}}, "additionalProperties": False}
    old = {"$schema": DRAFTS[0], "properties": {"a": {}}, "$ref": "#/definitions/shared"}
    old, new = ({**old, "definitions": {"shared": shared, "other": other}} for other in ({}, {"type": "string"}))
    verdict = validate(old, new)
    assert (verdict.compatible, verdict.findings) == (True, ())


@pytest.mark.parametrize("word", ["dependentSchemas", "propertyNames", "not"])
def test_a_reference_that_is_written_alike_may_lead_to_another_schema(word):
    refers = {"$ref": "#/$defs/few"}
    whole = {"$schema": DRAFTS[1], "properties": {"a": {}, "b": {"if": {"required": ["a"]}, "else": False}}}
    whole[word] = {"a": refers} if word == "dependentSchemas" else refers
    strict = {"dependentSchemas": {"maxProperties": 1}, "propertyNames": {"enum": ["a"]}, "not": {"minProperties": 2}}
    old, new = ({**whole, "$defs": {"few": few}} for few in (False if word == "not" else {}, strict[word]))
    assert validate(old, new).compatible is not True
    assert validate(new, old).compatible is not True


def test_alternatives_that_are_written_alike_may_overlap_where_a_reference_leads():
    whole = {"$schema": DRAFTS[1], "not": {"oneOf": [OBJECT, {**OBJECT, "$ref": "#/$defs/few"}]}}
    few = {"maxProperties": 9}
    old, new = ({**whole, "$defs": {"few": one}} for one in ({**few, "not": {}}, few))
    verdict = validate(old, new)
    assert verdict.compatible is False
    assert verdict.findings[0].proof.message == {}


@pytest.mark.parametrize(
    "nothing",
    [{**OBJECT, "properties": {"b": False}, "required": ["b"]}, {"allOf": [{"type": "string"}, WHOLE]}, {"not": {}}],
)
def test_a_schema_that_accepts_nothing_is_never_a_reason_to_pass(nothing):
    for old, new in ((nothing, {**nothing, "title": "x", "minLength": 3}), (nothing, {"allOf": [nothing, OBJECT]})):
        verdict = validate(old, new)
        assert verdict.compatible is None
        assert "accepts no message" in verdict.findings[0].says
        assert {one.severity for one in verdict.findings} == {UNDECIDED}


def test_a_member_is_not_missed_in_messages_that_there_are_not():
    nothing = {**OBJECT, "properties": {"a": WHOLE, "b": False}, "required": ["b"]}
    verdict = validate(nothing, {**OBJECT, "properties": {"b": False}, "required": ["b"]})
    assert verdict.compatible is None
    assert "old accepts no message" in verdict.findings[0].says


@pytest.mark.parametrize("around", [
    lambda row: row,
    lambda row: {**OBJECT, "properties": {"row": row}},
    lambda row: {**OBJECT, "properties": {"rows": {"type": "array", "items": row}}},
])  # fmt: skip
def test_a_member_that_no_message_can_have_is_undecided_when_it_is_removed(around):
    old, new = ({"properties": {"c": EITHER, **more}} for more in ({"a": WHOLE}, {}))
    never = {"not": {"required": ["a"]}}
    verdict = validate(around({**OBJECT, **old, **never}), around({**OBJECT, **new, **never}))
    assert verdict.compatible is None
    assert "accepts no message with" in verdict.findings[0].says
    assert validate(around({**OBJECT, **old}), around({**OBJECT, **new})).compatible is False
