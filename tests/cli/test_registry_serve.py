"""`registry serve` and `registry user`: what they refuse, how they start, and how they end."""

import contextlib
import datetime as dt
import ipaddress
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import time
from urllib.parse import urlsplit

import httpx
import patient
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from registry_servers import COMMAND, served
from registry_sites import write_users

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.extras import install_command
from cdc_contracts.registry.server.access.passwords import PasswordCheck, hash_token


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A certificate authority, and what it signed: a server and a client."""
    folder = tmp_path_factory.mktemp("certificates")
    now = dt.datetime.now(dt.UTC)
    authority = None
    for name in ("authority", "server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        issuer, signer = authority or (subject, key)
        authority = authority or (subject, key)
        addresses = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        made = (
            x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1)).not_valid_after(now + dt.timedelta(hours=1))
            .add_extension(addresses, critical=False)
            .add_extension(x509.BasicConstraints(ca=name == "authority", path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
            .add_extension(x509.KeyUsage(*[True] + [False] * 4 + [name == "authority"] * 2 + [False] * 2), critical=True)
            .sign(signer, hashes.SHA256())
        )  # fmt: skip
        (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        for ending, how in (
            ("key", serialization.NoEncryption()),
            ("locked", serialization.BestAvailableEncryption(b"x")),
        ):
            (folder / f"{name}.{ending}").write_bytes(
                key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
            )
    return folder


def test_a_server_with_users_and_tls_runs_from_its_first_line_to_its_signal(tmp_path, certificates):
    users = write_users(tmp_path / "users.yaml", {"ann": ("hunter2", ("write", "orders-*"))})
    files = [f"--tls-{name}={certificates / file}" for name, file in (("cert", "server.pem"), ("key", "server.key"))]
    options = [
        "--users",
        str(users),
        *files,
        "--tls-client-ca",
        str(certificates / "authority.pem"),
        "--host",
        "0.0.0.0",
    ]
    with served(tmp_path, *options) as (url, written, process):
        assert re.fullmatch(r"https://127\.0\.0\.1:\d+", url)
        trust = ssl.create_default_context(cafile=certificates / "authority.pem")
        with pytest.raises(httpx.HTTPError):
            patient.get(f"{url}/subjects", verify=trust)
        trust.load_cert_chain(certificates / "client.pem", certificates / "client.key")
        with patient.Client(base_url=url, verify=trust, auth=("ann", "hunter2")) as client:
            assert client.post("/subjects/orders-value/versions", json={"schema": '"int"'}).json() == {"id": 1}
        with pytest.raises(httpx.HTTPError):
            patient.get(f"{url.replace('https', 'http')}/subjects")
        process.send_signal(signal.SIGTERM)
        assert process.wait(patient.SECONDS) == 143
    reported = written.read_text()
    assert reported.splitlines()[0] == f"serving {url} from sqlite:///registry.sqlite to its users; Ctrl-C stops"
    assert re.search(r" 127\.0\.0\.1 ann POST /subjects/orders-value/versions 200 ", reported)
    assert "Traceback" not in reported
    assert "hunter2" not in reported


@pytest.mark.nightly
def test_the_catalogue_can_be_left_out(tmp_path):
    with served(tmp_path, "--no-catalogue") as (url, _, _):
        assert patient.get(f"{url}/subjects").json() == []


@pytest.mark.nightly
def test_a_request_that_is_under_way_is_finished_when_the_server_is_asked_to_stop(tmp_path):
    with served(tmp_path, "--log", "none") as (url, written, process):
        host, port = url.removeprefix("http://").split(":")
        body = b'{"schema": "\\"int\\""}'
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                               b"Content-Type: application/json\r\nContent-Length: %d\r\n"
                               b"Expect: 100-continue\r\n\r\n" % len(body))  # fmt: skip
            assert connection.recv(65_536).startswith(b"HTTP/1.1 100")
            connection.sendall(body[:5])
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            connection.sendall(body[5:])
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert b" 200 OK" in answer
        assert answer.endswith(b'{"id":1}')
        assert process.wait(patient.SECONDS) == 130
    assert written.read_text().count("\n") == 1


@pytest.mark.nightly
def test_a_request_that_comes_together_with_the_end_of_the_handshake_is_answered(tmp_path, certificates):
    files = [f"--tls-{name}={certificates / file}" for name, file in (("cert", "server.pem"), ("key", "server.key"))]
    with served(tmp_path, "--no-catalogue", "--log", "none", *files) as (url, _, _), contextlib.ExitStack() as stack:
        place = urlsplit(url)
        wire = stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=patient.SECONDS))
        received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        trust = ssl.create_default_context(cafile=certificates / "authority.pem")
        client = trust.wrap_bio(received, to_send, server_hostname="127.0.0.1")

        def until_done(step):
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    wire.sendall(to_send.read())
                    received.write(wire.recv(65_536))

        until_done(client.do_handshake)
        client.write(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wire.sendall(to_send.read())
        assert until_done(lambda: client.read(12)) == b"HTTP/1.1 200"


@pytest.fixture
def many_descriptors():
    """More files may be open here than there are descriptors for the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2_048
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            pytest.skip("the system lets nobody open so many files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tls", [pytest.param(False, id="plain", marks=pytest.mark.nightly), pytest.param(True, id="tls")]
)
def test_eleven_hundred_headers_that_were_half_sent_keep_nobody_else_waiting(
    tmp_path, certificates, many_descriptors, tls
):
    users = write_users(tmp_path / "users.yaml", {"ann": ("hunter2", ("read", "*"))})
    files = [f"--tls-{name}={certificates / file}" for name, file in (("cert", "server.pem"), ("key", "server.key"))]
    options = ["--users", str(users), "--log", "none", *(files if tls else [])]
    trust = ssl.create_default_context(cafile=certificates / "authority.pem")
    # Half of a header, or of what begins TLS: the server knows nothing yet of who sends it.
    half = b"\x16\x03\x01" if tls else b"GET /subjects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bas"
    with (
        served(tmp_path, "--no-catalogue", *options, descriptors=1024) as (url, written, process),
        contextlib.ExitStack() as stack,
    ):
        place = urlsplit(url)
        for _ in range(1_100):
            made = stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=patient.SECONDS))
            with contextlib.suppress(ConnectionError):  # it may have given way already
                made.sendall(half)
        with patient.Client(base_url=url, verify=trust, auth=("ann", "hunter2")) as client:
            assert [client.get("/subjects").status_code for _ in range(3)] == [200] * 3
        assert process.poll() is None
    assert written.read_text().count("\n") == 1


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """A function that calls `registry serve` with options that it refuses; returns the code and what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "cdc_contracts.registry.server.running.listening.listen", lambda *_: pytest.fail("it was not refused")
    )

    def call(*options):
        before = signal.getsignal(signal.SIGTERM)
        code = main(["registry", "serve", "--no-catalogue", *map(str, options)])
        signal.signal(signal.SIGTERM, before)
        return code, capsys.readouterr().err

    return call


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_it_does_not_listen_elsewhere_without_users(refused, host):
    code, said = refused("--host", host)
    assert code == 2
    assert f"refused to listen on {host} without users" in said
    assert "--users FILE, or --insecure" in said


def test_a_port_that_is_taken_is_reported(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused("--port", port)
    assert code == 3
    assert (
        said == f"error: cannot listen: Address already in use (127.0.0.1:{port})\n"
        "  Another process is listening there; stop it or give --port.\n"
    )


@pytest.mark.parametrize(
    ("store", "code", "says"),
    [
        ("sqlite:////proc/registry.db", 3, "the registry's database cannot be opened: unable to open database file (sqlite:////proc/registry.db)"),
        ("/proc/none/registry.db", 3, "cannot be opened"),
        ("mysql://u:hunter2@h/d", 2, "unsupported database"),
        ("://", 2, "not the URL of a database"),
        ("postgresql://u:hunter2@127.0.0.1:1/d", 3, "the registry's database cannot be opened"),
    ],
)  # fmt: skip
def test_a_store_that_cannot_be_used_is_reported_in_a_line(refused, store, code, says):
    got, said = refused("--store", store, "--port", 0)
    assert (got, "hunter2" in said, "Traceback" in said) == (code, False, False)
    assert says in said
    assert said.count("\n") <= 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--tls-key", "server.key"], "--tls-key and --tls-client-ca need --tls-cert"),
        (["--tls-cert", "none.pem"], "cannot be read"),
        (["--tls-cert", "server.pem"], "not a certificate with its key"),
        (["--tls-cert", "server.pem", "--tls-key", "client.key"], "not a certificate with its key: key values mismatch"),
        (["--tls-cert", "server.pem", "--tls-key", "server.locked"], "the key has a password"),
        (["--tls-cert", "server.pem", "--tls-key", "server.key", "--tls-client-ca", "server.key"], "not a certificate"),
        (["--users", "none.yaml"], "the users file: cannot be read"),
        (["--contracts", "none"], "there is no folder none"),
    ],
)  # fmt: skip
def test_files_that_are_wrong_are_reported(refused, certificates, options, says):
    named = [str(certificates / one) if (certificates / one).is_file() else one for one in options]
    code, said = refused("--port", 0, *named)
    assert code == 2
    assert says in said


def test_without_tls_a_server_with_users_that_is_reached_from_elsewhere_warns(tmp_path, monkeypatch, capsys):
    users = write_users(tmp_path / "users.yaml", {"a": ("b", ("read", "*"))})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cdc_contracts.registry.server.running.listening.listen", lambda *_: None)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["registry", "serve", "--host", "0.0.0.0", "--port", "0", "--users", str(users)]) == 0
    signal.signal(signal.SIGTERM, before)
    assert "warning: passwords and tokens are sent in the clear\n  Give --tls-cert" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(tmp_path):
    without = "import sys; sys.modules['uvicorn'] = None; " + COMMAND
    done = subprocess.run(
        [sys.executable, "-c", without, "registry", "serve"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 3
    assert done.stderr == f"error: this needs uvicorn, which is not installed\n  {install_command('server')}\n"


def test_a_line_for_a_password_is_made_from_standard_input(monkeypatch, capsys):
    read, write = os.pipe()
    os.write(write, b"s3cret\n")
    os.close(write)
    with os.fdopen(read) as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert main(["registry", "user", "ann", "--may", "write", "--may", "delete", "--subject", "orders-*"]) == 0
    captured = capsys.readouterr()
    [line] = captured.out.splitlines()
    user = yaml.safe_load(f"users:\n{line}")["users"]["ann"]
    assert user["rights"] == [{"may": ["write", "delete"], "subjects": ["orders-*"]}]
    assert PasswordCheck().verify("s3cret", user["password"])
    assert "s3cret" not in captured.out + captured.err


def test_a_token_is_shown_once_and_only_its_hash_is_in_the_line(capsys):
    assert main(["registry", "user", "robot", "--token"]) == 0
    captured = capsys.readouterr()
    token = captured.err.strip().rpartition(" ")[2]
    user = yaml.safe_load(f"users:\n{captured.out}")["users"]["robot"]
    assert user == {
        "token": hash_token(token),
        "rights": [{"may": ["read"], "subjects": ["*", ":.cdc-contracts:*"]}],
    }
    assert token not in captured.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a:b", "--token"], "must not contain colons or spaces"),
        (["a b", "--token"], "must not contain colons or spaces"),
        (["a", "--token", "--may", "rule"], "there is no right `rule`"),
        (["a", "--token", "--subject", ":team"], "is not a subject pattern"),
    ],
)
def test_a_line_that_would_not_be_taken_is_not_made(capsys, arguments, says):
    assert main(["registry", "user", *arguments]) == 2
    assert says in capsys.readouterr().err
