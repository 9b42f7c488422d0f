"""Brokers with passwords, certificates and rights: what is read, and why something is not, by both engines."""

import re
import shutil
import time
from pathlib import Path

import pytest
import yaml
from secured_broker import SCRAM_USER, STORE_PASSWORD, create_scram_user, grant, write_client_files, write_jks_files
from topics import rendered

from cdc_contracts.cli.app import main

CASES = yaml.safe_load(Path(__file__).with_name("secured_brokers.yaml").read_text(encoding="utf-8"))
SECRETS = ("batterystaple", "correcthorse", SCRAM_USER[1], "Tr0ub4dor", STORE_PASSWORD, "BEGIN PRIVATE KEY")
RIGHTS = {"readable": ["READ"], "described": ["DESCRIBE"], "hidden": [], "output": ["WRITE"]}
"""Of the clients on topics, all of which have three messages but the last."""
SECONDS = 45
"""So long a case may take; the patience of commands is 15 s per question, and busy machines need some more."""


def written(given):
    return [pytest.param(name, marks=pytest.mark.nightly) if CASES[name].get("nightly") else name for name in given]


def java_version(engine):
    return int(engine.session.sparkContext._jvm.System.getProperty("java.specification.version"))


@pytest.fixture(scope="module")
def files(tmp_path_factory, authority):
    folder = tmp_path_factory.mktemp("clients")
    write_client_files(folder, authority)
    return folder


@pytest.fixture(scope="module")
def topics(broker, make_topic):
    """Topics by the rights that the clients have on them; on groups and on the cluster they have none."""
    create_scram_user(broker)
    clients = ["User:scribe", "User:CN=courier"]
    found = {}
    for name, operations in RIGHTS.items():
        values = rendered("dts/canal@2", 3) if name != "output" else []
        found[name] = make_topic([(0, value) for value in values])
        grant(broker, "TOPIC", found[name], "User:nobody", ["READ"])
        for client in clients if operations else []:
            grant(broker, "TOPIC", found[name], client, operations)
    grant(broker, "GROUP", "*", "User:nobody", ["READ"])
    grant(broker, "BROKER", "kafka-cluster", "User:nobody", ["DESCRIBE"])
    return found


@pytest.mark.parametrize("name", written(CASES))
def test_a_secured_broker_is_read_or_the_error_says_what_to_change(
    name, engine, broker, topics, files, tmp_path, capsys
):
    local = engine.tasks is None
    case = CASES[name] | ({} if local or java_version(engine) >= 19 else CASES[name].get("spark before Java 19", {}))
    if "jks" in case["properties"] and not (files / "truststore.jks").exists():
        write_jks_files(files)
    properties = tmp_path / "client.properties"
    properties.write_text(case["properties"].replace("$FILES", files.as_posix()))
    topic = topics[case.get("topic", "readable")]
    begun = time.monotonic()
    code = main([
        "audit", "topic", topic, "-b", broker.addresses[case["listener"]], "--kafka-config", str(properties),
        "--contract", "dts/canal@2", "--engine", "local" if local else "spark",
    ])  # fmt: skip
    seconds = time.monotonic() - begun
    out, err = capsys.readouterr()
    assert [secret for secret in SECRETS if secret in out + err] == []
    assert "Traceback" not in err
    if "error" not in case:
        assert code == 0
        assert out.startswith("PASS: all 3 messages conform to dts/canal@2")
        return
    assert seconds < SECONDS
    assert (code, out) == (case.get("code", 3), "")
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    for short, real in topics.items():
        err, line = (re.sub(rf"\b{real}\b", short, text) for text in (err, line))
    assert line.startswith(f"error: {case['error']}")
    assert [words for words in case["hint"] if words not in err] == []


SCRIBE = CASES["user without Describe"]["properties"]
BY_CONTRACT = ["--contract", "dts/canal@2"]
COMMANDS = {
    "decode": ["decode", "topic", "TOPIC", *BY_CONTRACT, "--to", "out", "--engine"],
    "convert": ["convert", "topic", "TOPIC", *BY_CONTRACT, "--to", "avro", "--output-topic", "OUTPUT", "--engine"],
    "tables infer": ["tables", "infer", "topic", "TOPIC", *BY_CONTRACT, "-o", "tables", "--engine"],
    "detect": ["detect", "topic", "TOPIC"],
    "why": ["why", "topic", "TOPIC", "--partition", "0", "--offset", "1"],
    "contract new": ["contract", "new", "own/dialect", "topic", "TOPIC", "--to", "contracts"],
    "capture": ["capture", "topic", "TOPIC", "-o", "a.parquet"],
    "audit --follow": ["audit", "topic", "TOPIC", *BY_CONTRACT, "--follow", "--once", "--checkpoint", "ck"],
    "decode --follow": ["decode", "topic", "TOPIC", *BY_CONTRACT, "--follow", "--once", "--to", "out"],
}
WITH_SPARK = {"capture", "audit --follow", "decode --follow"}
AT_NIGHT = WITH_SPARK | {"convert", "tables infer", "contract new"}


@pytest.fixture
def as_scribe(broker, topics, tmp_path, monkeypatch, capsys):
    """A function that runs a command as a user with RIGHTS, and returns its exit code, and what it said."""
    monkeypatch.chdir(tmp_path)
    Path("client.properties").write_text(SCRIBE)

    def call(name, topic, output="output"):
        named = {"TOPIC": topics[topic], "OUTPUT": topics[output]}
        words = [named.get(word, word) for word in COMMANDS[name]]
        words += ["local"] if words[-1] == "--engine" else []
        code = main([*words, "-b", broker.addresses["scram"], "--kafka-config", "client.properties"])
        out, err = capsys.readouterr()
        assert [secret for secret in SECRETS if secret in out + err] == []
        for short, real in topics.items():
            err = err.replace(real, short)
        return code, err

    return call


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.nightly) if one in AT_NIGHT else one for one in COMMANDS]
)
def test_a_command_needs_no_right_but_read_on_its_topic_and_says_so_where_that_is_missing(name, as_scribe, request):
    if name in WITH_SPARK:
        request.getfixturevalue("spark")
    code, err = as_scribe(name, "readable")
    assert code in {0, 1}, err
    shutil.rmtree("ck", ignore_errors=True)
    shutil.rmtree("out", ignore_errors=True)
    Path("a.parquet").unlink(missing_ok=True)
    code, err = as_scribe(name, "described")
    assert code == 3, err
    assert err.count("error: ") == 1
    assert "error: not authorized to read topic described" in err
    assert "--allow-principal User:scribe --operation Read --topic described" in err
    assert "Traceback" not in err


def test_a_topic_that_may_not_be_written_is_named_with_the_right_to_it(as_scribe):
    code, err = as_scribe("convert", "readable", "described")
    assert code == 3, err
    assert "error: records cannot be written to topic described" in err
    assert "--allow-principal User:scribe --operation Write --topic described" in err


def test_a_pattern_matches_the_topics_that_the_user_may_see(broker, topics, tmp_path, capsys):
    (tmp_path / "client.properties").write_text(SCRIBE)
    pattern = "|".join(topics[name] for name in ("readable", "hidden"))
    call = ["audit", "topic", "--pattern", pattern, *BY_CONTRACT, "--engine", "local"]
    code = main([*call, "-b", broker.addresses["scram"], "--kafka-config", str(tmp_path / "client.properties")])
    assert (code, capsys.readouterr().out.startswith("PASS: all 3 messages")) == (0, True)
