"""What a server said it keeps, it keeps: killed while it writes, and beside another server on the same database."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import sys
import threading
import time
import uuid

import httpx
import patient
import pytest
from registry_servers import ServerProcess, serving

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.server.store.registry_store import Store

WRITERS = 8
KILLS = int(os.environ.get("CDC_REGISTRY_KILLS", "3"))
"""`CDC_REGISTRY_KILLS=50 pytest tests/registry/server/test_durability.py` is the long form."""


class Writers:
    """Clients that register schemas of their own, under a subject of their own and under one that all share.

    A request that got no answer is sent again until it gets one, as a real client does. `acknowledged` holds what was
    answered with 200: subject, schema, id.
    """

    def __init__(self, addresses):
        self._addresses = addresses
        self._stop = threading.Event()
        self.acknowledged = []
        self.failures = []
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self, count):
        wanted = len(self.acknowledged) + count
        until = time.monotonic() + patient.SECONDS
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < until, "nothing is acknowledged any more"
            time.sleep(0.002)

    def _write(self, writer):
        address = self._addresses[writer % len(self._addresses)]
        with patient.Client(base_url=address) as client:
            count = 0
            while not self._stop.is_set():
                count += 1
                subject = "shared" if count % 2 else f"own-{writer}"
                schema = json.dumps({"type": "record", "name": f"W{writer}N{count}", "fields": []})
                self._register(client, subject, schema)

    def _register(self, client, subject, schema):
        while not self._stop.is_set():
            try:
                answer = client.post(f"/subjects/{subject}/versions", json={"schema": schema})
            except httpx.TransportError:
                continue
            if answer.status_code == 200:
                self.acknowledged.append((subject, schema, answer.json()["id"]))
            else:
                self.failures.append(answer.text)
            return


def allow_everything(address):
    patient.put(f"{address}/config", json={"compatibility": "NONE"}).raise_for_status()


def check_what_was_acknowledged(address, acknowledged):
    """Every schema is there under its id, no id stands for two, and neither ids nor versions have a gap."""
    with patient.Client(base_url=address) as client:
        kept = client.get("/schemas").raise_for_status().json()
    schemas = {(entity["subject"], entity["id"]): json.loads(entity["schema"]) for entity in kept}
    for subject, schema, number in acknowledged:
        assert schemas[subject, number] == json.loads(schema)
    by_id = {}
    for entity in kept:
        assert by_id.setdefault(entity["id"], entity["schema"]) == entity["schema"]
    assert sorted(by_id) == list(range(1, len(by_id) + 1))
    by_subject = {}
    for entity in kept:
        by_subject.setdefault(entity["subject"], []).append(entity["version"])
    assert all(sorted(versions) == list(range(1, len(versions) + 1)) for versions in by_subject.values())
    return by_id


@pytest.mark.nightly
def test_what_was_acknowledged_survives_a_server_that_is_killed_while_eight_clients_write(tmp_path):
    chance = random.Random(20_261_121)
    server = ServerProcess(f"sqlite:///{tmp_path}/registry.db").start()
    try:
        server.wait()
        allow_everything(server.address)
        with Writers([server.address]) as writers:
            for _ in range(KILLS):
                writers.wait_for_more(WRITERS)
                time.sleep(chance.random() * 0.1)
                server.kill()
                server.start()
            writers.wait_for_more(WRITERS)
        assert writers.failures == []
        kept = check_what_was_acknowledged(server.address, writers.acknowledged)
        sys.stderr.write(f"{KILLS} kills, {len(writers.acknowledged)} acknowledged, {len(kept)} kept\n")
    finally:
        server.close()


def test_two_servers_write_into_one_postgresql_at_once(postgres):
    url = postgres.new_database()
    with serving(url) as first, serving(url) as second:
        allow_everything(first)
        with Writers([first, second]) as writers:
            writers.wait_for_more(100)
        assert writers.failures == []
        assert check_what_was_acknowledged(first, writers.acknowledged) == check_what_was_acknowledged(
            second, writers.acknowledged
        )
        same = json.dumps({"type": "record", "name": "Same", "fields": []})
        reported = {
            patient.post(f"{one}/subjects/s/versions", json={"schema": same}).json()["id"] for one in (first, second)
        }
        assert len(reported) == 1


def test_what_one_server_erased_another_serves_no_more_after_a_second(postgres):
    url = postgres.new_database()
    with serving(url) as first, serving(url) as second:
        patient.post(f"{first}/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
        assert patient.get(f"{second}/schemas/ids/1").json() == {"schemaType": "AVRO", "schema": '"int"'}
        patient.delete(f"{first}/subjects/s").raise_for_status()
        patient.delete(f"{first}/subjects/s?permanent=true").raise_for_status()
        assert patient.get(f"{first}/schemas/ids/1").status_code == 404
        until = time.monotonic() + patient.SECONDS
        while patient.get(f"{second}/schemas/ids/1").status_code != 404:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_server_finds_again_what_it_kept(store_url):
    with serving(store_url) as address:
        patient.post(f"{address}/subjects/s/versions", json={"schema": '"int"'}).raise_for_status()
    with serving(store_url) as address:
        assert patient.get(f"{address}/schemas/ids/1").json() == {"schemaType": "AVRO", "schema": '"int"'}
        assert patient.post(f"{address}/subjects/t/versions", json={"schema": '"long"'}).json() == {"id": 2}


def test_tables_of_a_newer_release_are_left_alone(tmp_path):
    path = tmp_path / "registry.db"
    Store(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE registry_form SET form = 99")
    connection.close()
    with pytest.raises(
        UnavailableError, match="the registry's tables have form 99, but this release only knows forms up to 2"
    ):
        Store(str(path))


def test_tables_of_an_older_release_are_named_anew(tmp_path):
    """Form 1 kept Avro as it was sent, and gave guids of its own."""
    path = tmp_path / "registry.db"
    with serving(str(path)) as address, patient.Client(base_url=address) as client:
        for subject in ("s", "erased"):
            record = {"name": "shop.Order", "type": "record", "fields": [], "doc": subject}
            client.post(f"/subjects/{subject}/versions", json={"schema": json.dumps(record)}).raise_for_status()
        for query in ("", "?permanent=true"):
            client.delete(f"/subjects/erased{query}").raise_for_status()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE registry_form SET form = 1")
        connection.execute(
            "UPDATE schemas SET guid = 'own', identity = 'old', text = ? WHERE id = 1",
            ['{"fields":[],"doc":"s","name":"shop.Order","type":"record"}'],
        )
    connection.close()
    text = '{"type":"record","name":"Order","namespace":"shop","doc":"s","fields":[]}'
    guid = str(uuid.UUID(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()))
    with serving(str(path)) as address, patient.Client(base_url=address) as client:
        assert client.get("/schemas/ids/1").json()["schema"] == text
        assert client.get(f"/schemas/guids/{guid}/ids").json() == [{"context": ".", "id": 1}]
        assert client.post("/subjects/s/versions", json={"schema": text}).json()["id"] == 1
        assert client.get("/schemas/ids/2").status_code == 404


def test_a_database_that_cannot_be_opened_is_said_without_its_password(tmp_path):
    with pytest.raises(UnavailableError) as failure:
        Store("postgresql://somebody:secret@127.0.0.1:1/registry")
    assert "the registry's database cannot be opened" in str(failure.value)
    assert "secret" not in str(failure.value)
    (tmp_path / "file").write_text("no database at all, and longer than a header of one would be" * 10)
    with pytest.raises(UnavailableError, match="file is not a database"):
        Store(str(tmp_path / "file"))


@pytest.mark.parametrize("url", ["mysql://localhost/registry", "http://localhost", "", "sqlite://"])
def test_a_url_of_no_database_is_a_wrong_call(url):
    with pytest.raises(UsageError):
        Store(url)
