"""The policy cdc against its own meaning: random pairs of schemas, random messages, and jsonschema as the validator.

`CDC_MEANING_PAIRS` is the number of pairs, and `CDC_MEANING_SEED` where their numbers start.
"""

import json
import os
from collections import Counter
from math import sqrt

import jsonschema
import pytest
from cdc_meaning import forget, misses, missing, refuting, sends, takes, takes_by_all_readings
from schema_pairs import DRAFTS, compare_bounded, pairs

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
    conclude,
)
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

PAIRS = int(os.environ.get("CDC_MEANING_PAIRS", "100"))
EACH = min(PAIRS, 250)
TOGETHER = 50
"""Pairs that are compared in one process with limits: starting one takes longer than comparing a pair."""
SEED = int(os.environ.get("CDC_MEANING_SEED", "31"))
SHARE = 0.105
"""The share of these pairs that the comparison leaves undecided, measured on 16,750 of them: 0.102, and what chance adds."""


def most_undecided(pairs):
    """Return how many of some pairs are undecided if the share is what it was: more come by chance once in a million."""
    return SHARE * pairs + 5 * sqrt(SHARE * (1 - SHARE) * pairs)


@pytest.fixture(scope="module")
def whole_run():
    """Counts of all blocks together: a share that grows a little shows only here."""
    counts = Counter()
    yield counts
    assert counts["undecided"] <= most_undecided(counts["pairs"])


def validate(old, new):
    sides = [SchemaDocument(JSON, name, schema, json.dumps(schema)) for name, schema in (("old", old), ("new", new))]
    return compare_schemas(sides[:1], sides[1], level=Level.FULL, policy=Policy.CDC)


def is_founded(old, new, finding):
    """Return whether the message of a finding shows it by the meaning of the policy, and jsonschema confirms it.

    A finding without a message says so. Raises OverflowError if a schema has too many alternatives.
    """
    proof = finding.proof
    if proof is None:
        return "No message was found" in finding.says
    accepts = [jsonschema.validators.validator_for(one)(one).is_valid(proof.message) for one in (old, new)]
    if finding.rule == "C119" and misses(old, new, proof.message):
        return accepts == {REFUSED_BY_NEW: [True, False], READ_DIFFERENTLY: [True, True]}[proof.kind]
    if proof.kind not in (REFUSED_BY_NEW, REFUSED_BY_OLD):
        return False
    writer, reader = (old, new) if proof.kind == REFUSED_BY_NEW else (new, old)
    return (
        accepts == [writer is old, writer is new]
        and sends(json.dumps(writer), proof.message, widely=True)
        and not takes_by_all_readings(json.dumps(reader), proof.message)
    )


