"""Registry servers for tests: in a thread, as a process that can be killed, and on PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import httpx
import patient
import uvicorn

from cdc_contracts.registry.server.running.server_app import make_app
from cdc_contracts.registry.server.service.request_service import Options
from cdc_contracts.registry.server.store.registry_store import Store

SOURCE = Path(__file__).parents[1] / ".src"
PROGRAM = """
import socket, sys, uvicorn
from cdc_contracts.registry.server.running.server_app import make_app
from cdc_contracts.registry.server.store.registry_store import Store
server = uvicorn.Server(uvicorn.Config(make_app(Store(sys.argv[1])), log_level="warning", lifespan="off"))
server.run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
"""


@contextlib.contextmanager
def serving(url, options=None):
    """A server on a port of its own; yields its address."""
    store = Store(url)
    server = uvicorn.Server(uvicorn.Config(make_app(store, options or Options()), log_level="error", lifespan="off"))
    with listening(server, store) as address:
        yield address


@contextlib.contextmanager
def listening(server, store):
    """Run a server in a thread, on a port of its own; yields its address."""
    listener = listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
        store.close()


class ServerProcess:
    """A server that is a process. Its socket outlives it, so that clients find it again where it was."""

    def __init__(self, url):
        self._url = url
        self._listener = listen()
        self._process = None
        self.address = address_of(self._listener)

    def start(self):
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, self._url, str(self._listener.fileno())],
            pass_fds=[self._listener.fileno()],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        return self

    def wait(self, seconds=patient.SECONDS):
        until = time.monotonic() + seconds
        while True:
            try:
                return patient.get(f"{self.address}/_health", timeout=seconds).raise_for_status()
            except httpx.TransportError:
                assert time.monotonic() < until, "the server does not answer"
                assert self._process.poll() is None, "the server ended"

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def close(self):
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self._listener.close()


def listen():
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # else asyncio leaves Nagle on: 40 ms an answer
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def address_of(listener):
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def postgres_programs():
    """The folder of PostgreSQL's programs, as Debian installs them or as they are on the path; None without any."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    found = installed[0] if installed else shutil.which("initdb")
    return Path(found).parent if found else None


class Postgres:
    """A PostgreSQL server in a folder of its own, reached by a socket there."""

    def __init__(self, programs):
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._user = next(user for user in ("postgres", "nobody") if _has(user)) if os.geteuid() == 0 else None
        if self._user is not None:  # it refuses to run as root
            shutil.chown(self._folder, self._user)
        data = self._folder / "data"
        self._run("initdb", "-D", data, "-U", "registry", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-k {self._folder} -c listen_addresses='' -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-D", data, "-l", self._folder / "log", "-w", "-o", options, "start")

    def new_database(self):
        """The URL of an empty database."""
        name = f"r{uuid.uuid4().hex[:12]}"
        self._run("createdb", "-h", self._folder, "-U", "registry", name)
        return f"postgresql://registry@/{name}?host={self._folder}"

    def run_script(self, url, text):
        """Run a script in a database as psql does. Raises CalledProcessError if a statement fails."""
        self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, content=text)

    def dump(self, url, *options):
        """The text that pg_dump writes of a database."""
        return self._run("pg_dump", *options, "-d", url)

    def close(self):
        self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self._folder)

    def _run(self, program, *arguments, content=None):
        as_user = ["setpriv", f"--reuid={self._user}", "--clear-groups"] if self._user else []
        command = [*as_user, str(self._programs / program), *map(str, arguments)]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as out:  # a pipe would stay open with the server
            subprocess.run(command, check=True, stdout=out, cwd=self._folder, input=content, encoding="utf-8")
            out.seek(0)
            return out.read()


def _has(user):
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
