"""Database servers for tests: started in folders of their own from the programs that are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import patient


def postgres_programs():
    """The folder of PostgreSQL's programs, as Debian installs them or as they are on the path; None without any."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    found = installed[0] if installed else shutil.which("initdb")
    return Path(found).parent if found else None


class Postgres:
    """A PostgreSQL server in a folder of its own, reached by a socket there, and by a port of 127.0.0.1 if one is given.

    `settings` are lines of its configuration, by name.
    """

    def __init__(self, programs, *, port=None, settings=None):
        self._programs = programs
        self._port = () if port is None else ("-p", port)
        self._folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._user = next(user for user in ("postgres", "nobody") if _has(user)) if os.geteuid() == 0 else None
        if self._user is not None:  # it refuses to run as root
            shutil.chown(self._folder, self._user)
        data = self._folder / "data"
        self._run("initdb", "-D", data, "-U", "registry", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        addresses = "-c listen_addresses=''" if port is None else f"-c listen_addresses=127.0.0.1 -p {port}"
        more = "".join(f" -c {name}={value}" for name, value in (settings or {}).items())
        options = f"-k {self._folder} {addresses} -c fsync=off -c max_connections=200{more}"
        self._run("pg_ctl", "-D", data, "-l", self._folder / "log", "-w", "-o", options, "start")

    def new_database(self):
        """The URL of an empty database."""
        name = f"r{uuid.uuid4().hex[:12]}"
        self.create_database(name)
        return f"postgresql://registry@/{name}?host={self._folder}"

    def run_script(self, url, text):
        """Run a script in a database as psql does. Raises CalledProcessError if a statement fails."""
        self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, content=text)

    def dump(self, url, *options):
        """The text that pg_dump writes of a database."""
        return self._run("pg_dump", *options, "-d", url)

    def create_database(self, name):
        self._run("createdb", "-h", self._folder, *self._port, "-U", "registry", name)

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


def mariadb_programs():
    """The folder of MariaDB's programs that run as root, as Debian installs them; None without any."""
    found = shutil.which("mariadbd", path="/usr/sbin:/usr/bin")
    return Path(found).parent if found else None


class MariaDb:
    """A MariaDB server in a folder of its own that writes a binlog of rows; its user `registry` may do everything.

    It is reached by the socket in `folder` without a password, and by `port` of 127.0.0.1 with the password `registry`.
    """

    def __init__(self, programs, *, port):
        self.port = port
        self.folder = Path(tempfile.mkdtemp(prefix="my"))
        user = ["--user=root"] if os.geteuid() == 0 else []
        data = [f"--datadir={self.folder / 'data'}", "--no-defaults"]
        data.reverse()  # it takes --no-defaults as its first option only
        install = [shutil.which("mariadb-install-db"), *data, *user, "--auth-root-authentication-method=normal"]
        subprocess.run([*install, "--skip-test-db"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = [
            *("--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL"),
            *(f"--port={port}", "--bind-address=127.0.0.1", f"--socket={self.socket}", "--skip-name-resolve"),
            *("--character-set-server=utf8mb4", "--default-time-zone=+00:00", "--innodb-flush-log-at-trx-commit=0"),
        ]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [programs / "mariadbd", *data, *user, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._wait()
        grants = "CREATE USER registry@'%' IDENTIFIED BY 'registry'; GRANT ALL ON *.* TO registry@'%';"
        self._ask(grants, check=True)

    @property
    def socket(self):
        return self.folder / "socket"

    def close(self):
        self._process.terminate()
        self._process.wait(patient.SECONDS)
        shutil.rmtree(self.folder)

    def _wait(self):
        until = time.monotonic() + patient.SECONDS
        while self._ask("SELECT 1", check=False) != 0:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < until, "MariaDB does not answer"
            time.sleep(0.1)

    def _ask(self, sql, *, check):
        command = ["mariadb", "--no-defaults", f"--socket={self.socket}", "-u", "root", "-e", sql]
        return subprocess.run(command, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
