"""Passwords and private keys: in nothing that a run writes, prints, or shows to those who list processes."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from secured_broker import CLIENT, SCRAM_USER, create_scram_user, grant, write_client_files
from topics import rendered

pytestmark = pytest.mark.nightly

MARK = "Tr0ub4dor"
"""Of the password: without what is escaped in one way or another."""
LOGIN = """\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
  username="scribe" password="Tr0ub4dor \\\\"&3\\\\"; a=b\\\\\\\\c, $d 'e'";
"""
CERTIFICATE = """\
security.protocol=SSL
ssl.ca.location=$FILES/authority.pem
ssl.certificate.location=$FILES/courier.crt
ssl.key.location=$FILES/courier.key
"""
WRONG = LOGIN.replace("c, $d", "c, $x")
BROKEN = LOGIN.replace("""e'";""", "e'")
CONTRACT = ["--contract", "dts/canal@2"]
RUNS = {
    "audit": ("scram", LOGIN, ["audit", "topic", "TOPIC", *CONTRACT, "--report", "r.json", "--report", "r.html"], 0),
    "audit by certificate": ("mutual", CERTIFICATE, ["audit", "topic", "TOPIC", *CONTRACT], 0),
    "decode --follow": (
        "scram", LOGIN, ["decode", "topic", "TOPIC", *CONTRACT, "--to", "out", "--follow", "--once"], 0,
    ),
    "convert": (
        "scram", LOGIN, ["convert", "topic", "TOPIC", *CONTRACT, "--to", "avro", "--output-topic", "OUTPUT"], 0,
    ),
    "audit with a wrong password": ("scram", WRONG, ["--debug", "audit", "topic", "TOPIC", *CONTRACT], 3),
    "audit with a line that is no JAAS": ("scram", BROKEN, ["--debug", "audit", "topic", "TOPIC", *CONTRACT], 2),
}  # fmt: skip
DEFAULTS = """\
spark.eventLog.enabled true
spark.eventLog.compress false
spark.eventLog.dir file://$FOLDER/events
spark.ui.enabled true
spark.ui.port 0
spark.redaction.regex (?i)of-the-user
spark.sql.redaction.options.regex (?i)of-the-user
"""
LOGGING = """\
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = $FOLDER/spark.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
logger.kafka.name = org.apache.kafka
logger.kafka.level = debug
logger.source.name = org.apache.spark.sql.kafka010
logger.source.level = debug
"""


@pytest.fixture(scope="module")
def topics(broker, make_topic):
    create_scram_user(broker)
    found = {"TOPIC": make_topic([(0, value) for value in rendered("dts/canal@2", 30)]), "OUTPUT": make_topic()}
    for principal in (f"User:{SCRAM_USER[0]}", f"User:{CLIENT}"):
        grant(broker, "TOPIC", found["TOPIC"], principal, ["READ"])
        grant(broker, "TOPIC", found["OUTPUT"], principal, ["WRITE"])
    return found


class Onlooker(threading.Thread):
    """Lists all processes again and again, with their environment, as `ps` does, and keeps those with a secret."""

    def __init__(self, secrets):
        super().__init__(daemon=True)
        self.secrets, self.told, self.rounds, self.done = secrets, set(), 0, threading.Event()

    def run(self):
        while not self.done.wait(0.05):
            self.rounds += 1
            for process in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        shown = (process / name).read_bytes()
                    except OSError:
                        continue
                    if any(secret in shown for secret in self.secrets):
                        self.told.add(f"{name}: {shown[:300]!r}")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are listed elsewhere")
@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_writes_prints_and_shows_no_secret(name, engine, broker, topics, authority, tmp_path):
    listener, properties, arguments, code = RUNS[name]
    if engine == "local" and "--follow" in arguments:
        pytest.skip("a stream needs Spark")
    files, folder = tmp_path / "files", tmp_path / "run"
    for made in (files, folder / "conf", folder / "events"):
        made.mkdir(parents=True)
    write_client_files(files, authority)
    (files / "client.properties").write_text(properties.replace("$FILES", str(files)))
    for conf, text in {"spark-defaults.conf": DEFAULTS, "log4j2.properties": LOGGING}.items():
        (folder / "conf" / conf).write_text(text.replace("$FOLDER", str(folder)))
    key = (files / "courier.key").read_bytes().splitlines()[1]
    onlooker = Onlooker([MARK.encode(), key])
    onlooker.start()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "cdc_contracts.cli", *(topics.get(word, word) for word in arguments)),
            *("-b", broker.addresses[listener], "--kafka-config", str(files / "client.properties")),
            *("--engine", engine)[: 0 if "--follow" in arguments else 2],
        ],
        cwd=folder, env={**os.environ, "SPARK_CONF_DIR": str(folder / "conf"), "SPARK_LOCAL_DIRS": str(folder)},
        capture_output=True, check=False,
    )  # fmt: skip
    onlooker.done.set()
    onlooker.join()
    assert done.returncode == code, done.stderr.decode()
    assert onlooker.rounds
    assert onlooker.told == set()
    written = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if engine == "spark":
        assert any(content for path, content in written.items() if path.parts[0] == "events")
        assert written[Path("spark.log")]
    printed = {Path("stdout"): done.stdout, Path("stderr"): done.stderr}
    found = {str(path) for path, content in (written | printed).items() if MARK.encode() in content or key in content}
    assert found == set()
