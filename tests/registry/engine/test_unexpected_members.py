"""Members that no contract knows, with arrays and objects of all sorts: read alike in C and in Python, and as fast."""

import json

import pytest
from output_rows import records_of, unlike_columns
from topics import rendered, scope_of

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.native_library import describe_native
from cdc_contracts.registry.core.engine.parse.batch_parser import Parser

TOKENS = (
    '{"a":1e999}', "[1e999]", '{"a":' + "9" * 5_000 + "}", "[" * 60 + "]" * 60, "[" * 70 + "]" * 70,
    '{"a":' * 125 + "1" + "}" * 125, "[" * 130 + "]" * 130, '{"a":"\\ud800"}', '{"a":1,"a":2}', '{"\\u0061":null}',
    '{"topic":"x","dataSourceType":{"b":1}}', "{}", "[]", "null", '"x"', "1", "-0", "1e5", "true",
)  # fmt: skip
REFERENCES = ["oms-community/canal@2", "debezium/json@4", "oms-community/default@2", "dataworks/streamx@1"]


def with_member(value, name, token):
    assert value.endswith(b"}")
    return value[:-1] + f',"{name}":{token}}}'.encode()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_an_unknown_member_of_any_kind_is_read_as_the_reference_reads_it(reference, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    names = ("annex", "source", "metadata")
    values = [
        with_member(value, names[number % 3], TOKENS[number // 3 % len(TOKENS)])
        for number, value in enumerate(rendered(reference, 3 * len(TOKENS), seed=7))
    ]
    assert unlike_columns(scope_of(reference), values) == []


@pytest.mark.skipif(describe_native() != "native", reason="needs the native part")
def test_messages_with_an_unknown_object_are_scanned(monkeypatch):
    parsed = []
    sort = Parser.sort

    def counted(self, values):
        parsed.append(len(values))
        return sort(self, values)

    monkeypatch.setattr(Parser, "sort", counted)
    good = rendered("oms-community/canal@2", 1_500, seed=7)
    values = [with_member(value, "annex", json.dumps({"a": n, "b": [None]})) for n, value in enumerate(good)]
    kernel = Kernel(scope_of("oms-community/canal@2"))
    kernel.audit(records_of(values))
    parsed.clear()
    kernel.audit(records_of(values))
    assert sum(parsed) == 0
