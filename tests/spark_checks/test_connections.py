"""Why a broker does not answer: the cause is named, in the same words by both engines, and without waiting for it."""

import pytest
from certificates import Authority

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka import consumer, spark_source
from cdc_contracts.spark_checks.kafka.connections import check_listening, find_certificate_fault
from cdc_contracts.spark_checks.kafka.offsets import parse_range

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def login(password):
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="reader" password="{password}";',
    }


def trust(authority):
    return {
        "security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file),
    }  # fmt: skip


@pytest.fixture(params=["local", "spark"])
def read(request, monkeypatch):
    """A function that reads a topic by one of the engines, and gives up only after a time that no test has."""
    engine = SparkEngine(request.getfixturevalue("spark")) if request.param == "spark" else LOCAL
    monkeypatch.setattr(consumer, "TIMEOUT_SECONDS", 3_000)
    monkeypatch.setattr(consumer, "_SILENCE_SECONDS", 3_000)
    monkeypatch.setattr(spark_source, "TIMEOUT_SECONDS", 3_000)

    def read_all(bootstrap, topic, properties):
        source = read_topics(engine, bootstrap, [topic], parse_range(), properties, headers=False)
        return sum(part.num_rows for part in (source.batches() if engine is LOCAL else source.peek(engine, 9)))

    return read_all


@pytest.fixture(scope="module")
def topic(make_topic):
    return make_topic([(0, b"{}")] * 3)


def test_a_broker_whose_certificate_is_trusted_is_read(read, broker, authority, topic):
    assert read(broker.addresses["tls"], topic, trust(authority)) == 3


def test_an_authority_that_is_not_trusted_is_named_as_the_cause(read, broker, topic, tmp_path):
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(UnavailableError) as failure:
        read(broker.addresses["tls"], topic, trust(stranger))
    assert failure.value.what == "the certificate of the broker is signed by an authority that is not trusted"
    assert failure.value.where == broker.addresses["tls"]
    assert "ssl.truststore.location" in failure.value.hint
    assert "password" not in str(failure.value)


def test_a_certificate_that_has_expired_is_named_as_the_cause(read, broker, authority, topic):
    with pytest.raises(UnavailableError) as failure:
        read(broker.addresses["expired"], topic, trust(authority))
    assert failure.value.what == "the certificate of the broker has expired"
    assert "password" not in str(failure.value)


def test_a_wrong_password_is_named_as_the_cause(read, broker, topic):
    with pytest.raises(UnavailableError) as failure:
        read(broker.addresses["login"], topic, login("batterystaple"))
    assert failure.value.what == "the broker refuses the credentials"
    assert "batterystaple" not in str(failure.value)


def test_a_port_where_nothing_listens_is_named_as_the_cause(read):
    with pytest.raises(UnavailableError) as failure:
        read("127.0.0.1:9", "t", {})
    assert (failure.value.what, failure.value.where) == ("no broker is listening at this address", "127.0.0.1:9")


@pytest.fixture(scope="module")
def rights(broker, make_topic):
    """A function that makes a topic on which the user has only the rights that are named."""
    from confluent_kafka import admin

    def make(*operations):
        topic = make_topic([(0, b"{}")] * 3)
        client = admin.AdminClient({"bootstrap.servers": broker.bootstrap})
        lists = [
            admin.AclBinding(
                admin.ResourceType.TOPIC, topic, admin.ResourcePatternType.LITERAL, "User:reader", "*", operation,
                admin.AclPermissionType.ALLOW,
            )
            for operation in operations
        ]  # fmt: skip
        for future in client.create_acls(lists).values():
            future.result(60)
        return topic

    return make


def test_the_right_that_is_missing_is_named(read, broker, rights):
    from confluent_kafka.admin import AclOperation

    seen, hidden = rights(AclOperation.DESCRIBE), rights(AclOperation.ALTER_CONFIGS)
    with pytest.raises(UnavailableError) as failure:
        read(broker.addresses["login"], seen, login("correcthorse"))
    assert failure.value.what == f"not authorized to read topic {seen}"
    assert "User:reader needs the right Read on the topic" in failure.value.hint
    with pytest.raises(UnavailableError) as failure:
        read(broker.addresses["login"], hidden, login("correcthorse"))
    assert failure.value.what == f"not authorized to see topic {hidden}"
    assert read(broker.addresses["login"], rights(AclOperation.READ), login("correcthorse")) == 3


def test_one_broker_of_several_that_does_not_listen_is_no_failure(broker):
    check_listening(f"127.0.0.1:9,{broker.bootstrap}")
    check_listening("no-such-host.invalid:9092")
    check_listening("127.0.0.1")
    with pytest.raises(UnavailableError):
        check_listening("127.0.0.1:9, SSL://localhost:9")


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        # OpenSSL and Java, of certificates that no broker of these tests has
        ("Hostname mismatch, certificate is not valid for 'localhost'.", "is for another name"),
        ("CertificateException: No subject alternative names matching IP address 127.0.0.1 found", "another name"),
        ("certificate is not yet valid", "is not valid yet"),
        ("CertificateNotYetValidException: NotBefore: Thu Nov 12 2099", "is not valid yet"),
        ("self-signed certificate in certificate chain", "is not trusted"),
        ("SSLHandshakeException: Received fatal alert: bad_certificate", "certificate of this client"),
    ],
)
def test_what_openssl_and_java_say_of_certificates_is_reported_in_the_same_words(told, fault):
    assert fault in find_certificate_fault(told)[0]


def test_what_is_not_about_certificates_is_no_fault_of_theirs():
    assert find_certificate_fault("SSLHandshakeException: no cipher suites in common") is None
