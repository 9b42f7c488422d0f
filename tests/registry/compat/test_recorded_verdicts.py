"""Verdicts that others recorded, compared with ours: every one that differs is answered by a message.

`CDC_RECORDED_VERDICTS` names a directory of such lists, each a JSON file in one of three forms:
* `[{"original_schema", "update_schema", "compatible"}]`: the test data of Confluent's registry;
* `{"tests": [{"original", "updated", "compatibility": "backward" | "both" | "none"}]}`: that of Apicurio's;
* `[{"old", "new", "compatible"}]`: whatever else, with `"type": "AVRO"` where it is Avro.
All are verdicts at level BACKWARD; "backward" of Apicurio says besides that the reverse is not compatible.
"""

import json
import os
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema

RECORDED = os.environ.get("CDC_RECORDED_VERDICTS")
FILES = sorted(Path(RECORDED).glob("*.json")) if RECORDED else []


def pairs_of(document):
    """Return what a list says: old, new, whether they are compatible, and the language."""
    if isinstance(document, dict):
        for test in document["tests"]:
            if test.get("enabled", True):
                said = test["compatibility"]
                yield test["original"], test["updated"], said in {"backward", "both"}, JSON
                yield test["updated"], test["original"], said in {"forward", "both"}, JSON
        return
    for pair in document:
        old, new = (
            pair.get(name, pair.get(other)) for name, other in (("old", "original_schema"), ("new", "update_schema"))
        )
        yield old, new, pair["compatible"], pair.get("type", JSON)


def is_answered(verdict, said):
    """Say whether a verdict that differs has a reason that can be checked, or is what Confluent's rules say."""
    if verdict.compatible is False and said:
        reported = [one for one in verdict.findings if one.severity == BREAKING]
        return any(one.proof is not None or one.confluent_rule for one in reported)
    return verdict.compatible is True


@pytest.mark.skipif(not FILES, reason="CDC_RECORDED_VERDICTS names no directory with lists of verdicts")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_verdict_that_others_recorded_is_reported_here_too_or_answered(path, record_property):
    agreed, answered, open_ = 0, [], []
    for old, new, said, language in pairs_of(json.loads(path.read_text(encoding="utf-8"))):
        sides = [read_schema(json.dumps(one), type=language, name=name) for name, one in (("old", old), ("new", new))]
        verdict = compare_schemas(sides[:1], sides[1], level=Level.BACKWARD, policy=Policy.CONFLUENT_STRICT)
        reported = next((one for one in verdict.findings if one.severity == BREAKING), None)
        shown = reported and (reported.confluent_rule, reported.proof and reported.proof.message)
        if verdict.compatible is said:
            agreed += 1
        else:
            (answered if is_answered(verdict, said) else open_).append((said, verdict.compatible, old, new, shown))
    record_property("pairs", f"{path.stem}: {agreed} agree, {len(answered)} are answered, {len(open_)} are open")
    for one in answered:
        record_property("answered", json.dumps(one))
    assert agreed
    assert open_ == []