@pytest.mark.parametrize("seed", range(SEED, SEED + PAIRS // EACH))
def test_no_message_refutes_what_cdc_calls_compatible_and_one_shows_what_breaks(seed, whole_run, record_property):
    verdicts, refuted, unfounded = Counter(), [], []
    several = list(pairs(seed, EACH))
    compared = [one for at in range(0, EACH, TOGETHER) for one in compare_bounded(several[at : at + TOGETHER])]
    for (old, new), findings in zip(several, compared, strict=True):
        compatible = None if findings is None else conclude(Level.FULL, Policy.CDC, findings).compatible
        verdicts[compatible] += 1
        told = [one for one in findings or () if one.severity == BREAKING]
        verdicts["breaks without a message"] += bool(told) and all(one.proof is None for one in told)
        try:
            if compatible is True:
                sides = json.dumps(old), json.dumps(new)
                found = [one for look in (refuting, missing) if (one := look(*sides)) is not None]
                refuted += [(*sides, found)] if found else []
            unfounded += [(old, new, one) for one in told if not is_founded(old, new, one)]
        except OverflowError:
            verdicts["too many alternatives"] += 1
        forget()
    record_property(
        "pairs", f"{EACH} pairs: {dict(verdicts)}, {len(refuted)} refuted, {len(unfounded)} break without a reason"
    )
    whole_run.update(pairs=EACH, undecided=verdicts[None])
    assert refuted[:3] == []
    assert unfounded[:3] == []
    assert verdicts["breaks without a message"] <= EACH / 50
    assert verdicts[None] <= most_undecided(EACH)
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
def test_a_member_that_no_message_can_have_is_not_missed_when_it_is_removed(around):
    old, new = ({"properties": {"c": EITHER, **more}} for more in ({"a": WHOLE}, {}))
    never = {"not": {"required": ["a"]}}
    verdict = validate(around({**OBJECT, **old, **never}), around({**OBJECT, **new, **never}))
    assert (verdict.compatible, verdict.findings) == (True, ())
    assert validate(around({**OBJECT, **old}), around({**OBJECT, **new})).compatible is False


def test_a_definition_used_at_two_places_is_closed_where_a_member_is_named_beside_it():
    """Issue: seed 3366. The definition was opened for both places, as only what is named at both of them counted."""
    places = {"if": {"properties": {"c": WHOLE}}, "else": {"$ref": "#/$defs/few"}, "then": {"properties": {"x": {"$ref": "#/$defs/few"}}}}  # fmt: skip
    closed = {**places, "$defs": {"few": {"additionalProperties": False}}}
    verdict = validate({}, closed)
    assert verdict.compatible is False
    assert "c" in verdict.findings[0].proof.message
    assert validate(closed, {**closed, "$defs": {"few": {**closed["$defs"]["few"], "title": "few"}}}).compatible is True


def test_a_definition_used_at_two_places_takes_other_members_where_none_is_named_beside_it():
    """Beside the definition at `y` a member `c` is named and refused; at `x` a consumer ignores one."""
    few = {"properties": {"k": {}}, "additionalProperties": False}
    beside = {"allOf": [{"$ref": "#/$defs/few"}, {"properties": {"c": {}}}]}
    new = {**OBJECT, "properties": {"x": {"$ref": "#/$defs/few"}, "y": beside}, "$defs": {"few": few}}
    apart = {"x": {"properties": {"k": {}, "c": {}}}, "y": {"properties": {"k": {}}}}
    for name in "xy":
        found = validate({**OBJECT, "properties": {name: apart[name]}}, new)
        assert {one.rule for one in found.findings if one.direction == "backward"} == set()
    found = validate({**OBJECT, "properties": {"y": apart["x"]}}, new)
    assert (found.compatible, found.findings[0].proof.message) == (False, {"y": {"c": None}})


@pytest.mark.parametrize("more", [
    {"then": {"additionalProperties": False}},
    {"not": {"additionalProperties": False}},
    {"dependencies": {"b": {"additionalProperties": False}}},
    {"anyOf": [{"additionalProperties": False}, {}]},
    {"oneOf": [{"properties": {"b": {}}, "required": ["b"], "additionalProperties": False}, {"required": ["a"]}]},
    {"if": {"properties": {"b": {}}, "additionalProperties": False}, "then": {"required": ["a"]}},
])  # fmt: skip
def test_a_member_that_only_some_messages_may_have_is_not_removed(more):
    """Issue: a part that forbids the member was taken for the whole, even a part that does not always apply."""
    old = {"$schema": DRAFTS[0], **OBJECT, "properties": {"a": WHOLE}, **more}
    assert [one for one in validate(old, {**old, "maxProperties": 9}).findings if one.rule == "C119"] == []


def test_a_member_that_every_message_is_refused_with_is_not_missed():
    old = {**OBJECT, "oneOf": [{"properties": {"a": {}}}], "additionalProperties": False}
    new = {**OBJECT, "additionalProperties": False}
    assert validate(old, new).findings == ()
    assert validate({**OBJECT, "properties": {"a": {}}}, old).compatible is False


def test_a_required_member_that_the_same_schema_refuses_is_not_sent():
    """Issue: closing a schema described the member that it requires and refuses, so that messages with it were sent."""
    old = {**OBJECT, "properties": {"a": {}}, "additionalProperties": False, "required": ["b"]}
    verdict = validate(old, {**old, "properties": {"a": {"allOf": [{"not": {}}]}}})
    assert verdict.compatible is None
    assert all("accepts no message" in one.says for one in verdict.findings)


def test_what_is_refused_is_looked_for_although_a_member_that_no_message_has_is_removed():
    """Issue: a removal that was not decided was the one finding that the caller wanted, and hid one that breaks."""
    never = {"not": {"required": ["a"]}}
    old = {**OBJECT, "properties": {"c": EITHER, "a": WHOLE}, **never}
    new = {**OBJECT, "properties": {"c": WHOLE}, **never}
    sides = [SchemaDocument(JSON, name, schema, json.dumps(schema)) for name, schema in (("old", old), ("new", new))]
    found = compare_schemas(sides[:1], sides[1], level=Level.FULL, policy=Policy.CDC, most=1)
    assert found.compatible is False
    assert found.findings[0].proof.message == {"c": ""}


def test_a_message_with_a_member_that_the_schema_does_not_name_breaks_nothing():
    """Issue: inside a part of a schema objects stay open when it is closed, and a message with any member was a proof."""
    old = {**OBJECT, "properties": {"c": {}}, "anyOf": [{"properties": {"a": {**OBJECT, "properties": {"k": {}}}}}]}
    new = json.loads(json.dumps(old))
    new["anyOf"][0]["properties"]["a"]["properties"]["x"] = WHOLE
    assert validate(old, new).compatible is not False


def test_an_object_that_cannot_be_closed_lets_no_other_object_have_members_that_its_schema_does_not_name():
    """Issue: one object that takes nothing when it is closed let a message have any member anywhere."""
    open_row = {**OBJECT, "properties": {"k": False}, "minProperties": 1}
    row = {**OBJECT, "properties": {"k": {}}}
    old = {**OBJECT, "properties": {"b": open_row}, "anyOf": [{"properties": {"a": row}}]}
    new = {**old, "anyOf": [{"properties": {"a": {**row, "properties": {"k": {}, "x": WHOLE}}}}]}
    assert validate(old, new).compatible is not False
    broken = {**old, "properties": {"b": {**open_row, "additionalProperties": WHOLE}}}
    verdict = validate(old, broken)
    assert (verdict.compatible, verdict.findings[0].proof.message) == (False, {"b": {"other": None}})


def test_a_consumer_may_ignore_members_beside_a_pattern_that_finds_a_member_it_describes():
    """Issue: a closed schema was left closed there, so that a message with any other member was a proof."""
    beside = {"dependencies": {"b": {"patternProperties": {"^x": {}}}}}
    new = {"$schema": DRAFTS[0], **beside, "oneOf": [{"properties": {"x1": {}}, "additionalProperties": False}]}
    verdict = validate({"$schema": DRAFTS[0]}, new)
    assert all("member" not in (one.proof.message or {}) for one in verdict.findings if one.proof)
    assert verdict.compatible is not True


WITH_X = {**OBJECT, "properties": {"x": WHOLE, "k": WHOLE}}
WITHOUT_X = {**OBJECT, "properties": {"k": WHOLE}}


def removed(old, new):
    """Return the places and messages of the members that the new version no longer sends."""
    found = [one for one in validate({**OBJECT, **old}, {**OBJECT, **new}).findings if one.rule == "C119"]
    return [(one.path, one.proof.message if one.proof else None) for one in found]


@pytest.mark.parametrize(("old", "new"), [
    ({"patternProperties": {"^a$": WITH_X}}, {"properties": {"a": WITH_X}}),
    ({"properties": {"a": WITH_X}}, {"properties": {"a": {}}, "patternProperties": {"^a": WITH_X}}),
    ({"properties": {"a": WITH_X}}, {"required": ["a"], "patternProperties": {"^a": WITH_X}}),
    ({"additionalProperties": WITH_X}, {"properties": {"a": WITH_X}, "additionalProperties": WITH_X}),
])  # fmt: skip
def test_a_member_is_not_removed_where_the_new_version_describes_its_holder_by_name_or_by_pattern(old, new):
    """Issue: what a pattern says was compared with what other patterns say, and never with what a name says."""
    assert removed(old, new) == []


@pytest.mark.parametrize(("old", "new", "place", "message"), [
    ({"patternProperties": {"[ab]": WITH_X}}, {"properties": {"a": {**WITHOUT_X, "required": ["x"]}}},
     "/patternProperties/[ab]/properties/x", {"b": {"x": 0}}),
    ({"additionalProperties": WITH_X}, {"properties": {"a": WITHOUT_X}, "additionalProperties": WITH_X},
     "/additionalProperties/properties/x", {"a": {"x": 0}}),
    ({"patternProperties": {"^a$": WITH_X}}, {"patternProperties": {"^a$": WITHOUT_X, "^b": WITH_X}},
     "/patternProperties/^a$/properties/x", {"a": {"x": 0}}),
])  # fmt: skip
def test_the_message_of_a_removal_has_a_name_for_which_the_member_is_removed(old, new, place, message):
    """Issue: seed 4000. The message had the first name that the pattern finds, for which the member was still named."""
    assert (place, message) in removed(old, new)


@pytest.mark.parametrize("other", [{"properties": {"a": False}}, {"properties": {"a": {"type": "string"}}}])
def test_a_member_is_removed_although_one_alternative_refuses_its_holder(other):
    """Issue: seed 4040. What only one alternative refuses was taken for refused, so that nothing inside was missed."""
    new = {"anyOf": [other, {"properties": {"a": WITHOUT_X}}]}
    assert removed({"properties": {"a": WITH_X}}, new) == [("/properties/a/properties/x", {"a": {"x": 0}})]


def test_a_member_is_removed_at_the_second_place_of_a_definition_where_no_message_has_the_first():
    places = {"properties": {name: {"$ref": "#/$defs/row"} for name in "pq"}, "not": {"required": ["p"]}}
    old, new = ({**places, "$defs": {"row": row}} for row in (WITH_X, WITHOUT_X))
    assert removed(old, new) == [("/$defs/row/properties/x", {"q": {"x": 0}})]


def test_a_definition_that_is_tested_and_used_ignores_members_where_it_is_used():
    """Issue: seed 4033. It stayed closed at both places, and a message with any other member was a proof.

    The member `x` makes the condition fail, and is ignored by what is asked then.
    """
    row = {"properties": {"c": {**OBJECT, "properties": {"k": {}}, "additionalProperties": False}}}
    uses = {"$schema": DRAFTS[1], "if": {"$ref": "#/$defs/row"}, "else": {"$ref": "#/$defs/row"}, "$defs": {"row": row}}
    writer = {"$schema": DRAFTS[1], "properties": {"c": {**OBJECT, "properties": {"k": {}, "x": {}}}}}
    found = validate(writer, uses).findings
    assert [one.proof.message for one in found if one.proof and one.rule != "C119"] == []


def test_an_alternative_that_takes_no_object_beside_what_is_asked_ignores_no_member():
    """Issue: seed 4080. It was opened, and members that it refuses made up the number that is asked beside it."""
    asked = {**OBJECT, "minProperties": 1}
    nothing = {**OBJECT, "additionalProperties": False}
    named = {**OBJECT, "properties": {"x": WHOLE}, "required": ["x"]}
    verdict = validate({**asked, "properties": {"x": EITHER}}, {**asked, "anyOf": [named, nothing]})
    assert verdict.compatible is False
    assert {"x": ""} in [one.proof.message for one in verdict.findings if one.proof]


def test_an_object_around_one_that_cannot_be_closed_is_closed():
    """Issue: seed 4086. Both were left open, and a member that the outer schema does not name was in the proof."""
    row = {"properties": {"a": False, "c": {}}, "minProperties": 2}
    old = {**OBJECT, "properties": {"b": row}, "required": ["b"]}
    verdict = validate(old, {**old, "patternProperties": {"1$": False}})
    assert (verdict.compatible, verdict.findings) == (True, ())


def test_an_alternative_of_one_keyword_refuses_what_the_alternatives_of_another_name():
    """Issue: seed 4180. It was opened for the member, as alternatives of both keywords were taken to exclude each other."""
    new = {**OBJECT, "oneOf": [{"additionalProperties": False}], "anyOf": [{"properties": {"x": {}}}]}
    verdict = validate({**OBJECT, "properties": {"x": {}}}, new)
    assert (verdict.compatible, verdict.findings[0].proof.message) == (False, {"x": None})


def text(schema):
    return json.dumps({"$schema": DRAFTS[1], **schema})


def test_a_producer_sends_what_fits_one_alternative_also_if_two_inside_another_one_fit():
    """Issue: seed 4247. With one of the two chosen the other alternative fitted too."""
    assert sends(text({"oneOf": [{}, {"oneOf": [{}, {"properties": {"b": {}}}]}]}), {})


def test_an_object_whose_members_have_names_that_are_refused_may_have_others():
    """Issue: seed 4139. The comparison leaves open what would be empty if it were closed."""
    misfit = text({"properties": {"a": {}}, "propertyNames": {"pattern": "^x"}})
    assert sends(misfit, {"x": 0}, widely=True)
    assert not sends(misfit, {"x": 0})
    assert not sends(text({"properties": {"x1": {}}, "propertyNames": {"pattern": "^x"}}), {"x": 0}, widely=True)


@pytest.mark.parametrize(("reader", "message", "fewer"), [
    ({"properties": {"c": {}}, "minProperties": 1, "oneOf": [{"maxProperties": 1}, {"additionalProperties": False}]},
     {"c": 0, "m": 0}, {"c": 0}),
    ({"if": {"minProperties": 2}, "then": {"additionalProperties": False}, "else": {"properties": {"a": {}}}},
     {"a": 0, "m": 0}, {"m": 0}),
])  # fmt: skip
def test_a_consumer_that_counts_the_members_it_ignores_refuses_those_that_are_named_and_refused(reader, message, fewer):
    """Issue: seeds 4308 and 4311. Members that are named elsewhere were ignored with those that are named nowhere."""
    assert not takes_by_all_readings(text(reader), message)
    assert takes_by_all_readings(text(reader), fewer)


def test_a_consumer_accepts_with_a_member_it_ignores_what_it_would_refuse_without():
    """Issue: seed 4180. Only messages without the member were tried."""
    assert takes(text({"not": {"additionalProperties": False}, "additionalProperties": False}), {"b": 0})
    assert not takes(text({"minProperties": 1, "additionalProperties": False}), {"b": 0})


def test_members_that_a_consumer_ignores_count_where_it_names_as_many_as_are_asked_for_beside_it():
    """Issue: seed 10172. Only names in the schema that counts the members were seen, not those beside it."""
    old = {**OBJECT, "properties": {"c": {}}, "additionalProperties": False, "allOf": [{"minProperties": 1}]}
    assert takes(text(old), {"a": ""})
    assert validate(old, {**old, "properties": {"c": {}, "a": {}}}).compatible is True
    fewer = {**old, "allOf": [{"minProperties": 2}]}
    assert not takes(text(fewer), {"a": "", "b": ""})
    assert validate({**fewer, "properties": {"c": {}, "a": {}}}, fewer).compatible is not True


@pytest.mark.parametrize("around", [
    lambda parts: {"properties": {"x": {}}, "anyOf": parts},
    lambda parts: {"properties": {"x": {}}, "anyOf": [{"anyOf": parts}]},
    lambda parts: {"properties": {"x": {}}, "allOf": [{"anyOf": parts}]},
    lambda parts: {"properties": {"x": {}, "row": {"properties": {"x": {}}, "anyOf": parts}}},
])  # fmt: skip
def test_a_producer_sends_no_member_that_only_an_alternative_names_that_the_message_does_not_fit(around):
    """Issue: seed 10065. The names of all alternatives counted, and a message that fits one had members of another."""
    another = {"properties": {"c": {}}, "required": ["a"]}
    old, new = (around([{"properties": {"k": {}, **more}}, another]) for more in ({}, {"c": WHOLE}))
    verdict = validate(old, new)
    assert verdict.compatible is not False, verdict
    narrower = around([{"properties": {"k": WHOLE}}, another])
    assert validate(old, narrower).compatible is False
