"""Messages of products that are not in the catalogue: none is claimed, however near it comes (`../relatives`)."""

from pathlib import Path

import pytest
from detected_topics import detect_messages

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.detect.relatives import read_relatives

FOLDER = Path(__file__).parent / "relatives"
OUTSIDE = sorted(path for path in FOLDER.glob("*.*") if path.suffix != ".md")
DESCRIBED = FOLDER / "described"
"""Messages of products that have a contract by now."""
INSEPARABLE = sorted((FOLDER / "inseparable").glob("*.jsonl"))


def messages_of(path):
    return [path.read_bytes()] if path.suffix == ".bin" else [line for line in path.read_bytes().split(b"\n") if line]


def test_there_are_more_than_40_of_them():
    assert len(OUTSIDE) > 40


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.name)
def test_a_near_relative_is_not_in_the_catalogue(path):
    found = detect_messages(messages_of(path))

    assert (found.verdict, found.subject, found.version) == ("not-in-catalogue", None, None)
    assert found.detected == ()


@pytest.mark.parametrize(
    ("name", "verdict", "named"),
    [
        ("debezium-mysql", "certain", "debezium/json@3"),
        ("debezium-mysql-with-schemas", "certain", "debezium/json-schema@3"),
        ("debezium-oracle", "certain", "debezium/json@2"),
        ("debezium-postgres", "certain", "debezium/json@2"),
        ("debezium-schema-changes", "certain", "debezium/json@3"),
        ("debezium-sqlserver", "certain", "debezium/json@2"),
        # No release stands in them.
        ("debezium-heartbeats-and-transactions", "likely", "debezium/json"),
        ("debezium-unwrapped-rows-with-op", "likely", "debezium/flat"),
        ("debezium-unwrapped-with-schemas", "likely", "debezium/flat-schema"),
        # One of three has a member of the later version.
        ("maxwell", "likely", "maxwell/json"),
        # Outliers decide nothing: one deletion of three messages is the first that tells the versions.
        ("flink-cdc-pipeline-canal-json", "likely", "flink-cdc/canal-json"),
        ("flink-cdc-pipeline-debezium-json", "certain", "flink-cdc/debezium-json@1"),
        ("aws-dms", "certain", "aws-dms/json@1"),
        ("goldengate-operation", "certain", "goldengate/json@1"),
        ("goldengate-row", "certain", "goldengate/json-row@1"),
        # Bare types are of both versions.
        ("ticdc-canal-json", "likely", "ticdc/canal-json"),
        ("ticdc-canal-json-integers-only", "likely", "ticdc/canal-json"),
        ("ticdc-canal-json-only-changed-columns", "likely", "ticdc/canal-json"),
        ("ticdc-canal-json-with-tidb-extension", "likely", "ticdc/canal-json"),
        ("maxwell-with-positions", "certain", "maxwell/json@2"),
        ("maxwell-bootstrap", "likely", "maxwell/json"),
        ("maxwell-ddl", "likely", "maxwell/json"),
    ],
)
def test_a_product_that_has_a_contract_is_found_by_it(name, verdict, named):
    found = detect_messages(messages_of(DESCRIBED / f"{name}.jsonl"))

    assert (found.verdict, found.subject if found.version is None else found.version.reference) == (verdict, named)


@pytest.mark.parametrize("path", INSEPARABLE, ids=lambda path: path.name)
def test_what_no_message_distinguishes_is_never_certain(path):
    found = detect_messages(messages_of(path))

    assert found.verdict != "certain"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("inlong-canal-json", "oms/canal"),
        ("debezium-mysql-named-oms", "oms/debezium-flatten@1"),
        ("qlik-replicate", "oms/debezium-flatten"),
        ("debezium-oracle-without-connector", "debezium/json@4"),
        ("hudi-rows", None),
        ("cloudevents", "debezium/json"),
    ],
)
def test_the_nearest_contract_is_named_where_one_is_near(name, nearest):
    assert detect_messages(messages_of(FOLDER / f"{name}.jsonl")).nearest == nearest


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("inlong-canal-json", "InLong canal"),
        ("debezium-avro-console-output", "Debezium Avro console output"),
        ("debezium-cassandra", "Debezium for Cassandra or YugabyteDB"),
        ("flink-cdc-pipeline-debezium-json-with-schemas", "Flink CDC debezium-json with a schema block"),
        ("ticdc-simple-protocol", "TiCDC simple protocol"),
        ("flink-sql-debezium-json", "Flink SQL debezium-json"),
        ("flink-sql-canal-json", "Flink SQL or SeaTunnel canal-json"),
        ("seatunnel-canal-json", "Flink SQL or SeaTunnel canal-json"),
        ("flink-sql-maxwell-json", "Flink SQL maxwell-json"),
        ("flink-sql-ogg-json", "Flink SQL ogg-json"),
        ("debezium-before-0.9", "Debezium before 0.9"),
        ("debezium-before-0.9-postgres", "Debezium before 0.9"),
        ("debezium-before-0.9-with-schemas", "Debezium before 0.9, or dtle, with a schema block"),
        ("dtle-kafka", "Debezium before 0.9, or dtle, with a schema block"),
        ("debezium-scylladb", "Debezium for ScyllaDB"),
        ("debezium-scylladb-with-schemas", "Debezium for ScyllaDB with a schema block"),
        ("confluent-oracle-cdc", "Confluent Oracle CDC"),
        ("debezium-cloudevents", "Debezium CloudEvents"),
        ("debezium-schema-history", "Debezium schema history"),
        ("risingwave-debezium-sink", "RisingWave Debezium sink"),
        ("maxwell-encrypted", "Maxwell with encryption"),
    ],
)
def test_a_product_is_named_by_what_only_it_writes(name, product):
    found = detect_messages(messages_of(FOLDER / f"{name}.jsonl"))

    assert found.evidence[0].winner == product


def test_a_product_that_can_be_read_in_another_way_says_how():
    found = detect_messages(messages_of(FOLDER / "debezium-avro-console-output.jsonl"))

    assert "Read the topic itself with --schema-registry, not what a console printed." in found.finalize
    found = detect_messages(messages_of(FOLDER / "maxwell-encrypted.jsonl"))
    assert found.finalize == "Let Maxwell write rows in clear (encrypt=none), or decrypt the messages on the way."


def test_every_relative_is_near_subjects_that_there_are():
    subjects = set(shipped_catalogue().subjects())

    assert all(set(relative.near) <= subjects for relative in read_relatives(shipped_catalogue()))


@pytest.mark.parametrize(
    "text", ["- {name: X}", "- {name: X, near: [], could_be: [{presents: /a}], reads: same}", "- x", "a: b"]
)
def test_a_file_of_relatives_that_is_not_as_it_should_be_says_where(tmp_path, text):
    (tmp_path / "relatives.yaml").write_text(text)
    catalogue = type(shipped_catalogue())([*shipped_catalogue().roots, tmp_path])

    with pytest.raises(ContractError) as error:
        read_relatives(catalogue)
    assert "relatives.yaml" in str(error.value)
