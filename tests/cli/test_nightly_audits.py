"""Audits of every night, each of what is new and some of them stopped, say together what one audit of all says."""

import json
import random
from collections import Counter

import pytest
from topics import rendered

from cdc_contracts.cli.app import main

CONTRACT = "oms-community/canal@2"
COUNTS = ("read", "conforming", "control", "tombstone", "quarantined", "changes")
MOST_BYTES = 120


def audit(capsys, broker, topic, *more):
    call = ["audit", "topic", topic, "-b", broker.bootstrap, "--contract", CONTRACT, "--engine", "local", "--json"]
    main([*call, "--allow-empty", *more])
    report = json.loads(capsys.readouterr().out)
    errors = Counter()
    for one in report["findings"]:
        if one["severity"] == "error":
            errors[one["class"], one["rule"], one.get("path")] += one["count"]
    return report, Counter({name: report["ledger"][name] for name in COUNTS}), errors


@pytest.mark.parametrize("nights", [12, pytest.param(365, marks=pytest.mark.nightly)])
def test_the_runs_of_many_nights_add_up_to_one_audit_of_all(broker, make_topic, tmp_path, monkeypatch, capsys, nights):
    monkeypatch.chdir(tmp_path)
    draw, values = random.Random(nights), rendered(CONTRACT, 400)
    drifting = [b"x", None, b'{"a": 1}', values[0].replace(b'"type":"INSERT"', b'"type":"UPSERT"')]
    records, written = [], []
    for night in range(nights):
        for partition in range(2):
            new = [draw.choice(values) for _ in range(draw.randrange(40))] + draw.sample(drifting, night % 3)
            records += [(partition, value) for value in new]
        written.append([sum(one == partition for one, _ in records) for partition in range(2)])
    topic = make_topic(records, partitions=2)
    counts, errors, stopped, sizes = Counter(), Counter(), 0, set()
    for night in range(nights):
        # Each third run is to end before it has read all there is; the next has to read the rest.
        limit = ["--time-limit", "0.001"] if night % 3 == 1 else []
        ends = ",".join(f"{partition}={end}" for partition, end in enumerate(written[night]))
        report, counted, found = audit(
            capsys, broker, topic, "--since-last", "seen.json", "--to", f"offset:{ends}", *limit
        )
        counts, errors, stopped = counts + counted, errors + found, stopped + (report["stopped"] is not None)
        sizes.add(len((tmp_path / "seen.json").read_bytes()))
    report, counted, found = audit(capsys, broker, topic, "--since-last", "seen.json")
    whole, all_counts, all_errors = audit(capsys, broker, topic)
    assert (counts + counted, errors + found) == (all_counts, all_errors)
    assert (all_counts["quarantined"] > nights / 2, stopped >= nights // 4) == (True, True)
    ends = {str(one["partition"]): one["end"] for one in whole["ledger"]["partitions"]}
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert (seen[topic].pop("id") != "", seen) == (True, {topic: ends})
    assert max(sizes) <= MOST_BYTES
