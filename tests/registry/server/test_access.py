"""Who may do what, asked of a server over the wire."""

import base64
import time

import patient
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from registry_sites import make_site, serving_site, write_users
from topics import VERSION_FOLDERS

from cdc_contracts.registry.server.access import authentication

STRING = {"schema": '"string"'}
WRITES = {
    ("POST", "/subjects/{subject}/versions"): STRING,
    ("DELETE", "/subjects/{subject}"): None,
    ("DELETE", "/subjects/{subject}/versions/{version}"): None,
    ("PUT", "/config"): {"compatibility": "NONE"},
    ("DELETE", "/config"): None,
    ("PUT", "/config/{subject}"): {"compatibility": "NONE"},
    ("DELETE", "/config/{subject}"): None,
    ("PUT", "/mode"): {"mode": "READONLY"},
    ("DELETE", "/mode"): None,
    ("PUT", "/mode/{subject}"): {"mode": "READONLY"},
    ("DELETE", "/mode/{subject}"): None,
    ("DELETE", "/contexts/{context}"): None,
}
"""Every operation that changes anything."""
QUESTIONS = {
    ("POST", "/subjects/{subject}"),
    ("POST", "/compatibility/subjects/{subject}/versions"),
    ("POST", "/compatibility/subjects/{subject}/versions/{version}"),
}
"""What is asked by POST and changes nothing."""
USERS = {
    "root": ("root's", ("admin", ":*:*")),
    "reader": ("reader's", ("read", ":*:*")),
    "orders": ("orders'", ("write delete", "orders-*"), ("read", "shared-*")),
    "team": ("team's", ("admin", ":.team:*")),
    "robot": ("token:r0b0t", ("read", "orders-*")),
}


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    return write_users(tmp_path_factory.mktemp("users") / "users.yaml", USERS)


@pytest.fixture(scope="module")
def address(tmp_path_factory, users):
    with serving_site(f"sqlite:///{tmp_path_factory.mktemp('registry')}/registry.db", users=users) as served:
        for subject in ("orders-value", "shared-value", "secret-value", ":.team:value"):
            body = {
                "schema": f'{{"type": "record", "name": "{subject.strip(":.").replace(":", "_").replace("-", "_")}", "fields": []}}'
            }
            assert (
                patient.post(f"{served}/subjects/{subject}/versions", json=body, auth=("root", "root's")).status_code
                == 200
            )
        yield served


@pytest.fixture(scope="module")
def client():
    with patient.Client() as made:
        yield made


@pytest.fixture
def ask(address, client):
    def asked(method, path, *, by=None, body=None, headers=None):
        secret = None if by is None else USERS[by][0]
        auth = None if secret is None or secret.startswith("token:") else (by, secret)
        if secret is not None and auth is None:
            headers = {"Authorization": f"Bearer {secret.removeprefix('token:')}"}
        return client.request(method, address + path, json=body, auth=auth, headers=headers)

    return asked


def refusal(answer):
    assert set(answer.json()) == {"error_code", "message"}
    return answer.status_code, answer.json()["error_code"]


@pytest.mark.parametrize(
    "path", ["/", "/subjects", "/ui", "/openapi.json", "/metrics", "/cdc/v1/contracts", "/nowhere"]
)
def test_without_a_name_nothing_is_answered(ask, path):
    answer = ask("GET", path)
    assert refusal(answer) == (401, 401)
    assert answer.headers.get_list("www-authenticate") == [
        'Basic realm="cdc-contracts", charset="UTF-8"', 'Bearer realm="cdc-contracts"',
    ]  # fmt: skip
    assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"


def test_health_is_reported_to_everybody(ask):
    assert ask("GET", "/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    "header",
    [
        "Basic", "Basic !!!", "Basic " + base64.b64encode(b"root").decode(), "Bearer", "Bearer wrong", "Digest x",
        "Basic " + base64.b64encode(b"root:wrong").decode(), "Basic " + base64.b64encode(b"nobody:root's").decode(),
        "Basic " + base64.b64encode(b"robot:r0b0t").decode(), "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Basic " + base64.b64encode(b"root:" + b"x" * 5000).decode(), "Bearer root's",
    ],
)  # fmt: skip
def test_what_is_no_proof_of_a_name_is_refused(ask, header):
    assert refusal(ask("GET", "/subjects", headers={"Authorization": header})) == (401, 401)


@pytest.mark.parametrize("header", ["bearer r0b0t", "Bearer   r0b0t"])
def test_a_token_is_taken(ask, header):
    assert ask("GET", "/subjects", headers={"Authorization": header}).json() == ["orders-value"]


def test_every_operation_is_either_known_to_read_or_known_to_write(tmp_path):
    app, store = make_site(f"sqlite:///{tmp_path}/registry.db").open()
    store.close()
    while not hasattr(app, "openapi"):
        app = app._app
    asked = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    assert {one for one in asked if one[0] != "GET"} == {*WRITES, *QUESTIONS}


