"""`plan` tells what `apply` does; what cannot be done is refused before anything is written."""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from cdc_contracts.registry.server.service.request_service import Options

CLOSED = '{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}'
NARROWER = '{"type":"object","properties":{"id":{"type":"integer","minimum":5}},"additionalProperties":false}'
WIDER = '{"type":"object","properties":{"id":{"type":["integer","null"]}},"additionalProperties":false}'


@pytest.fixture
def folder(here):
    return here / "held"


def put(folder, subject, version, text, suffix="json", **beside):
    place = folder / "subjects" / subject
    place.mkdir(parents=True, exist_ok=True)
    (place / f"v{version}.{suffix}").write_text(text)
    if beside:
        (place / f"v{version}.yaml").write_text(json.dumps(beside))


def test_a_plan_is_carried_out_once(folder, server, call, ask):
    put(folder, "orders-value", 1, CLOSED)
    (folder / "registry.yaml").write_text(
        "subjects:\n  orders-value: {config: {compatibility: FULL}, mode: READONLY}\n"
    )
    reported = [
        "~ orders-value config unset -> compatibility=FULL",
        "+ orders-value 1 (id assigned by the server)",
        "~ orders-value mode unset -> READONLY",
    ]
    code, out, err = call("plan", folder, "--url", server)
    assert (code, sorted(out.splitlines()), err) == (1, sorted(reported), "1 to register, 2 to set\n")
    assert ask("GET", "/subjects") == []
    code, out, _ = call("apply", folder, "--url", server)
    assert (code, out.splitlines()) == (0, [one.replace("id assigned by the server", "id 1") for one in reported])
    assert (folder / "ids.lock").read_text().splitlines()[1].startswith("1 orders-value@1 JSON ")
    assert call("apply", folder, "--url", server) == (0, "nothing to do\n", "")
    assert call("plan", folder, "--url", server) == (0, "", "nothing to do\n")
    assert ask("GET", "/config/orders-value") == {"compatibilityLevel": "FULL"}


def test_avro_is_planned_once_however_it_is_spelled(folder, server, call, ask):
    """A registry writes Avro as Java does: what it answers is what the folder says all the same."""
    spelled = (
        '{"name": "shop.Order", "fields": [{"type": {"type": "long"}, "name": "id", "doc": "of it"}], "type": "record"}'
    )
    put(folder, "orders-value", 1, spelled, suffix="avsc")
    assert call("apply", folder, "--url", server)[0] == 0
    assert ask("GET", "/subjects/orders-value/versions/1/schema")["namespace"] == "shop"
    assert call("plan", folder, "--url", server) == (0, "", "nothing to do\n")
    assert call("apply", folder, "--url", server) == (0, "nothing to do\n", "")
    assert call("pull", folder, "--url", server)[0] == 0
    assert (folder / "subjects" / "orders-value" / "v1.avsc").read_text() == spelled


def test_a_machine_reads_the_plan(folder, server, call):
    put(folder, "orders-value", 1, CLOSED)
    assert json.loads(call("plan", folder, "--url", server, "--json")[1]) == {
        "steps": [{"action": "register", "subject": "orders-value", "version": 1, "id": None, "contract": None}],
        "refused": [],
        "left": [],
    }


def test_nothing_is_deleted_unless_pruned(folder, server, call, ask):
    for subject in ("orders-value", "visits-value"):
        ask("POST", f"/subjects/{subject}/versions", {"schema": CLOSED, "schemaType": "JSON"})
    put(folder, "orders-value", 1, CLOSED)
    assert call("plan", folder, "--url", server)[0] == 0
    code, out, _ = call("plan", folder, "--url", server, "--prune")
    assert (code, out) == (1, "- visits-value 1\n")
    assert call("apply", folder, "--url", server, "--prune")[0] == 0
    assert ask("GET", "/subjects") == ["orders-value"]
    assert ask("GET", "/subjects?deleted=true") == ["orders-value", "visits-value"]


def test_an_incompatible_schema_is_refused_with_proof_before_anything_is_written(folder, server, call, ask):
    ask("POST", "/subjects/orders-value/versions", {"schema": CLOSED, "schemaType": "JSON"})
    put(folder, "a-value", 1, CLOSED)
    put(folder, "orders-value", 1, CLOSED)
    put(folder, "orders-value", 2, NARROWER)
    code, out, err = call("apply", folder, "--url", server)
    assert (code, err.endswith("nothing was written\n")) == (1, True)
    flat = " ".join(out.split())
    assert "! orders-value 2: incompatible at BACKWARD with orders-value 1" in flat
    assert 'Proof (refused-by-new): {"id": ' in flat
    assert ask("GET", "/subjects") == ["orders-value"]
    put(folder, "orders-value", 2, WIDER)
    assert call("apply", folder, "--url", server)[0] == 0
    assert ask("GET", "/subjects/orders-value/versions") == [1, 2]


