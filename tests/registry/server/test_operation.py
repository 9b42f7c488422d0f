"""What those who run a server see of it: health, figures, and a log without secrets."""

import contextlib
import errno
import io
import json
import sqlite3
import subprocess

import patient
import pytest
from prometheus_client.parser import text_string_to_metric_families
from registry_sites import serving_site, write_users
from stopwatch import measure

from cdc_contracts.cli.app import main
from cdc_contracts.registry.server.running.request_log import open_log


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/registry.db"


def samples(address):
    text = patient.get(f"{address}/metrics").text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = [sample.labels[name] for name in ("route", "code", "method", "kind") if name in sample.labels]
            found[sample.name, *labels] = sample.value
    return found


def test_requests_are_counted_by_route_and_never_by_path(url):
    with serving_site(url) as address, patient.Client(base_url=address) as client:
        for number in range(30):
            client.get(f"/subjects/s-{number}/versions")
            client.get(f"/nowhere/{number}")
            client.request(f"VERB{number}", "/subjects")
        client.post("/subjects/s/versions", json={"schema": '"int"'})
        client.post("/subjects/t/versions", json={"schema": '"int"'})
        client.get("/contexts/.c/subjects/s/versions")
        found = samples(address)
    requests = {key[1:]: value for key, value in found.items() if key[0] == "cdc_contracts_requests_total"}
    assert requests == {
        ("/subjects/{subject}/versions", "404", "GET"): 31,
        ("(none)", "404", "GET"): 30,
        ("/subjects", "405", "OTHER"): 30,
        ("/subjects/{subject}/versions", "200", "POST"): 2,
    }
    assert found[("cdc_contracts_request_seconds_count", "/subjects/{subject}/versions", "POST")] == 2
    assert (
        found[("cdc_contracts_schemas",)],
        found[("cdc_contracts_subjects",)],
        found[("cdc_contracts_versions",)],
    ) == (1, 2, 2)
    assert found[("cdc_contracts_store_seconds_count", "write")] == 2
    assert found[("cdc_contracts_store_seconds_count", "read")] > 30


def test_a_store_that_is_gone_is_reported_and_the_figures_stay(url, postgres):
    database = postgres.new_database()
    with serving_site(database) as address:
        assert patient.get(f"{address}/healthz").json() == {"status": "ok"}
        postgres._run("psql", "-h", postgres._folder, "-U", "registry", "-d", "postgres", "-c",
                      f'drop database "{database.split("/")[3].split("?")[0]}" with (force)')  # fmt: skip
        answer = patient.get(f"{address}/healthz")
        assert (answer.status_code, answer.json()) == (503, {"status": "the store does not answer"})
        answer = patient.get(f"{address}/subjects")
        assert (answer.status_code, answer.json()["error_code"]) == (500, 50001)
        found = samples(address)
        assert ("cdc_contracts_subjects",) not in found
        assert found["cdc_contracts_requests_total", "/healthz", "503", "GET"] == 1


def health(address):
    answer = patient.get(f"{address}/healthz")
    return answer.status_code, answer.json()["status"]


