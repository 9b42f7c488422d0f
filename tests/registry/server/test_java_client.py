"""What a Java client does with the registry: Spring's, for Confluent's own is not on Maven Central."""

from __future__ import annotations

import contextlib
import json

import pytest
from java import running_jvm
from py4j.protocol import Py4JJavaError
from registry_servers import ServerProcess
from registry_sites import serving_site

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.spark_checks.spark.jars import fetch_jars, find_java

CLIENT = (  # the client, and newer versions of what it was built with
    "org.springframework.cloud:spring-cloud-stream-schema:2.2.1.RELEASE",
    "org.springframework:spring-web:5.3.39",
    "com.fasterxml.jackson.core:jackson-databind:2.18.2",
)
UNUSED = ("spring-boot-starter-web",)  # a whole web server

ORDER = """{
  "type": "record", "name": "Order", "namespace": "shop", "doc": "Bestellung, 注文, \\"order\\"",
  "fields": [{"name": "id", "type": "long"}]
}"""
NEWER_ORDER = ORDER.replace("}]", '}, {"name": "note", "type": "string", "default": ""}]')
ORDER_OF_TEXT = ORDER.replace("long", "string")


@pytest.fixture(scope="module")
def java():
    """A Java virtual machine that has the client's classes."""
    try:
        program, jars = find_java(), fetch_jars(CLIENT, without=UNUSED, say=print)
    except UnavailableError as error:
        pytest.skip(f"no Java client here: {error.what}")
    with running_jvm(program, jars) as jvm:
        yield jvm


@pytest.fixture(scope="module")
def address(java, tmp_path_factory):
    folder = tmp_path_factory.mktemp("registry")
    with contextlib.closing(ServerProcess(f"sqlite:///{folder}/registry.db")) as server:
        server.start().wait()
        yield server.address


@pytest.fixture
def new_client(java):
    """A function that returns a client of the registry at an address."""

    def make(address):
        client = java.org.springframework.cloud.stream.schema.client.ConfluentSchemaRegistryClient()
        client.setEndpoint(address)
        return client

    return make


@pytest.fixture
def client(new_client, address):
    return new_client(address)


@pytest.fixture
def reference(java):
    """A function that names a version of a subject as the client wants it."""
    return lambda subject, version: java.org.springframework.cloud.stream.schema.SchemaReference(
        subject, version, "avro"
    )


def error_of(call, *arguments):
    """The Java exception that a call ends with."""
    with pytest.raises(Py4JJavaError) as failure:
        call(*arguments)
    return failure.value.java_exception


def name_of(exception):
    return exception.getClass().getSimpleName()


def test_a_schema_is_registered_once_and_found_by_its_id_and_by_its_version(client, reference):
    first = client.register("orders ü-value", "avro", ORDER)
    assert first.getSchemaReference() == reference("orders ü-value", 1)
    assert client.register("orders ü-value", "avro", ORDER).getId() == first.getId()
    assert client.register("orders-copy", "avro", ORDER).getId() == first.getId()

    newer = client.register("orders ü-value", "avro", NEWER_ORDER)
    assert newer.getSchemaReference() == reference("orders ü-value", 2)
    assert newer.getId() != first.getId()

    assert json.loads(client.fetch(first.getId())) == json.loads(ORDER)
    assert json.loads(client.fetch(reference("orders ü-value", 1))) == json.loads(ORDER)
    assert json.loads(client.fetch(reference("orders ü-value", 2))) == json.loads(NEWER_ORDER)


def test_a_schema_that_cannot_follow_is_refused_with_the_reason_at_hand(client, reference):
    client.register("refused-value", "avro", ORDER)
    error = error_of(client.register, "refused-value", "avro", ORDER_OF_TEXT)
    assert error.getMessage() == "Failed to register subject refused-value, server replied with status 409"
    assert name_of(error.getCause()) == "Conflict"
    answer = json.loads(error.getCause().getResponseBodyAsString())
    assert answer["error_code"] == 409
    assert "The old version writes long, and the new one reads string" in answer["message"]
    assert name_of(error_of(client.fetch, reference("refused-value", 2))) == "SchemaNotFoundException"


def test_what_is_no_avro_schema_is_refused(client):
    error = error_of(client.register, "broken-value", "avro", '{"type": "recor"}')
    assert json.loads(error.getCause().getResponseBodyAsString())["error_code"] == 42201


def test_what_is_not_there_is_not_found(client, reference):
    assert error_of(client.fetch, 999_999).getMessage() == "Could not find schema with id: 999999"
    assert name_of(error_of(client.fetch, reference("nobody", 1))) == "SchemaNotFoundException"


def test_a_client_of_a_context_needs_not_name_it(client, new_client, address, reference):
    number = client.register(":.till:bills", "avro", ORDER).getId()
    inside = new_client(f"{address}/contexts/.till")
    assert json.loads(inside.fetch(reference("bills", 1))) == json.loads(ORDER)
    assert json.loads(inside.fetch(number)) == json.loads(ORDER)


def test_contracts_are_read(new_client, reference, tmp_path):
    with serving_site(f"sqlite:///{tmp_path}/registry.db") as address:
        contract = json.loads(new_client(address).fetch(reference(":.cdc-contracts:dts.canal.avro", 2)))
        assert contract["contract"] == "dts/canal@2"
        assert json.loads(new_client(f"{address}/contexts/.cdc-contracts").fetch(16)) == contract