@pytest.mark.parametrize(
    ("lock", "why"),
    [
        ("", "the server has a different schema as version 1 (id 1), and versions never change"),
        ("1 other@1 JSON {}", "the server uses id 1 for a different schema"),
    ],
)
def test_what_the_server_has_otherwise_is_refused(folder, server, call, ask, lock, why):
    from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest

    ask("POST", "/subjects/orders-value/versions", {"schema": CLOSED, "schemaType": "JSON"})
    put(folder, "other" if lock else "orders-value", 1, WIDER)
    (folder / "ids.lock").write_text(lock.format(schema_digest("JSON", WIDER)))
    for command in ("plan", "apply"):
        code, out, _ = call(command, folder, "--url", server)
        assert (code, why in " ".join(out.split())) == (1, True)
    assert ask("GET", "/subjects") == ["orders-value"]


@pytest.mark.parametrize(("validation", "where"), [("/orders-value", "orders-value"), ("", "the whole registry")])
def test_a_subject_that_is_read_only_is_left_alone(folder, server, call, ask, validation, where):
    ask("POST", "/subjects/orders-value/versions", {"schema": CLOSED, "schemaType": "JSON"})
    ask("PUT", f"/mode{validation}", {"mode": "READONLY"})
    put(folder, "orders-value", 1, CLOSED)
    put(folder, "orders-value", 2, WIDER)
    code, out, _ = call("apply", folder, "--url", server)
    assert (code, f"! orders-value 2: {where} is in mode READONLY" in " ".join(out.split())) == (1, True)
    own = "global: {mode: readwrite}" if not validation else "subjects: {orders-value: {mode: readwrite}}"
    (folder / "registry.yaml").write_text(own)
    assert call("apply", folder, "--url", server)[0] == 0
    assert call("plan", folder, "--url", server) == (0, "", "nothing to do\n")
    assert ask("GET", "/subjects/orders-value/versions") == [1, 2]


def test_text_that_is_no_json_is_refused_before_anything_is_written(folder, server, call, ask):
    put(folder, "a-value", 1, CLOSED)
    put(folder, "b-value", 1, "<<<<<<< ours\n{}\n")
    code, out, _ = call("apply", folder, "--url", server)
    assert (code, "! b-value 1: its text is not JSON" in out, ask("GET", "/subjects")) == (1, True, [])


@pytest.mark.parametrize("command", ["apply", "push"])
def test_a_run_that_is_cut_off_is_gone_on_with(folder, make_server, call, here, command):
    small = make_server(Options(max_body_bytes=2_000), store="kept")
    narrow = {"compatibility": "FULL"}
    lines = []
    for version, text in enumerate((NARROWER, WIDER, json.dumps({"title": "x" * 3_000}), CLOSED), 1):
        put(folder, "orders-value", version, text)
        from cdc_contracts.registry.authoring.sync.schema_digests import schema_digest

        lines.append(f"{version + 40} orders-value@{version} JSON {schema_digest('JSON', text)}\n")
    (folder / "ids.lock").write_text("".join(lines))
    (folder / "registry.yaml").write_text(json.dumps({"subjects": {"orders-value": {"config": narrow}}}))
    code, out, err = call("apply", folder, "--url", small)
    assert (code, out.count("+ orders-value")) == (3, 2)
    assert "3 of 5 steps were done; run it again to continue" in err
    code, out, _ = call("plan", folder, "--url", small)
    assert out.splitlines() == [
        "+ orders-value 3 (id 43)", "+ orders-value 4 (id 44)", "~ orders-value mode IMPORT -> unset",
    ]  # fmt: skip
    whole = make_server(store="kept")
    assert call(command, folder, "--url", whole)[0] == 0
    assert call("plan", folder, "--url", whole, "--prune") == (0, "", "nothing to do\n")
    assert call("dump", here / "again", "--url", whole)[0] == 0
    assert (here / "again" / "ids.lock").read_text().splitlines()[1:] == [one.strip() for one in lines]


