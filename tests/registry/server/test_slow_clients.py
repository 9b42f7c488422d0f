"""Clients that send half of something, or read nothing, keep nobody else waiting."""

from __future__ import annotations

import contextlib
import socket
import time
from urllib.parse import urlsplit

import patient
import pytest
from registry_sites import serving_site

from cdc_contracts.registry.server.running import listening
from cdc_contracts.registry.server.running.connection_limits import Limits

HALF_HEADER = b"GET /subjects HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_BODY = (
    b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"schema": '
)
WHOLE = b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n"
NEVER = 100_000
"""Seconds that no test waits: of all limits only the one that is asked for may end a connection."""
SHORT = 0.5


def limited(**limits):
    """Limits of which only those that are named are ever reached."""
    never = dict.fromkeys(("header_seconds", "body_seconds", "answer_seconds", "idle_seconds"), NEVER)
    return Limits(**{**never, **limits})


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/registry.db"


def connect(address, said):
    """A connection that has sent as much, and has begun to read its answer where that asks for one."""
    place = urlsplit(address)
    made = socket.create_connection((place.hostname, place.port), timeout=patient.SECONDS)
    with contextlib.suppress(ConnectionError):  # it may have given way already
        made.sendall(said)
        if said == WHOLE:
            assert made.recv(1) in (b"H", b"")
    return made


def received_until_its_end(connection):
    """What the server sends until it ends the connection."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while some := connection.recv(65_536):
            received += some
    return bytes(received)


@pytest.mark.parametrize("said", [b"", HALF_HEADER, HALF_BODY, WHOLE], ids=["nothing", "header", "body", "idle"])
def test_more_clients_than_there_may_be_who_send_nothing_more_keep_nobody_waiting(url, said):
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(serving_site(url, limits=limited(connections=50)))
        for _ in range(120):
            stack.enter_context(connect(address, said))
        client = stack.enter_context(patient.Client(base_url=address))
        assert [client.get("/subjects").status_code for _ in range(3)] == [200, 200, 200]


def test_the_one_that_waits_longest_gives_way(url):
    with serving_site(url, limits=limited(connections=3)) as address, contextlib.ExitStack() as stack:
        first, *later = (stack.enter_context(connect(address, HALF_HEADER)) for _ in range(4))
        assert received_until_its_end(first) == b""
        for one in later:
            one.sendall(b"\r\n\r\n")
            assert one.recv(12) == b"HTTP/1.1 200"


def test_a_header_that_trickles_in_has_to_be_whole_in_time(url):
    with serving_site(url, limits=limited(header_seconds=SHORT)) as address:
        begun = time.monotonic()
        with connect(address, HALF_HEADER) as made, contextlib.suppress(ConnectionError):
            until = begun + patient.SECONDS
            while time.monotonic() < until:
                made.sendall(b"x")
                time.sleep(0.05)
        assert SHORT <= time.monotonic() - begun < patient.SECONDS


def test_the_header_of_a_second_request_has_to_be_whole_in_time_too(url):
    seconds = 4 * SHORT  # the first one has to be in time
    with serving_site(url, limits=limited(header_seconds=seconds)) as address, connect(address, WHOLE) as made:
        begun = time.monotonic()
        made.sendall(HALF_HEADER)
        assert received_until_its_end(made).startswith(b"TTP/1.1 200")
        assert time.monotonic() - begun >= seconds


def test_a_body_has_to_be_whole_in_time(url):
    with serving_site(url, limits=limited(body_seconds=SHORT)) as address, connect(address, HALF_BODY) as made:
        head, _, body = received_until_its_end(made).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 Request Timeout")
    assert body == b'{"error_code":408,"message":"HTTP 408 Request Timeout"}'


def test_a_connection_that_asks_for_nothing_more_ends(url):
    with serving_site(url, limits=limited(idle_seconds=SHORT)) as address, connect(address, WHOLE) as made:
        assert received_until_its_end(made).startswith(b"TTP/1.1 200")


def test_answers_have_to_be_read_in_time(url):
    with serving_site(url, limits=limited(answer_seconds=SHORT)) as address:
        place = urlsplit(address)
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(patient.SECONDS)
            reader.connect((place.hostname, place.port))
            # Far more than is kept for a reader on the way: none of it is read until the server gives up.
            with contextlib.suppress(ConnectionError):
                while True:
                    reader.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        assert patient.get(f"{address}/subjects").status_code == 200


def test_a_server_that_stops_waits_for_half_a_body_only_for_a_while_and_says_nothing_of_it(url, monkeypatch, caplog):
    monkeypatch.setattr(listening, "GRACE_SECONDS", listening.ENDING_SECONDS + SHORT)
    with contextlib.ExitStack() as half:
        with serving_site(url, limits=limited()) as address:
            made = half.enter_context(connect(address, HALF_BODY))
            half.enter_context(connect(address, HALF_HEADER))
            made.settimeout(SHORT)
            with pytest.raises(TimeoutError):  # it is being waited for
                made.recv(1)
            made.settimeout(patient.SECONDS)
        assert received_until_its_end(made) == b""
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