def test_a_full_disk_is_reported_before_anything_has_to_be_stored(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=False, capture_output=True
    ).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with serving_site(f"sqlite:///{disk}/registry.db") as address:
            assert health(address) == (200, "ok")
            with (disk / "other").open("wb", buffering=0) as other, contextlib.suppress(OSError):
                while other.write(bytes(4096)):
                    pass
            assert health(address) == (503, "nothing can be stored: No space left on device")
            (disk / "other").unlink()
            assert health(address) == (200, "ok")
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_file_system_without_room_is_reported_where_none_can_be_mounted(url, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    with serving_site(url) as address:
        monkeypatch.setattr("cdc_contracts.registry.server.store.database.tempfile.TemporaryFile", lambda **_: Full())
        assert health(address) == (503, "nothing can be stored: No space left on device")


def test_a_database_that_takes_no_change_or_is_gone_is_reported(url, tmp_path):
    with serving_site(url) as address:
        with sqlite3.connect(tmp_path / "registry.db") as connection:
            connection.execute(
                "create trigger t before update on registry_form begin select raise(fail, 'not now'); end"
            )
        connection.close()
        assert health(address) == (503, "nothing can be stored: not now")
        (tmp_path / "registry.db").rename(tmp_path / "moved.db")
        assert health(address) == (503, "nothing can be stored: the file of the database is gone")


def test_a_store_that_is_busy_for_a_moment_is_no_failure_and_one_that_stays_so_is(url, tmp_path, monkeypatch):
    with serving_site(url) as address:
        writer = sqlite3.connect(tmp_path / "registry.db", isolation_level=None)
        writer.execute("begin immediate")
        assert health(address) == (200, "ok")
        monkeypatch.setattr("cdc_contracts.registry.server.store.registry_store.BUSY_SECONDS", 0)
        assert health(address) == (503, "nothing can be stored: another writer has held the database for 0 seconds")
        writer.execute("rollback")
        assert health(address) == (200, "ok")
        writer.close()


def test_looking_leaves_nothing_behind_and_holds_no_lock(url, tmp_path):
    with serving_site(url) as address:
        patient.post(f"{address}/subjects/s/versions", json={"schema": '"int"'})
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        for _ in range(20):
            assert health(address) == (200, "ok")
        after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        assert after == before
        with sqlite3.connect(tmp_path / "registry.db", timeout=0) as connection:
            connection.execute("begin immediate")
        connection.close()


def test_a_database_of_postgresql_that_may_only_be_read_is_reported(postgres):
    database = postgres.new_database()
    name = database.split("/")[3].split("?")[0]

    def run(statement):
        postgres._run("psql", "-h", postgres._folder, "-U", "registry", "-d", name, "-c", statement)

    with serving_site(database) as address:
        assert health(address) == (200, "ok")
        run(f'alter database "{name}" set default_transaction_read_only = on')
        run("set transaction read write; select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()")  # fmt: skip
        reported = (503, "nothing can be stored: cannot execute SELECT FOR UPDATE in a read-only transaction")
        assert health(address) == reported


def test_the_figures_are_open_where_that_is_wanted(url, tmp_path):
    users = write_users(tmp_path / "users.yaml", {"a": ("b", ("read", "*"))})
    with serving_site(url, users=users) as address:
        assert patient.get(f"{address}/metrics").status_code == 401
        assert patient.get(f"{address}/metrics", auth=("a", "b")).status_code == 200
    with serving_site(url, users=users, open_metrics=True) as address:
        assert patient.get(f"{address}/metrics").status_code == 200
        assert patient.get(f"{address}/subjects").status_code == 401


def test_a_line_per_request_holds_no_secret(url, tmp_path):
    users = write_users(tmp_path / "users.yaml", {"ann": ("hunter2", ("read", "*"))})
    written = io.StringIO()
    with open_log("json", written), serving_site(url, users=users) as address:
        patient.get(f"{address}/subjects/a%2Fb%0Ac/versions?token=hunter2", auth=("ann", "hunter2"))
        patient.get(f"{address}/subjects", headers={"Authorization": "Bearer hunter2"})
        patient.post(f"{address}/subjects/s/versions", content=b'{"schema": "hunter2"}', auth=("ann", "hunter2"))
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert "hunter2" not in written.getvalue()
    assert [(one["method"], one["path"], one["status"], one["user"]) for one in lines] == [
        ("GET", "/subjects/a%2Fb%0Ac/versions", 404, "ann"),
        ("GET", "/subjects", 401, None),
        ("POST", "/subjects/s/versions", 403, "ann"),
    ]
    assert all(one["event"] == "request" and one["ms"] >= 0 and one["client"] == "127.0.0.1" for one in lines)


def test_the_log_can_be_text_or_nothing(url):
    written = io.StringIO()
    for form in ("none", "text"):
        with open_log(form, written), serving_site(url) as address:
            patient.get(f"{address}/subjects")
    [line] = written.getvalue().splitlines()
    assert " 127.0.0.1 - GET /subjects 200 " in line


def test_a_wrong_password_of_the_database_is_reported_in_a_line(postgres, capsys):
    rules = postgres._folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    try:
        rules.write_text("local all guarded scram-sha-256\n" + before)
        postgres._run("pg_ctl", "-D", postgres._folder / "data", "reload")
        database = postgres.new_database()
        postgres._run("psql", "-h", postgres._folder, "-U", "registry", "-d", "postgres", "-c",
                      "create role guarded login password 'right'")  # fmt: skip
        url = database.replace("registry@", "guarded:incorrect@")
        assert main(["registry", "serve", "--port", "0", "--store", url]) == 3
    finally:
        rules.write_text(before)
        postgres._run("pg_ctl", "-D", postgres._folder / "data", "reload")
    said = capsys.readouterr().err
    assert 'password authentication failed for user "guarded"' in said
    assert said.count("\n") == 2
    assert "incorrect" not in said


def test_a_schema_of_which_everything_changed_is_refused_shortly(url):
    """All 5,000 members changed, and the answer names the first, each with its message."""

    def schema(kind):
        members = {f"p{number}": {"type": kind} for number in range(5_000)}
        return {"schemaType": "JSON", "schema": json.dumps({"type": "object", "properties": members})}

    with serving_site(url) as address, patient.Client(base_url=address) as client:
        client.post("/subjects/s/versions", json=schema("integer"))
        refusal, taken = measure(lambda: client.post("/subjects/s/versions", json=schema("string")))
        asked = client.post("/compatibility/subjects/s/versions/latest?verbose=true", json=schema("string")).json()
    assert refusal.status_code == 409
    assert len(refusal.content) < 30_000
    assert "C102 type-changed" in refusal.json()["message"]
    assert "`cdc-contracts compat` lists all" in refusal.json()["message"]
    assert (asked["is_compatible"], len(asked["messages"])) == (False, 22)
    assert taken < 2.5
