"""Database servers for tests: started in folders of their own from the programs that are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path


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
