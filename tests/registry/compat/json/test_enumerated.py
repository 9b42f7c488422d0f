"""Small schemas of all forms, each compared with each, and validated by all values that they can tell apart.

What is called compatible is refuted by no value, and what a value refutes is called so; what breaks without one,
breaks by a name that Confluent gives it. Two validators say which values a schema takes. `CDC_ALL_PAIRS=1` compares all pairs, else every so many-th.
"""

import json
from itertools import permutations, product

import pytest
from small_schemas import ALL, FAMILIES, NAMES, NUMBER, TEXT, takes, validate

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE
from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import read_document
from cdc_contracts.registry.authoring.compat.json_schema.closing import close_schema
from cdc_contracts.registry.authoring.compat.json_schema.opening import open_both_ways
from cdc_contracts.registry.authoring.compat.levels import Policy
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema


def row(*names):
    return {"type": "object", "properties": dict.fromkeys(names, TEXT)}


def referring(draft, names):
    """Ways in which a schema may say that a member is a row with these members."""
    word, key = ("$defs", "$id") if draft in {"2019", "2020"} else ("definitions", "id" if draft == "4" else "$id")
    root = {key: "https://example.org/a/root.json"}
    yield {"properties": {"r": row(*names)}}
    yield {"properties": {"r": {"$ref": f"#/{word}/row"}}, word: {"row": row(*names)}}
    yield {**root, "properties": {"r": {"$ref": f"root.json#/{word}/row"}}, word: {"row": row(*names)}}
    yield {**root, "properties": {"r": {"$ref": "row.json"}}, word: {"row": {key: "row.json", **row(*names)}}}
    inner = {key: "b/row.json", "allOf": [{"$ref": f"#/{word}/in"}], word: {"in": row(*names)}}
    yield {**root, "properties": {"r": {"$ref": "b/row.json"}}, word: {"row": inner, "in": NUMBER}}
    anchor = {"$anchor": "row"} if draft in {"2019", "2020"} else {key: "#row"}
    yield {"properties": {"r": {"$ref": "#row"}}, word: {"row": {**anchor, **row(*names)}}}
    yield {"properties": {"r": {"allOf": [row(name) for name in names]}}}
    yield {"properties": {"r": {**row(*names[:1]), "allOf": [row(*names[1:])]}}}
    if draft in {"2019", "2020"}:
        yield {"properties": {"r": {**row(*names[:1]), "$ref": f"#/{word}/row"}}, word: {"row": row(*names[1:])}}
        yield {**root, word: {"row": {"$id": "b/", "$ref": "row.json"}, "in": {"$id": "b/row.json", **row(*names)}},
               "properties": {"r": {"$ref": f"#/{word}/row"}}}  # fmt: skip


def meant(schema):
    """Return what a producer sends by a schema, and what a consumer takes, as schemas."""
    document = read_document(read_schema(json.dumps(schema), type=JSON, name="x"))
    return close_schema(document).value, open_both_ways(document)[0].value


@pytest.mark.parametrize("name", FAMILIES)
def test_each_verdict_on_two_small_schemas_is_borne_out_by_all_values(name, record_property):
    draft, schemas, values, step = FAMILIES[name]
    schemas = [{"$schema": NAMES[draft], **one} for one in schemas()]
    pairs = list(permutations(schemas, 2))[:: 1 if ALL else step]
    wrong, undecided = [], 0
    for old, new in pairs:
        lost = takes(name, json.dumps(old)) - takes(name, json.dumps(new))
        both = [(takes(name, json.dumps(sent)), takes(name, json.dumps(read)))
                for (sent, _), (_, read) in permutations([meant(old), meant(new)])]  # fmt: skip
        for policy in Policy:
            verdict = validate(old, new, policy)
            refuted = lost if policy is not Policy.CDC else {number for sent, read in both for number in sent - read}
            named = any(one.confluent_rule and one.severity == BREAKING for one in verdict.findings)
            tolerated = any(one.severity == NOTE for one in verdict.findings)
            removed = any(one.rule == "C119" for one in verdict.findings)
            wanted = not refuted
            if wanted and verdict.compatible is None:
                undecided += 1
            elif verdict.compatible is not wanted and not (
                (verdict.compatible is False and (named if policy is not Policy.CDC else removed))
                or (tolerated and policy is Policy.CONFLUENT_LENIENT)
            ):
                wrong.append((verdict.compatible, policy.value, old, new, [values[one] for one in sorted(refuted)[:1]]))
    record_property(
        "pairs", f"{name}: {len(pairs)} pairs by {len(Policy)} policies, {len(wrong)} wrong, {undecided} undecided"
    )
    assert len(pairs) > 50
    assert wrong[:3] == []
    assert undecided <= len(pairs) / 200


