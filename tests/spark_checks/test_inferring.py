"""Table contracts inferred from a topic of a real broker: by Spark as in one process, and then audited with."""

from __future__ import annotations

import json

import pytest
from topics import rendered

from cdc_contracts.cli.app import main

REFERENCE = "oms-community/canal@2"


@pytest.mark.nightly
def test_a_contract_is_inferred_from_a_topic_and_finds_what_drifts_from_it(
    spark, broker, make_topic, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    values = rendered(REFERENCE, 400, controls=97)
    topic = make_topic([(place % 2, value) for place, value in enumerate([*values, b"{", None])], partitions=3)
    call = ["tables", "infer", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE]
    reported = {}
    for engine in ("spark", "local"):
        assert main([*call, "--engine", engine, "--json", "-o", engine]) == 0
        written = (tmp_path / engine / "shop.orders.yaml").read_text()
        reported[engine] = (json.loads(capsys.readouterr().out), written)
    assert reported["spark"] == reported["local"]
    (table,) = reported["spark"][0]["tables"]
    assert (reported["spark"][0]["read"], reported["spark"][0]["left_out"]) == (len(values) + 2, 1)
    assert (table["table"], table["primary_key"], len(table["columns"])) == ("shop.orders", ["id"], 12)
    assert {place["partition"] for place in (table["rows"]["first"], table["rows"]["last"])} == {0, 1}

    def audit(*files):
        call = ["audit", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE, "--tables", *files]
        half = len(values) // 2
        main([*call, "--engine", "local", "--json", "--to", f"offset:0={half},1={half}"])
        report = json.loads(capsys.readouterr().out)
        drifting = [one for one in report["findings"] if one["severity"] != "info"]
        columns = [column for one in drifting for column in one.get("columns") or [one]]
        return {(one["rule"], one["path"], one["expected"], *one["observed"]) for one in columns}

    assert audit("spark") == set()
    changed = (
        reported["spark"][1].replace("decimal(20,2)", "double").replace("  note: {type: text}", "  text: {type: text}")
    )
    (tmp_path / "changed.yaml").write_text(changed)
    assert audit("changed.yaml") == {
        ("D11.column-type", "/data/0/total", "double", "decimal(20,2)"),
        ("D11.new-column", "/data/0/note", "no such column", "text"),
        ("D11.lost-column", "/data/0/text", "text", "no such column"),
    }
