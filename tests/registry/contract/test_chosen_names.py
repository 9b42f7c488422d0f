"""Parameters that are names: messages whose members and op codes a user has called otherwise."""

import json

import pytest
from output_rows import unlike_columns
from topics import CATALOGUE, samples

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.contract.bundle import Bundle, bundle
from cdc_contracts.registry.core.contract.chosen_names import apply_names
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.pinned_contracts import open_pin, write_pin
from cdc_contracts.registry.core.validate.validation_context import open_validation

MEMBERS = {
    "table": "tbl", "op_type": "op", "op_ts": "at", "current_ts": "now", "pos": "scn", "primary_keys": "pk",
    "tokens": "env", "before": "old-row", "after": "new.row",
}  # fmt: skip
CODES = {"I": "new", "U": "mod", "D": "del", "T": "cut"}
ALL = {
    "table_member": "tbl", "op_member": "op", "op_time_member": "at", "current_time_member": "now",
    "position_member": "scn", "keys_member": "pk", "tokens_member": "env", "before_member": "old-row",
    "after_member": "new.row", "insert_code": "new", "update_code": "mod", "delete_code": "del",
    "truncate_code": "cut",
}  # fmt: skip


def renamed(value):
    """A message of GoldenGate as a user names its members and op codes."""
    message = parse_message(value)
    named = {MEMBERS.get(name, name): below for name, below in message.items()}
    if isinstance(named.get("op"), str):
        named["op"] = CODES.get(named["op"], named["op"])
    return write_json(named).encode()


def opened(contract, parameters):
    catalogue, rest, _ = apply_names(CATALOGUE, parameters)
    return open_validation(catalogue, contract, ReadingOptions(parameters=rest))


def shown(validated):
    return validated.verdict.outcome, validated.changes, [one.rule for one in validated.verdict.findings]


@pytest.mark.parametrize("contract", ["goldengate/json@1", "goldengate/json-row@1"])
def test_messages_are_read_as_those_with_the_names_of_the_document(contract):
    plain, chosen = opened(contract, {}), opened(contract, ALL)
    values = [value for value in samples(CATALOGUE.version(contract)) if value.lstrip().startswith(b"{")]
    values = [value for value in values if plain.validate(value).verdict.outcome != "unreadable"]
    assert len(values) > 10
    for value in values:
        assert shown(chosen.validate(renamed(value))) == shown(plain.validate(value))
    assert unlike_columns(chosen, list(map(renamed, values)), Kernel(chosen)) == []


def test_a_member_is_renamed_with_what_is_written_of_it_everywhere():
    catalogue, rest, _ = apply_names(CATALOGUE, {"op_member": "op", "time_zone": "+08:00"})
    version = catalogue.version("goldengate/json@1")
    assert rest == {"time_zone": "+08:00"}
    assert (version.meaning.envelope.op.at, "/op_type" in json.dumps(version.resolved)) == ("/op", False)
    assert "op" in version.schema["properties"]
    assert "op_type" not in version.schema["required"]
    assert [field["name"] for field in version.avro_schema["fields"]].count("op") == 1
    assert "op_member" not in version.meaning.names
    assert catalogue.version("dts/canal@2").fingerprint == CATALOGUE.version("dts/canal@2").fingerprint


def test_the_row_before_an_update_has_the_name_that_the_endpoint_gives_it():
    message = {
        "data": {"id": 1, "qty": 2}, "old-values": {"id": 1, "qty": 1},
        "metadata": {"timestamp": "2024-06-10T06:13:20.000000Z", "record-type": "data", "operation": "update",
                     "partition-key-type": "primary-key", "schema-name": "shop", "table-name": "orders"},
    }  # fmt: skip
    value = json.dumps(message).encode()
    (change,) = opened("aws-dms/json@1", {"before_member": "old-values"}).validate(value).changes
    assert (change.before, change.after) == ({"id": "1", "qty": "1"}, {"id": "1", "qty": "2"})
    assert opened("aws-dms/json@1", {}).validate(value).changes[0].before is None


def test_null_values_that_are_deletions_stand_for_the_names_that_were_chosen():
    files = {**bundle(CATALOGUE).files}
    files["ticdc/avro/v1/contract.yaml"] += "names: {op_member: {member: /_tidb_op}, delete_code: {op_code: d}}\n"
    catalogue, _, _ = apply_names(Bundle(files).open(), {"op_member": "op", "delete_code": "gone"})
    validation = open_validation(catalogue, "ticdc/avro@1", ReadingOptions())
    message = parse_message(validation.message_of(None, b'{"payload":{"id":7}}'))
    assert (message["op"], sorted(message)) == ("gone", ["op", "payload"])


def test_an_op_code_is_renamed_in_lists_of_codes_and_flags_too():
    files = {**bundle(CATALOGUE).files}
    name = "goldengate/json/v1/contract.yaml"
    files[name] = files[name].replace("at: /op_type", "at: /op_type, flags: [{at: /op_type, is: I, means: insert}]", 1)
    files[name] += "enums: {/op_type: [I, U]}\n"
    catalogue, _, _ = apply_names(Bundle(files).open(), {"insert_code": "INS", "op_member": "op"})
    meaning = catalogue.version("goldengate/json@1").meaning
    (flag,) = meaning.envelope.op.flags
    assert (flag.at, flag.equals, meaning.enums) == ("/op", "INS", {"/op": ("INS", "U")})


def test_a_run_is_repeated_by_the_names_that_it_was_started_with():
    validation = opened("goldengate/json@1", ALL)
    again = open_pin(write_pin(validation), "pin.json")
    assert again.fingerprint == validation.fingerprint
    assert again.validated[0].meaning.envelope.op.at == "/op"


def test_nothing_is_read_where_no_parameter_is_a_name():
    for parameters in ({}, {"time_zone": "Z"}, {"decimal.handling.mode": "string"}, {"op_membr": "op"}):
        catalogue, rest, _ = apply_names(CATALOGUE, parameters)
        assert (catalogue is CATALOGUE, rest) == (True, parameters)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"op_member": "table"}, "`table` is the name of another member or op code"),
        ({"op_member": ""}, "the name is empty"),
        ({"insert_code": "D"}, "`D` is the name of another member or op code"),
    ],
)
def test_a_name_that_another_one_has_is_refused(parameters, said):
    with pytest.raises(UsageError, match=said):
        apply_names(CATALOGUE, parameters)
