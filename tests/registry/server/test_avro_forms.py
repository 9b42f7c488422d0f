"""Avro schemas are kept as the parser of Java writes them."""

from __future__ import annotations

import json
import os

import patient
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from cdc_contracts.registry.authoring.sync.publications import publish_version
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.schema.avro_types.parsing_form import as_java_writes, avro_form
from cdc_contracts.registry.core.schema.schema_documents import AVRO
from cdc_contracts.registry.server.store.schema_content import make_content
from cdc_contracts.spark_checks.spark.jars import find_java, spark_home

WRITTEN = {
    '{"type":"int","name":"x"}': '"int"',
    '{"type":"int","name":"x","doc":"y","aliases":["z"],"size":3}': '"int"',
    '{"type":"string","avro.java.string":"String"}': '{"type":"string","avro.java.string":"String"}',
    '{"logicalType":"decimal","scale":2,"type":"bytes","precision":9}': (
        '{"type":"bytes","logicalType":"decimal","scale":2,"precision":9}'
    ),
    '["null",{"type":"long"}]': '["null","long"]',
    '{"items":{"type":"string"},"type":"array","name":"a","x":1}': '{"type":"array","items":"string","x":1}',
    '{"values":["null","int"],"type":"map","doc":"d"}': '{"type":"map","values":["null","int"]}',
    '{"name":"shop.Order","type":"record","fields":[]}': (
        '{"type":"record","name":"Order","namespace":"shop","fields":[]}'
    ),
    '{"namespace":"other","name":"shop.Order","type":"record","fields":[]}': (
        '{"type":"record","name":"Order","namespace":"shop","fields":[]}'
    ),
    '{"aliases":["Old","shop.Older","far.Oldest","Old"],"x":{"b":1,"a":[2]},"doc":"d","fields":[],"name":"Order",'
    '"type":"record","namespace":"shop"}': (
        '{"type":"record","name":"Order","namespace":"shop","doc":"d","fields":[],"x":{"b":1,"a":[2]},'
        '"aliases":["Old","Older","far.Oldest"]}'
    ),
    '{"type":"enum","default":"A","name":"E","symbols":["A","B"],"order":"x","aliases":[]}': (
        '{"type":"enum","name":"E","symbols":["A","B"],"default":"A","order":"x"}'
    ),
    '{"type":"fixed","name":"F","size":3,"default":"A"}': '{"type":"fixed","name":"F","size":3,"default":"A"}',
    '{"type":"record","name":"r","fields":[{"order":"ascending","aliases":["b","c"],"default":null,"x":true,'
    '"type":["null","int"],"doc":"d","name":"a"},{"name":"e","type":"int","order":"DESCENDING"},'
    '{"name":"f","type":{"type":"int"},"order":"ignore","default":7,"aliases":[]}]}': (
        '{"type":"record","name":"r","fields":[{"name":"a","type":["null","int"],"doc":"d","default":null,'
        '"aliases":["b","c"],"x":true},{"name":"e","type":"int","order":"descending"},'
        '{"name":"f","type":"int","default":7,"order":"ignore"}]}'
    ),
    '{"type":"record","name":"a.R","fields":['
    '{"name":"same","type":{"type":"enum","name":"E","namespace":"a","symbols":["A"]}},'
    '{"name":"again","type":"a.E"},{"name":"short","type":"E"},{"name":"it","type":["null","a.R"]},'
    '{"name":"other","type":{"type":"record","name":"b.S","fields":[{"name":"e","type":"a.E"},'
    '{"name":"n","type":{"type":"fixed","name":"N","namespace":"","size":1}}]}},'
    '{"name":"far","type":{"type":"b.S"}}]}': (
        '{"type":"record","name":"R","namespace":"a","fields":['
        '{"name":"same","type":{"type":"enum","name":"E","symbols":["A"]}},'
        '{"name":"again","type":"E"},{"name":"short","type":"E"},{"name":"it","type":["null","R"]},'
        '{"name":"other","type":{"type":"record","name":"S","namespace":"b","fields":[{"name":"e","type":"a.E"},'
        '{"name":"n","type":{"type":"fixed","name":"N","namespace":"","size":1}}]}},'
        '{"name":"far","type":"b.S"}]}'
    ),
    '{"type":"record","name":"Uni","doc":"注文 \\u00e9 \\u001f \\"/\\\\u00ff","fields":[]}': (
        '{"type":"record","name":"Uni","doc":"注文 é \\u001F \\"/\\\\u00ff","fields":[]}'
    ),
    '{"type":"record","name":"a.R","fields":[{"name":"e","type":{"type":"error","name":"X","doc":"d","fields":[]}}]}': (
        '{"type":"record","name":"R","namespace":"a","fields":'
        '[{"name":"e","type":{"type":"error","name":"X","doc":"d","fields":[]}}]}'
    ),
}
"""How schemas are written, and how Java writes them."""


def written(text):
    return make_content(AVRO, text, (), None, None, context=".", normalize=False).text


@pytest.mark.parametrize("text", WRITTEN)
def test_a_schema_is_written_as_java_writes_it(text):
    assert written(text) == WRITTEN[text]


@pytest.mark.parametrize("text", WRITTEN)
def test_what_was_written_is_written_the_same_again(text):
    assert written(WRITTEN[text]) == WRITTEN[text]


@pytest.mark.parametrize("text", WRITTEN)
def test_all_spellings_are_one_schema(text):
    both = [make_content(AVRO, one, (), None, None, context=".", normalize=False) for one in (text, WRITTEN[text])]
    assert both[0] == both[1]


@pytest.mark.parametrize("value", [None, 7, [], {}, {"a": 1}, [{"a": 1}], {"type": None}, {"type": {"a": 1}},
                                   {"type": "record", "fields": [1, {}]}, {"type": "array", "items": {"a": 1}}])  # fmt: skip
def test_what_is_no_schema_has_a_form_too(value):
    """Digests are taken of whatever a folder or another registry holds."""
    as_java_writes(avro_form(value))


@pytest.fixture(scope="module")
def parse():
    """A function that has Java parse a schema and write it."""
    port, process = launch_gateway(
        classpath=os.pathsep.join(str(path) for path in (spark_home() / "jars").glob("*.jar")),
        javaopts=["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"],
        java_path=find_java(),
        die_on_exit=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    avro = gateway.jvm.org.apache.avro

    def written_by_java(text):
        try:
            return avro.Schema.Parser(avro.NameValidator.NO_VALIDATION).parse(text).toString()
        except Py4JJavaError as error:
            return error.java_exception.toString()

    yield written_by_java
    gateway.shutdown()
    process.stdin.close()  # it ends with its standard input
    process.wait(patient.SECONDS)


@pytest.mark.java
@pytest.mark.parametrize("text", WRITTEN)
def test_java_writes_it_so(parse, text):
    assert parse(text) == WRITTEN[text]


@pytest.mark.java
def test_java_writes_the_contracts_as_they_are_kept(parse):
    texts = [
        publication.text
        for version in shipped_catalogue().all_versions()
        for publication in publish_version(version)
        if publication.key.type == AVRO
    ]
    assert len(texts) > 20
    for text in texts:
        assert parse(text) == written(text)
        assert json.loads(text).keys() == json.loads(written(text)).keys()
