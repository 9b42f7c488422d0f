"""Files of client properties in the words of Java clients and of librdkafka, and what either client gets of them."""

import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from secured_broker import STORE_PASSWORD, write_client_files

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.spark_checks.kafka.client_properties import read_client_properties
from cdc_contracts.spark_checks.kafka.credentials import find_principal, hide, is_secret
from cdc_contracts.spark_checks.kafka.key_stores import read_store
from cdc_contracts.spark_checks.kafka.property_names import translate_to_java, translate_to_librdkafka

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
JKS = str(Path(__file__).with_name("key_stores") / "client.jks")
"""Made by keytool: the key of CN=courier, with its own password, and the certificates of CN=first and CN=second."""


@pytest.fixture(scope="module")
def files(tmp_path_factory, authority):
    folder = tmp_path_factory.mktemp("clients")
    write_client_files(folder, authority)
    return folder


def read(folder, text):
    (folder / "client.properties").write_text(text)
    return read_client_properties(folder / "client.properties", ())


def subjects(pem):
    return {one.subject.rfc4514_string() for one in x509.load_pem_x509_certificates(pem.encode())}


# --- files


def test_a_file_is_read_as_java_reads_it(tmp_path):
    assert read(
        tmp_path,
        "# a comment\n! another\n\n  spaced = a b \ncolon:c\nblank d\n"
        'long=one \\\n   two\nescaped=a\\tb\\\\c\\"d\\u00e9\nna\\=me=v\nends=with\\\\\nempty=\n',
    ) == {
        "spaced": "a b", "colon": "c", "blank": "d", "long": "one two", "escaped": 'a\tb\\c"dé', "na=me": "v",
        "ends": "with\\", "empty": "",
    }  # fmt: skip


def test_a_password_for_librdkafka_is_taken_as_it_stands(tmp_path):
    assert read(tmp_path, 'sasl.password=a\\b "c"\nssl.key.location=C:\\keys\\k.pem\n') == {
        "sasl.password": 'a\\b "c"', "ssl.key.location": "C:\\keys\\k.pem",
    }  # fmt: skip


# --- logins


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ('password="c\\"d"', 'c"d'),
        ('password="a\\\\b;=, $x"', "a\\b;=, $x"),
        ("password='it \"is\"'", 'it "is"'),
        ('password="tab\\tand \\101"', "tab\tand A"),
        ("password=bare", "bare"),
    ],
)
def test_a_password_in_a_line_of_jaas_is_unquoted_as_java_does(written, password):
    given = {"sasl.mechanism": "PLAIN", "sasl.jaas.config": f'{PLAIN} required username="a b" {written};'}
    assert translate_to_librdkafka(given) == {
        "sasl.mechanisms": "PLAIN", "sasl.username": "a b", "sasl.password": password,
    }  # fmt: skip


