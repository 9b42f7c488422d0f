"""Real servers, each empty, and a folder of contracts of one's own."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import patient
import pytest
from registry_servers import serving

from cdc_contracts.cli.app import main

OWN = Path(__file__).parents[1] / "lint" / "contracts"


@pytest.fixture
def make_server(tmp_path):
    """A function that starts a server, on an empty store unless one is named, and returns its address."""
    with contextlib.ExitStack() as stack:

        def make(options=None, store=None):
            store = store or f"store-{len(list(tmp_path.glob('*.db')))}"
            return stack.enter_context(serving(f"sqlite:///{tmp_path}/{store}.db", options))

        yield make


@pytest.fixture
def server(make_server):
    return make_server()


@pytest.fixture
def ask(server):
    """A function that asks the server and returns what it says."""
    with patient.Client(base_url=server) as client:

        def asked(method, path, body=None):
            return client.request(method, path, json=body).json()

        yield asked


@pytest.fixture
def here(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def contracts(here):
    """A folder with two versions of a contract, named from the project it is in."""
    return shutil.copytree(OWN, here / "contracts")


@pytest.fixture
def call(capsys):
    """A function that calls a command of `registry` and returns its exit code, output and talk."""

    def called(*arguments):
        code = main(["registry", *map(str, arguments)])
        return code, *capsys.readouterr()

    return called
