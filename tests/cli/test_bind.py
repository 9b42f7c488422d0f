"""`bind` records which contract a topic follows, and audits validate by it."""

import json

import pytest
from topics import NEWEST_CANAL, rendered

from cdc_contracts.cli.app import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_binding_is_made_changed_listed_and_taken_back(here, capsys):
    assert main(["bind", "orders", "dts/canal@1"]) == 0
    assert main(["bind", "orders", "dts/canal@2"]) == 0
    assert main(["bind", "orders", "dts/canal@2"]) == 0
    assert main(["bind", "--list"]) == 0
    assert main(["bind", "orders", "--remove"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "orders is now bound to dts/canal@1",
        "orders is now bound to dts/canal@2 (was dts/canal@1)",
        "orders is already bound to dts/canal@2",
        "TOPIC   CONTRACT",
        "orders  dts/canal@2",
        "orders is now bound to nothing",
    ]


def test_a_topic_that_is_bound_to_a_subject_may_follow_any_version_of_it(here, capsys):
    assert main(["bind", "orders", "dts/canal"]) == 0
    assert main(["bind", "orders", "dts/canal"]) == 0
    means = f"  its messages may follow any version of the subject\n  to register a schema, bind a single version, such as {NEWEST_CANAL}\n"
    assert capsys.readouterr() == (
        "orders is now bound to dts/canal\norders is already bound to dts/canal\n",
        means * 2,
    )
    assert main(["bind", "orders", "dts/canal@2"]) == 0
    assert capsys.readouterr() == ("orders is now bound to dts/canal@2 (was dts/canal)\n", "")


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (["orders", "dts/cannal@2"], "Did you mean dts/canal?"),
        (["orders", "dts/canal@99"], f"Did you mean {NEWEST_CANAL}?"),
        (
            ["orders", "canonical/change@1"],
            "messages cannot be validated against canonical/change: they are decoded into it",
        ),
        (["orders"], "Write `bind TOPIC SYSTEM/DIALECT@N`."),
        (["orders", "dts/canal@2", "--remove"], "Write `bind TOPIC SYSTEM/DIALECT@N`."),
        ([], "or --list"),
    ],
)
def test_a_call_that_binds_nothing_says_why_and_writes_nothing(here, capsys, call, reported):
    assert main(["bind", *call]) == 2
    assert reported in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_an_audit_judges_a_topic_by_what_it_is_bound_to(broker, make_topic, here, capsys):
    topic = make_topic([(0, value) for value in rendered("dts/canal@2", 60, seed=5)])
    verdicts = {}
    for reference in ("dts/canal@2", "drs/json@2"):
        assert main(["bind", topic, reference]) == 0
        capsys.readouterr()
        code = main(["audit", "topic", topic, "-b", broker.bootstrap, "--engine", "local", "--json"])
        report = json.loads(capsys.readouterr().out)
        verdicts[reference] = (code, report["contract"], report["verdict"])
    assert verdicts == {"dts/canal@2": (0, "dts/canal@2", "pass"), "drs/json@2": (1, "drs/json@2", "drift")}