@pytest.mark.parametrize(
    ("operation", "body"), WRITES.items(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_who_may_only_read_changes_nothing(ask, operation, body):
    method, path = operation
    path = path.format(subject="orders-value", version="1", context=".team")
    answer = ask(method, path, by="reader", body=body)
    assert refusal(answer) == (403, 403)
    assert answer.json()["message"].startswith("User 'reader' may not ")


def test_rights_end_where_the_pattern_ends(ask):
    assert ask("POST", "/subjects/orders-key/versions", by="orders", body=STRING).status_code == 200
    assert refusal(ask("POST", "/subjects/shared-value/versions", by="orders", body=STRING)) == (403, 403)
    assert refusal(ask("POST", "/subjects/:.team:orders-key/versions", by="orders", body=STRING)) == (403, 403)
    assert refusal(ask("POST", "/contexts/.team/subjects/orders-key/versions", by="orders", body=STRING)) == (403, 403)
    assert refusal(ask("PUT", "/config/orders-key", by="orders", body={"compatibility": "NONE"})) == (403, 403)
    assert ask("DELETE", "/subjects/orders-key", by="orders").json() == [1]
    assert ask("POST", "/subjects/:.team:key/versions", by="team", body=STRING).status_code == 200
    assert ask("PUT", "/config/:.team:", by="team", body={"compatibility": "FULL"}).status_code == 200
    assert refusal(ask("PUT", "/config", by="team", body={"compatibility": "FULL"})) == (403, 403)
    assert ask("DELETE", "/subjects/:.team:key", by="team").status_code == 200


def test_what_may_not_be_read_is_not_there(ask):
    assert ask("GET", "/subjects", by="orders").json() == ["orders-value", "shared-value"]
    assert ask("GET", "/subjects?limit=1&offset=1", by="orders").json() == ["shared-value"]
    assert [one["subject"] for one in ask("GET", "/schemas", by="orders").json()] == ["orders-value", "shared-value"]
    assert ask("GET", "/contexts", by="orders").json() == ["."]
    assert ask("GET", "/contexts", by="team").json() == [".", ".team"]
    secret = "/subjects/secret-value"
    for path in (
        f"{secret}/versions",
        f"{secret}/versions/1",
        f"{secret}/versions/latest/schema",
        f"{secret}/metadata",
    ):
        assert refusal(ask("GET", path, by="orders")) == (404, 40401), path
    assert refusal(ask("POST", secret, by="orders", body=STRING)) == (404, 40401)
    assert ask("GET", "/ui/subject?name=secret-value", by="orders").status_code == 404
    assert "secret" not in ask("GET", "/ui", by="orders").text


def test_an_id_is_shown_to_those_who_may_read_a_subject_that_uses_it(ask):
    ids = {
        subject: ask("GET", f"/subjects/{subject}/versions/1", by="root").json()["id"]
        for subject in ("orders-value", "secret-value", ":.team:value")
    }
    for _ in range(2):  # also when the schema is at hand
        assert ask("GET", f"/schemas/ids/{ids['secret-value']}", by="root").status_code == 200
        assert ask("GET", f"/schemas/ids/{ids['orders-value']}", by="robot").status_code == 200
        for more in ("", "/schema", "/subjects", "/versions"):
            assert refusal(ask("GET", f"/schemas/ids/{ids['secret-value']}{more}", by="robot")) == (404, 40403)
        assert refusal(ask("GET", f"/schemas/ids/{ids[':.team:value']}?subject=:.team:", by="robot")) == (404, 40403)
    guid = ask(
        "GET", "/subjects/secret-value/versions/1", by="root", headers={"Confluent-Accept-Unknown-Properties": "true"}
    ).json()["guid"]
    assert ask("GET", f"/schemas/guids/{guid}", by="root").status_code == 200
    assert refusal(ask("GET", f"/schemas/guids/{guid}", by="robot")) == (404, 40403)


def test_a_schema_that_others_use_survives_who_may_not_see_them(ask):
    """Deleting for good takes a schema away only where nobody uses it, seen or not."""
    shared = {"schema": '{"type":"record","name":"shared","fields":[]}'}
    number = ask("POST", "/subjects/secret-twin/versions", by="root", body=shared).json()
    assert ask("POST", "/subjects/orders-twin/versions", by="orders", body=shared).json() == number
    ask("DELETE", "/subjects/orders-twin", by="orders")
    assert ask("DELETE", "/subjects/orders-twin?permanent=true", by="orders").json() == [1]
    assert ask("GET", "/subjects/secret-twin/versions/1", by="root").json()["schema"] == shared["schema"]


def test_an_alias_opens_no_door(ask):
    """Rights are those over the subject that is meant, whoever may administer its alias."""
    assert ask("PUT", "/config/:.team:in", by="team", body={"alias": "value"}).json() == {"alias": "value"}
    assert ask("GET", "/subjects/:.team:in/versions", by="team").json() == [1]
    assert refusal(ask("GET", "/subjects/:.team:in/versions", by="orders")) == (404, 40401)
    assert ask("PUT", "/config/orders-door", by="root", body={"alias": "secret-value"}).status_code == 200
    assert ask("GET", "/subjects/orders-door/versions", by="reader").json() == [1]
    assert refusal(ask("GET", "/subjects/orders-door/versions", by="orders")) == (404, 40401)
    assert refusal(ask("POST", "/subjects/orders-door/versions", by="orders", body=STRING)) == (403, 403)
    assert refusal(ask("DELETE", "/subjects/orders-door", by="orders")) == (403, 403)
    assert ask("DELETE", "/config/orders-door", by="root").status_code == 200


def test_contracts_are_for_those_who_may_read_their_context(ask):
    assert ask("GET", "/cdc/v1/contracts", by="orders").json() == {"contracts": []}
    assert refusal(ask("GET", "/cdc/v1/contracts/dts/canal/2", by="orders")) == (404, 404)
    assert len(ask("GET", "/cdc/v1/contracts", by="reader").json()["contracts"]) == len(VERSION_FOLDERS)
    assert "dts/canal" not in ask("GET", "/ui", by="orders").text


def test_the_users_file_is_read_again_when_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(authentication, "_LOOK_SECONDS", 0.0)
    path = write_users(tmp_path / "users.yaml", {"a": ("first", ("read", "*"))})
    with serving_site(f"sqlite:///{tmp_path}/registry.db", users=path) as served:

        def status(password):
            return patient.get(f"{served}/subjects", auth=("a", password)).status_code

        assert (status("first"), status("second")) == (200, 401)
        write_users(path, {"a": ("second", ("read", "*"))})
        assert _becomes(lambda: (status("first"), status("second")), (401, 200))
        path.write_text("users: {a: nonsense}")
        assert (status("first"), status("second")) == (401, 200)
        write_users(tmp_path / "new", {"a": ("third", ("read", "*"))})
        (tmp_path / "new").replace(path)
        assert _becomes(lambda: (status("second"), status("third")), (401, 200))


def test_somebody_without_a_name_may_what_the_file_says(tmp_path):
    path = write_users(tmp_path / "users.yaml", {}, anonymous=[("read", ":.cdc-contracts:*")])
    with serving_site(f"sqlite:///{tmp_path}/registry.db", users=path) as served:
        assert patient.get(f"{served}/contexts").json() == [".", ".cdc-contracts"]
        answer = patient.post(f"{served}/subjects/s/versions", json=STRING)
        assert refusal(answer) == (403, 403)
        assert patient.get(f"{served}/subjects", headers={"Authorization": "Bearer wrong"}).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "{address}"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "{address}.evil.example"}, 403),
        ({"Origin": "https://evil.example", "Content-Type": ""}, 403),
        ({"Origin": "http://[evil"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "Cross-Site", "Origin": "{address}"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_a_page_of_another_site_changes_nothing_in_the_name_of_who_looks_at_it(address, client, headers, status):
    reported = {name: value.format(address=address) for name, value in headers.items()}
    answer = client.post(f"{address}/subjects/browser/versions", json=STRING, headers=reported, auth=("root", "root's"))
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8081", 200), ("127.0.0.1", 200), ("[::1]:8081", 200), ("evil.example", 403), ("", 403), ("[", 403),
        ("127.0.0.1.evil.example", 403), ("localhost@evil.example", 403),
    ],
)  # fmt: skip
def test_a_server_without_users_is_asked_for_by_the_names_of_this_machine_only(tmp_path, client, host, status):
    with serving_site(f"sqlite:///{tmp_path}/registry.db", local_only=True) as served:
        assert client.get(f"{served}/subjects", headers={"Host": host}).status_code == status


def _becomes(look, wanted):
    until = time.monotonic() + patient.SECONDS
    while look() != wanted and time.monotonic() < until:
        time.sleep(0.1)
    return look() == wanted


def test_a_registry_client_says_who_it_is_in_either_way(address):
    with SchemaRegistryClient({"url": address, "basic.auth.user.info": "orders:orders'"}) as client:
        assert client.get_subjects() == ["orders-value", "shared-value"]
        with pytest.raises(SchemaRegistryError) as refused:
            client.register_schema("shared-value", Schema('"bytes"', "AVRO"))
        assert (refused.value.http_status_code, refused.value.error_code) == (403, 403)
    bearer = {
        "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "r0b0t",
        "bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": "pool-1",
    }  # fmt: skip
    with SchemaRegistryClient({"url": address, **bearer}) as client:
        assert client.get_subjects() == ["orders-value"]