@pytest.mark.parametrize("draft", NAMES)
def test_a_member_that_is_gone_is_missed_however_either_version_says_what_it_has(draft):
    """By the policy cdc, whichever way of referring or combining the old and the new version uses."""
    schema = {"$schema": NAMES[draft]}
    for old, new in product(referring(draft, ["k", "x"]), referring(draft, ["k"])):
        verdict = validate({**schema, **old}, {**schema, **new}, Policy.CDC)
        told = [one for one in verdict.findings if one.rule == "C119"]
        assert (verdict.compatible, len(told)) == (False, 1), (old, new)
        assert told[0].path.endswith("/properties/x"), (old, new)
        assert told[0].proof.message["r"].keys() == {"x"}, (old, new)


@pytest.mark.parametrize("draft", NAMES)
def test_the_same_members_are_the_same_however_either_version_says_what_it_has(draft):
    schema = {"$schema": NAMES[draft]}
    for old, new in permutations(referring(draft, ["k", "x"]), 2):
        verdict = validate({**schema, **old}, {**schema, **new}, Policy.CDC)
        assert (verdict.compatible, verdict.findings) == (True, ()), (old, new)


@pytest.mark.parametrize("draft", NAMES)
def test_a_narrower_member_is_reported_at_the_member_however_it_is_reached(draft):
    schema = {"$schema": NAMES[draft]}
    for old, new in zip(referring(draft, ["k", "x"]), referring(draft, ["k", "x"]), strict=True):
        text = json.dumps({**schema, **new}).replace(
            json.dumps({"k": TEXT, "x": TEXT}), json.dumps({"k": TEXT, "x": NUMBER})
        )
        narrowed = json.loads(text.replace(json.dumps({"x": TEXT}), json.dumps({"x": NUMBER})))
        for policy in Policy:
            verdict = validate({**schema, **old}, narrowed, policy)
            assert verdict.compatible is False, (policy, old, narrowed)
            assert verdict.findings[0].rule != "C118", (policy, old, narrowed)
            assert isinstance(verdict.findings[0].proof.message["r"]["x"], str)


@pytest.mark.parametrize("word", ["exclusiveMinimum", "exclusiveMaximum"])
def test_a_flag_where_later_drafts_have_a_limit_means_draft_4(word):
    limit = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[word]
    old, new = ({"properties": {"a": {limit: 5, **more}}} for more in ({}, {word: True}))
    assert validate(new, old, Policy.CONFLUENT_STRICT).compatible is True
    verdict = validate(old, new, Policy.CONFLUENT_STRICT)
    assert (verdict.compatible, verdict.findings[0].proof.message) == (False, {"a": 5})


def test_a_refusal_that_no_single_keyword_shows_is_shown_by_the_schemas_as_wholes():
    draft = {"$schema": NAMES["2020"], "type": "array", "contains": {"const": "a"}}
    old = {**draft, "items": False, "minContains": 0}
    new = {**draft, "prefixItems": [NUMBER, TEXT], "items": TEXT}
    *_, last = validate(old, new, Policy.CONFLUENT_STRICT).findings
    assert (last.rule, last.proof.message) == ("C117", [])
