"""The contract document refuses what is not in the vocabulary, and keeps what is."""

from __future__ import annotations

import copy
from typing import get_args

import pytest
from pydantic import ValidationError

from cdc_contracts.registry.core.common.rule_modules import DRIFT_NOTES, DRIFT_RULES, find_records
from cdc_contracts.registry.core.contract import discriminator_model
from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.discriminator_model import Evidence
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace, Place
from cdc_contracts.registry.core.contract.image_model import Images
from cdc_contracts.registry.core.contract.model import Meaning, Note, Rule
from cdc_contracts.registry.core.validate.drift_rule import DriftRule

WHOLE = {
    "contract": "acme/plain@1",
    "applies": {"until": "2.0", "counted_from": "product-version"},
    "status": "current",
    "transport": "json",
    "provenance": {"document": "guide.txt"},
    "envelope": {"op": {"at": "/kind"}, "table": {"at": "/tab"}},
    "ops": {"add": "insert", "change": "update", "beat": "heartbeat"},
    "images": {
        "container": "object",
        "insert": {"after": {"at": "/new"}},
        "update": {"before": {"at": "/old", "completed_from": "/new"}, "after": {"at": "/new", "or": "/row"}},
    },
    "columns": {"types": "none"},
    "values": {"mapping": {"by": "/mode", "map": {"A": "one", "mysql": "one", "Oracle": "two"}, "else": "parameter"}},
    "rules": ["columns-typed"],
    "discriminators": [{"present": "/kind"}, {"any": [{"absent": "/x"}, {"in": "/kind", "values": ["add"]}]}],
    "full_load": "own-op",
}


def test_a_whole_contract_is_read():
    meaning = Meaning.model_validate(WHOLE)
    assert meaning.images.of("update").after.either == "/row"
    assert meaning.images.of("update-before") is None
    assert meaning.images.pointers() == ("/new", "/old", "/row")
    assert meaning.values.mapping_for("a", None) == "one"
    assert meaning.values.mapping_for("B", None) == "one"
    assert meaning.values.mapping_for(None, "oracle") == "two"
    assert meaning.discriminators[1].any[1].within == "/kind"


def test_a_contract_is_frozen():
    meaning = Meaning.model_validate(WHOLE)
    with pytest.raises(ValidationError):
        meaning.status = "legacy"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("extra",), 1),
        (("status",), "old"),
        (("transport",), "xml"),
        (("applies", "from"), "1.0"),
        (("applies", "counted_from"), "moon-phase"),
        (("envelope", "op", "at"), "kind"),
        (("envelope", "op", "flags"), [{"at": "/x", "is": True, "means": "nothing"}]),
        (("envelope", "table"), {}),
        (("envelope", "table", "split"), "by-colon"),
        (("envelope", "event_time"), {"at": "/t", "form": "epoch"}),
        (("ops", "drop"), "remove"),
        (("ops", "drop"), "delete"),
        (("images", "container"), "tree"),
        (("images", "update", "after", "under"), "/x"),
        (("columns", "types"), "some"),
        (("values", "mapping"), {"by": "/mode"}),
        (("rules",), ["no-such-rule"]),
        (("notes",), ["columns-typed"]),
        (("parameters",), ["zone"]),
        (("discriminators",), [{"present": "/a", "absent": "/b"}]),
        (("discriminators",), [{}]),
        (("discriminators",), [{"any": [{"any": [{"present": "/a"}]}]}]),
        (("version_evidence",), [{"image-of": "deletion", "at": "/old"}]),
        (("undocumented",), ["everything"]),
        (("full_load",), "sometimes"),
        (("full_load",), None),
    ],
)
def test_what_the_vocabulary_does_not_have_is_refused(path, value):
    document = copy.deepcopy(WHOLE)
    step = document
    for part in path[:-1]:
        step = step[part]
    step[path[-1]] = value
    with pytest.raises(ValidationError):
        Meaning.model_validate(document)


@pytest.mark.parametrize("key", sorted(set(WHOLE)))
def test_every_part_of_it_is_needed(key):
    with pytest.raises(ValidationError):
        Meaning.model_validate({name: value for name, value in WHOLE.items() if name != key})


def test_an_op_that_only_a_flag_leads_to_needs_images_too():
    document = copy.deepcopy(WHOLE)
    document["envelope"]["op"]["flags"] = [{"at": "/full", "is": True, "means": "snapshot"}]
    with pytest.raises(ValidationError, match="op snapshot is reachable"):
        Meaning.model_validate(document)


def with_envelope(**places):
    return WHOLE | {"envelope": WHOLE["envelope"] | places}


def test_key_columns_come_from_the_kafka_key():
    place = {"from": "kafka-key", "at": "/payload", "not_columns": ["shard"]}
    envelope = Meaning.model_validate(with_envelope(primary_key=place)).envelope
    assert (envelope.key_place, envelope.primary_key.in_value) == (KeyPlace("/payload", ("shard",)), None)
    inside = Meaning.model_validate(with_envelope(primary_key={"at": "/keys", "as": "list"})).envelope
    assert (inside.key_place, inside.primary_key.in_value) == (None, "/keys")


@pytest.mark.parametrize(
    ("places", "what"),
    [
        ({"primary_key": {"from": "kafka-key"}}, "needs `at` beside `from: kafka-key`"),
        (
            {"primary_key": {"from": "kafka-key", "at": "", "as": "list"}},
            "takes only `at`, `not_columns` and `json_texts` beside `from: kafka-key`",
        ),
        ({"primary_key": {"at": "/keys", "not_columns": ["v"]}}, "`not_columns` is for `from: kafka-key`"),
        ({"position": {"from": "kafka-key", "at": "/id"}}, "only `primary_key` is read from it"),
        (
            {"primary_key": {"from": "kafka-key", "at": ""}, "primary_key_values": {"at": "/k", "as": "joined-u0001"}},
            "`primary_key_values` must not stand beside a Kafka key",
        ),
    ],
)
def test_nothing_but_key_columns_comes_from_the_kafka_key(places, what):
    with pytest.raises(ValidationError, match=what):
        Meaning.model_validate(with_envelope(**places))


def test_names_of_the_vocabulary_are_read_by_their_own_spelling():
    assert Place.model_validate({"at": "/k", "as": "joined-u0001"}).reading == "joined-u0001"
    assert Place.model_validate({"from": "topic-or-table-option"}).source == "topic-or-table-option"
    assert Evidence.model_validate({"value-form": "BIT", "is": "bit-hex"}).is_form == "bit-hex"
    assert (
        discriminator_model.Test.model_validate({"not-prefix-of": "/a", "at": "/b", "then": "-"}).not_prefix_of == "/a"
    )
    assert Images.model_validate({"container": "object", "update-after": {}}).of("update-after") is not None


def test_a_mapping_keeps_texts_or_names_a_literal():
    mapping = MappingDocument.model_validate(
        {"mapping": "m", "invalid": {"sql-date": "keep-text", "x": {"literal": "0"}}}
    )
    assert mapping.invalid == {"sql-date": "keep-text", "x": {"literal": "0"}}
    with pytest.raises(ValidationError):
        MappingDocument.model_validate({"mapping": "m", "invalid": {"sql-date": "drop"}})


def test_every_rule_and_note_of_the_vocabulary_is_carried_out():
    assert set(get_args(Rule)) == {rule.name for rule in find_records(DRIFT_RULES, DriftRule)}
    assert set(get_args(Note)) == {rule.name for rule in find_records(DRIFT_NOTES, DriftRule)}
