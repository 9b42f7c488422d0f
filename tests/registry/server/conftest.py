"""The stores that a registry is kept in: a SQLite file, and PostgreSQL where it is installed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from database_servers import Postgres, postgres_programs


@pytest.fixture(scope="session")
def postgres():
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    server = Postgres(programs)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of an empty store of each kind."""
    if request.param == "postgresql":
        yield request.getfixturevalue("postgres").new_database()
        return
    # In memory where that can be: how long a disk takes to sync is not what these tests ask.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield f"sqlite:///{folder}/registry.db"
