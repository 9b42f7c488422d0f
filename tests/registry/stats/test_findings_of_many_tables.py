"""One fault in many tables is one finding, which keeps every table: in the report, the baseline and the verdict."""

import json
from random import Random

import pytest
from topics import CATALOGUE, rendered
from version_switches import audited
from written_reports import (
    build_report,
    leave_out_known,
    render_baseline,
    render_junit,
    render_markdown,
    render_page,
    report_of,
)

from cdc_contracts.cli.output.summary import summarise
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.report.baseline import read_baseline
from cdc_contracts.registry.core.stats import tally as tallies
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, keep_first_findings

CONTRACT = "dts/canal@2"


def lacking(tables, *, member="pkNames", every=3):
    """Messages of many tables, each lacking a member."""
    found = []
    for number in range(every):
        for table, value in zip(tables, rendered(CONTRACT, len(tables), seed=number + 1), strict=True):
            message = json.loads(value)
            message["table"] = table
            if message.get("type") in ("INSERT", "UPDATE", "DELETE"):
                del message[member]
                found.append(json.dumps(message).encode())
    return [(0, offset, value) for offset, value in enumerate(found)]


def reported(records):
    return build_report(
        audited(records, CONTRACT, ReadingOptions()), catalogue=CATALOGUE, contract=CONTRACT, source={"kind": "file"},
        spans={}, fail_on="error",
    )  # fmt: skip


def missing(report):
    return [one for one in report["findings"] if one["class"] == "missing-field"]


def names(count):
    return [f"t{number:04d}" for number in range(count)]


def test_one_fault_in_many_tables_is_one_finding_with_the_count_of_each(capsys):
    records = lacking(names(300))
    report = reported(records)
    (finding,) = missing(report)
    held = {}
    for _, _, value in records:
        table = "shop." + json.loads(value)["table"]
        held[table] = held.get(table, 0) + 1
    assert {one["table"]: (one["count"], one["denominator"]) for one in finding["tables"]} == {
        table: (count, count) for table, count in held.items()
    }
    assert [one["table"] for one in finding["tables"]] == sorted(held)
    assert all(
        one["fingerprint"] == FindingKey("missing-field", "D05", "/pkNames", one["table"]).fingerprint
        for one in finding["tables"]
    )
    assert (finding["table"], finding["count"], finding["denominator"]) == (None, len(records), len(records))
    assert (finding["onset"]["kind"], finding["first"]["offset"]) == ("every", 0)
    assert not report["findings_cut"]
    pages = [render_junit(report), render_markdown(report), render_page(report)]
    summarise(report_of(report))
    for page in (*pages, capsys.readouterr().out):
        assert f"{len(held)} tables" in page
        assert "and" in page
        assert sum(table in page for table in held) <= 6
    assert sum(map(len, pages)) < 100_000


def test_a_table_that_the_baseline_lacks_is_new_drift_inside_a_finding_on_many(tmp_path):
    path = tmp_path / "known.json"
    path.write_text(render_baseline(reported(lacking(names(40)))))
    tables = {one["table"] for one in json.loads(path.read_text())["findings"]}
    assert {f"shop.{name}" for name in names(40)} <= tables
    same = leave_out_known(reported(lacking(names(40))), read_baseline(path))
    assert (same["verdict"], missing(same), same["baseline"]["known"]) == (
        "pass",
        [],
        len(reported(lacking(names(40)))["findings"]),
    )

    left = leave_out_known(reported(lacking(names(41))), read_baseline(path))
    (finding,) = missing(left)
    assert left["verdict"] == "drift"
    assert [one["table"] for one in finding["tables"] if "known" not in one] == ["shop.t0040"]
    assert "new: shop.t0040; 40 known" in render_junit(left)


def test_tables_with_different_faults_stay_different_findings():
    records = [*lacking(["a", "b", "c"]), *lacking(["d", "e"], member="sql")]
    records = [(0, offset, value) for offset, (_, _, value) in enumerate(records)]
    found = {one["path"]: [of["table"] for of in one["tables"]] for one in missing(reported(records))}
    assert found == {"/pkNames": ["shop.a", "shop.b", "shop.c"], "/sql": ["shop.d", "shop.e"]}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_of_a_whole_is_kept_of_its_parts_however_these_are_added_up(seed):
    draw = Random(seed)
    most, faults = draw.randint(1, 40), draw.randint(1, 12)
    keys = list({
        FindingKey("missing-field", "D05", f"/{draw.randrange(15)}", draw.choice([None, *names(draw.choice([2, 30]))]))
        for _ in range(200)
    })  # fmt: skip
    expected = keep_first_findings(keys, most, faults)
    kept = set()
    for _ in range(draw.randint(1, 8)):
        draw.shuffle(keys)
        kept = keep_first_findings({*kept, *keys[: len(keys) // 2]}, most, faults)
    kept = keep_first_findings({*kept, *keys}, most, faults)
    assert kept == expected
    assert len(kept) <= most
    assert len({key.path for key in kept}) <= faults


def test_few_faults_of_many_tables_leave_room_for_every_fault(monkeypatch):
    monkeypatch.setattr(tallies, "MOST_FINDINGS", 20)
    records = [*lacking(names(100), every=1), *lacking(["z1", "z2"], member="sql")]
    records = [(0, offset, value) for offset, (_, _, value) in enumerate(records)]
    report = reported(records)
    assert {one["path"] for one in missing(report)} == {"/pkNames", "/sql"}
    assert report["findings_cut"]
    assert report["findings_other"]["findings"] > 60