@pytest.mark.parametrize("password", ["plain", 'a"b', "a\\b", "a'b; c=d, $e", "é\n\\n"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_and_a_password_become_a_line_of_jaas_that_says_the_same(mechanism, password):
    given = {"security.protocol": "sasl_ssl", "sasl.mechanisms": mechanism, "sasl.username": "u",
             "sasl.password": password}  # fmt: skip
    translated = translate_to_java(given)
    module = PLAIN if mechanism == "PLAIN" else SCRAM
    assert translated.keys() == {"security.protocol", "sasl.mechanism", "sasl.jaas.config"}
    assert (translated["security.protocol"], translated["sasl.mechanism"]) == ("SASL_SSL", mechanism)
    assert translated["sasl.jaas.config"].startswith(f'{module} required username="u" password="')
    assert translate_to_librdkafka(translated)["sasl.password"] == password


def test_each_client_takes_its_own_words_where_a_file_has_both():
    both = {"sasl.mechanism": "PLAIN", "sasl.username": "mine", "sasl.password": "p",
            "sasl.jaas.config": f'{PLAIN} required username="java" password="q";'}  # fmt: skip
    assert translate_to_librdkafka(both)["sasl.username"] == "mine"
    assert 'username="java"' in translate_to_java(both)["sasl.jaas.config"]
    assert "sasl.password" not in translate_to_java(both)


# --- stores and certificates


def test_the_stores_of_java_are_read_without_java(files):
    store = {"ssl.truststore.location": JKS, "ssl.truststore.password": "storesecret"}
    assert translate_to_librdkafka(store).keys() == {"ssl.ca.pem"}
    assert subjects(translate_to_librdkafka(store)["ssl.ca.pem"]) == {"CN=first", "CN=second"}
    store = {"ssl.keystore.location": JKS, "ssl.keystore.password": "storesecret", "ssl.key.password": "keysecret"}
    found = translate_to_librdkafka(store)
    (certificate,) = x509.load_pem_x509_certificates(found["ssl.certificate.pem"].encode())
    assert certificate.subject.rfc4514_string() == "CN=courier,O=Example"
    assert load_pem_private_key(found["ssl.key.pem"].encode(), None).public_key() == certificate.public_key()
    store = {"ssl.truststore.location": str(files / "truststore.p12"), "ssl.truststore.password": STORE_PASSWORD}
    assert subjects(translate_to_librdkafka(store)["ssl.ca.pem"]) == {"CN=authority", "CN=stranger"}


@pytest.mark.parametrize(
    ("passwords", "told"),
    [(("bad", "keysecret"), "the password is wrong"), (("storesecret", "bad"), "password of its key is wrong"),
     ((None, None), "its private key needs a password")],
)  # fmt: skip
def test_a_wrong_password_of_a_store_is_reported_and_not_shown(passwords, told):
    with pytest.raises(UsageError, match=told) as failure:
        read_store("ssl.keystore.location", JKS, *passwords)
    assert failure.value.where == JKS
    assert failure.value.hint == "Check ssl.keystore.password and ssl.key.password."
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("size", [5, 12, 200, 1000])
def test_a_store_that_ends_early_is_damaged(size, tmp_path):
    (tmp_path / "short.jks").write_bytes(Path(JKS).read_bytes()[:size])
    with pytest.raises(UsageError, match="the store cannot be read"):
        read_store("ssl.truststore.location", str(tmp_path / "short.jks"), None)


def test_without_its_library_a_pkcs12_store_is_refused_with_what_to_do_instead(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(UsageError, match="library `cryptography`") as failure:
        translate_to_librdkafka({"ssl.truststore.location": str(files / "truststore.p12")})
    assert "openssl pkcs12 -in" in failure.value.hint
    assert "ssl.ca.location=ca.pem" in failure.value.hint


def test_pem_files_for_librdkafka_become_their_content_for_java(files):
    translated = translate_to_java({
        "ssl.ca.location": str(files / "authority.pem"),
        "ssl.certificate.location": str(files / "courier.crt"),
        "ssl.key.location": str(files / "courier.key"),
        "ssl.endpoint.identification.algorithm": "none",
    })  # fmt: skip
    assert translated == {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": (files / "authority.pem").read_text(),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": (files / "courier.crt").read_text(),
        "ssl.keystore.key": (files / "courier.key").read_text(),
        "ssl.endpoint.identification.algorithm": "",
    }


def test_certificates_in_the_properties_are_taken_by_both_clients(files):
    pem = {name: (files / name).read_text() for name in ("authority.pem", "courier.crt", "courier.key")}
    java = {
        "ssl.truststore.certificates": pem["authority.pem"],
        "ssl.keystore.certificate.chain": pem["courier.crt"],
        "ssl.keystore.key": pem["courier.key"],
    }
    other = {
        "ssl.ca.pem": pem["authority.pem"], "ssl.certificate.pem": pem["courier.crt"], "ssl.key.pem": pem["courier.key"],
    }  # fmt: skip
    types = {"ssl.truststore.type": "PEM", "ssl.keystore.type": "PEM"}
    assert translate_to_librdkafka(java | types) == other
    assert translate_to_java(other) == java | types


@pytest.mark.parametrize(
    ("properties", "where", "hint"),
    [
        ({"sasl.kerberos.keytab": "/k"}, "sasl.kerberos.keytab", "Krb5LoginModule"),
        ({"sasl.oauthbearer.method": "oidc"}, "sasl.oauthbearer.method", "OAuthBearerLoginModule"),
        ({"ssl.crl.location": "/crl"}, "ssl.crl.location", "ssl.truststore.location"),
        ({"enable.ssl.certificate.verification": "false"}, "enable.ssl.certificate.verification", "ssl.ca.location"),
        ({"sasl.username": "u", "sasl.password": "hunter2"}, "sasl.mechanism", "SCRAM-SHA-512"),
        ({"sasl.username": "u", "sasl.password": "hunter2", "sasl.mechanism": "GSSAPI"}, "sasl.mechanism", "PLAIN"),
    ],
    ids=str,
)  # fmt: skip
def test_what_java_cannot_use_is_refused_with_what_to_give_instead(properties, where, hint):
    with pytest.raises(UsageError) as failure:
        translate_to_java(properties)
    assert failure.value.where == where
    assert hint in failure.value.hint
    assert "hunter2" not in str(failure.value)


def test_a_key_or_a_certificate_alone_or_in_another_form_is_refused_for_java(files, tmp_path):
    with pytest.raises(UsageError, match="needs its key") as failure:
        translate_to_java({"ssl.certificate.location": str(files / "courier.crt")})
    assert "ssl.key.location" in failure.value.hint
    (tmp_path / "old.key").write_text("-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n")
    with pytest.raises(UsageError, match="PKCS #8") as failure:
        translate_to_java({"ssl.key.location": str(tmp_path / "old.key")})
    assert "openssl pkcs8 -topk8" in failure.value.hint
    assert "hunter2" not in str(failure.value)


@pytest.mark.parametrize("name", ["ssl.ca.location", "ssl.truststore.location", "ssl.keystore.location"])
def test_a_file_that_is_not_there_is_named_with_its_property(name, tmp_path):
    path = str(tmp_path / "none.pem")
    with pytest.raises(UsageError, match="No such file") as failure:
        translate_to_java({name: path})
    assert (failure.value.where, failure.value.hint) == (path, f"It is named by {name}.")


# --- secrets and principals


def test_values_that_are_secret_are_distinguished_from_those_that_are_not():
    secret = ["sasl.password", "sasl.jaas.config", "ssl.key.password", "ssl.keystore.password", "ssl.keystore.key",
              "ssl.key.pem", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret"]  # fmt: skip
    public = ["sasl.username", "ssl.key.location", "ssl.keystore.location", "sasl.oauthbearer.token.endpoint.url",
              "ssl.truststore.certificates", "ssl.keystore.type", "ssl.keystore.certificate.chain"]  # fmt: skip
    assert [name for name in secret if not is_secret(name)] == []
    assert [name for name in public if is_secret(name)] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Error: invalid credentials of alice", True),
        ("Error: cannot parse correct horse", False),
        ("Error: unexpected horse at 7", False),
        ("Error: ScramLoginModule required username is unknown", True),
    ],
)
def test_a_message_with_a_part_of_a_secret_is_not_shown(text, shown):
    line = f'{SCRAM} required username="alice" password="correct horse";'
    assert (hide(text, {"sasl.jaas.config": line}) == text) is shown
    assert (hide("Error: correct horse", {"sasl.password": "correct horse"})) == (
        "Error: [not shown, it repeats a secret property]"
    )


def test_a_file_of_a_key_may_be_named_in_a_message(files):
    properties = {"ssl.key.location": "/keys/courier.key", "ssl.keystore.location": "/keys/courier.p12"}
    assert hide("SSL: /keys/courier.key: no such file", properties) == "SSL: /keys/courier.key: no such file"


@pytest.mark.parametrize(
    ("properties", "principal"),
    [
        ({}, "User:ANONYMOUS"),
        ({"security.protocol": "SSL"}, "User:ANONYMOUS"),
        ({"security.protocol": "ssl", "ssl.keystore.location": "/k"}, "the subject of the client's certificate"),
        ({"security.protocol": "SASL_SSL", "sasl.username": "u"}, "User:u"),
        ({"security.protocol": "SASL_SSL", "sasl.jaas.config": f"{PLAIN} required username=v password=w;"}, "User:v"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}, "the user of this login"),
    ],
    ids=str,
)
def test_the_principal_that_needs_rights_is_named_as_far_as_it_is_known(properties, principal):
    assert find_principal(properties) == principal
