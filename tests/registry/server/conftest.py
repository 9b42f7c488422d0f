"""The stores that a registry is kept in: a SQLite file, and PostgreSQL where it is installed."""

from __future__ import annotations

import pytest
from registry_servers import Postgres, postgres_programs


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
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/registry.db"
    return request.getfixturevalue("postgres").new_database()
