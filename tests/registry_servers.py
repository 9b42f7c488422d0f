"""Registry servers for tests: in a thread, as a process that can be killed, and as a command."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
COMMAND = "import sys; from cdc_contracts.cli.app import main; sys.exit(main())"


@contextlib.contextmanager
def serving(url, options=None):
    """A server on a port of its own; yields its address."""
    store = Store(url)
    server = uvicorn.Server(uvicorn.Config(make_app(store, options or Options()), log_level="error", lifespan="off"))
    with listening(server, store) as address:
        yield address


@contextlib.contextmanager
def answering(answers, *, refusal=404, certificate=None):
    """A server with some JSON by path and query, and a refusal for what it does not have; yields its address.

    A text stands for a schema of Protobuf.
    """

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self):
            found = answers.get(self.path, {"error_code": refusal, "message": "not found"})
            is_text = isinstance(found, str)
            body = (found if is_text else json.dumps(found)).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Content-Type", "application/x-protobuf" if is_text else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
        server.shutdown()


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


@contextlib.contextmanager
def served(tmp_path, *options, descriptors=None, **environment):
    """The command `registry serve` as a process; yields its URL, what it writes, and the process."""
    written = tmp_path / "stderr"
    with written.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "registry", "serve", "--port", "0", *options],
            stderr=stream, cwd=tmp_path, env={**os.environ, **environment},
        )  # fmt: skip
    if descriptors is not None:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (descriptors, descriptors))
    try:
        until = time.monotonic() + patient.SECONDS
        while not (found := re.search(r"serving (\S+)", written.read_text())):
            assert process.poll() is None, written.read_text()
            assert time.monotonic() < until, written.read_text()
            time.sleep(0.05)
        yield found[1], written, process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def listen():
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # else asyncio leaves Nagle on: 40 ms an answer
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def address_of(listener):
    return f"http://127.0.0.1:{listener.getsockname()[1]}"