class NoRegistry(BaseHTTPRequestHandler):
    """A web server that is something else."""

    reported: ClassVar[list[str | None]] = []
    """What was said about who asks."""

    def do_GET(self):
        self.reported.append(self.headers["Authorization"])
        status, kind, body = {
            "/page": (200, "text/html", b"<html>hello</html>"),
            "/gone": (404, "text/html", b"<html>nothing here</html>"),
            "/moved": (302, "text/html", b""),
            "/api": (404, "application/json", b'{"detail": "Not Found"}'),
            "/list": (200, "application/json", b'{"subjects": []}'),
        }["/" + self.path.split("/")[1]]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Location", "https://login.example/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def no_registry():
    with HTTPServer(("127.0.0.1", 0), NoRegistry) as listening:
        thread = Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("page", "not a schema registry: it answered with status 200, text/html"),
        ("gone", "not a schema registry: it answered with status 404, text/html"),
        ("moved", "redirecting to https://login.example/"),
        ("api", "not a schema registry: it answered with status 404, application/json"),
        ("list", "not a schema registry: its subjects are not a list"),
    ],
)
def test_what_is_no_registry_is_reported_as_such(folder, no_registry, call, path, reported):
    put(folder, "orders-value", 1, CLOSED)
    code, out, err = call("plan", folder, "--url", f"{no_registry}/{path}")
    assert (code, out, reported in err) == (3, "", True)


@pytest.mark.parametrize("command", [["apply"], ["push"], ["pull", "--force"], ["dump", "--force"]], ids="".join)
def test_no_command_takes_such_an_answer_for_success(folder, no_registry, call, command):
    put(folder, "orders-value", 1, CLOSED)
    before = sorted(folder.rglob("*"))
    assert call(*command, folder, "--url", f"{no_registry}/gone")[:2] == (3, "")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "environment", "reported"),
    [
        ([], {}, None),
        (["--user", "reader"], {"PASSWORD": "correct horse"}, "Basic cmVhZGVyOmNvcnJlY3QgaG9yc2U="),
        ([], {"USER": "reader", "PASSWORD": "correct horse"}, "Basic cmVhZGVyOmNvcnJlY3QgaG9yc2U="),
        ([], {"TOKEN": "correct-horse"}, "Bearer correct-horse"),
        (["--user", "reader"], {"PASSWORD": "correct horse", "TOKEN": "x"}, "Basic cmVhZGVyOmNvcnJlY3QgaG9yc2U="),
    ],
)
def test_who_asks_is_said_to_the_server_and_to_nobody_else(
    folder, no_registry, call, monkeypatch, options, environment, reported
):
    put(folder, "orders-value", 1, CLOSED)
    for name, value in {**environment, "URL": f"{no_registry}/page"}.items():
        monkeypatch.setenv(f"CDC_CONTRACTS_REGISTRY_{name}", value)
    code, out, err = call("plan", folder, *options, "--debug")
    assert (code, NoRegistry.reported[-1]) == (3, reported)
    assert not any(secret in out + err for secret in ("correct", "Y29ycmVjdC", "cmVhZGVy"))


def test_a_registry_that_does_not_answer_is_no_success(folder, call):
    put(folder, "orders-value", 1, CLOSED)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        code, out, err = call("plan", folder, "--url", f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert (code, out) == (3, "")
    assert err.startswith("error: the registry cannot be reached: ")


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ([], "Give --url http://HOST:PORT, or set CDC_CONTRACTS_REGISTRY_URL."),
        (["--url", "registry:8081"], "is not the URL of a registry"),
        (["--url", "http://reader:hunter2@registry:8081"], "do not put a password in the URL"),
        (["--url", "http://registry:8081", "--user", "reader:hunter2"], "--user takes a name only"),
        (["--url", "http://registry:8081", "--user", "reader"], "Set CDC_CONTRACTS_REGISTRY_PASSWORD."),
        (["--url", "https://registry:8081", "--ca", "none.pem"], "not a certificate file"),
    ],
)
def test_a_wrong_call_is_reported_and_no_password_is(folder, call, options, reported):
    put(folder, "orders-value", 1, CLOSED)
    code, out, err = call("plan", folder, *options)
    assert (code, out, reported in err, "hunter2" in err) == (2, "", True, False)


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        ({}, "contains nothing for a registry"),
        ({"subjects/a/v1.yaml": "deleted: true"}, "v1.yaml has no schema"),
        ({"subjects/a/one.json": "{}"}, "one.json is not named after a version"),
        ({"subjects/a/v1.json": "{}", "subjects/a/v1.avsc": '"int"'}, "are the same version"),
        ({"subjects/a/v1.json": "{}", "subjects/a/v1.yaml": "note: x"}, "`note` is not allowed here"),
        ({"registry.yaml": "level: NONE"}, "`level` is not allowed here"),
        ({"subjects/a/v1.json": "{}", "ids.lock": "<<<<<<< ours\n"}, "Resolve the conflict in git."),
    ],
)
def test_a_folder_that_is_wrong_says_where(folder, call, files, reported):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    code, _, err = call("plan", folder, "--url", "http://127.0.0.1:9")
    assert (code, reported in err) == (2, True)
