"""One cause, one finding: what one change does to many columns is reported once, with its columns."""

import html
import json
import re

import jsonschema
import pytest
from topics import CATALOGUE, rendered
from version_switches import AT as AT_TURN
from version_switches import audited, switching
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
from cdc_contracts.registry.core.generate.source_events import SourceTable
from cdc_contracts.registry.core.report.baseline import read_baseline
from cdc_contracts.registry.core.report.stored_reports import report_schema

AT = 60
COLUMNS = ["at", "customer", "day", "flags", "id", "made", "note", "photo", "quantity", "rate", "seen", "total"]


def findings_of(records, contract):
    report = build_report(
        audited(records, contract, ReadingOptions()), catalogue=CATALOGUE, contract=contract, source={"kind": "file"}, spans={},
        fail_on="warning",
    )  # fmt: skip
    reported = [one for one in report["findings"] if one["count"] and one["class"] != "control-share"]
    return report, reported


def names(finding):
    return sorted({one["path"].rpartition("/")[2] for one in finding["columns"]})


def in_capitals(value):
    message = json.loads(value)
    message["mysqlType"] = {name: reported.upper() for name, reported in message["mysqlType"].items()}
    return json.dumps(message).encode()


@pytest.mark.parametrize("reference", ["dts/canal@2", "drs/json@2", "oms-community/canal@2"])
def test_types_in_capitals_are_one_finding_with_all_columns_of_every_image(reference):
    values = rendered(reference, 120)
    records = [(0, at, in_capitals(value) if at >= AT else value) for at, value in enumerate(values)]
    _, (finding,) = findings_of(records, reference)
    assert (finding["rule"], finding["count"], finding["first"]["offset"]) == ("D11.column-type", 60, AT)
    assert finding["onset"] == {"kind": "every", "since": [finding["first"]]}
    assert [part["count"] for part in finding["partitions"]] == [60]
    assert names(finding) == COLUMNS
    assert sum(finding["ops"].values()) == 60
    assert finding["path"] == finding["columns"][0]["path"]


def test_rows_of_a_table_that_no_message_names_are_one_finding():
    old = rendered("oms/debezium-smt@1", 120)
    new = rendered("oms/debezium-smt@1", 120, table=SourceTable("returns", {"nr": "int", "why": "text"}, ("nr",)))
    records = [(0, at, value) for at, value in enumerate([*old[:AT], *new[AT:]])]
    _, (finding,) = findings_of(records, "oms/debezium-smt@1")
    assert (finding["class"], finding["first"]["offset"], finding["count"]) == ("table-schema", AT, 60)
    assert names(finding) == sorted([*COLUMNS, "nr", "why"])
    assert {one["rule"] for one in finding["columns"]} == {"D11.new-column", "D11.lost-column"}


def test_columns_that_change_at_different_times_are_different_findings():
    values = rendered("dts/canal@2", 120)
    records = []
    for at, value in enumerate(values):
        message = json.loads(value)
        message["mysqlType"] |= {"note": "varchar"} if at >= AT else {}
        message["mysqlType"] |= {"quantity": "integer"} if at >= AT + 20 else {}
        records.append((0, at, json.dumps(message).encode()))
    _, reported = findings_of(records, "dts/canal@2")
    assert sorted((one["path"], one["first"]["offset"]) for one in reported) == [
        ("/data/0/note", AT), ("/data/0/quantity", AT + 20),
    ]  # fmt: skip
    assert ["columns" in one for one in reported] == [False, False]


@pytest.mark.parametrize("contract", ["oms-community/default@1", "oms-community/default"])
def test_a_switch_of_versions_is_one_finding_with_the_columns_that_turn(contract):
    report, (finding,) = findings_of(list(switching("oms-community/default", tables=False)), contract)
    assert names(finding) == ["flags", "made", "seen"]
    assert [part["first_offset"] for part in finding["partitions"]] == [120] * 4
    jsonschema.validate(report, report_schema())


def test_a_baseline_knows_a_finding_on_several_columns_by_each_of_them(tmp_path):
    values = rendered("dts/canal@2", 120)
    records = [(0, at, in_capitals(value) if at >= AT else value) for at, value in enumerate(values)]
    report, (finding,) = findings_of(records, "dts/canal@2")
    path = tmp_path / "known.json"
    path.write_text(render_baseline(report))
    assert leave_out_known(report, read_baseline(path))["verdict"] == "pass"
    document = json.loads(path.read_text())
    known = {one["fingerprint"] for one in document["findings"]}
    assert {one["fingerprint"] for one in finding["columns"]} <= known
    document["findings"] = [one for one in document["findings"] if not one["path"].endswith("/note")]
    path.write_text(json.dumps(document))
    left = leave_out_known(report, read_baseline(path))
    assert [one["fingerprint"] for one in left["findings"]] == [finding["fingerprint"]]


SHOWN = {"made": "datetime(3)", "seen": "timestamp(6)", "flags": "bit(8)"}
FORMS_OF = {
    "made": ("sql-datetime-zone", "iso-datetime-minutes"),
    "seen": ("epoch-seconds.fraction", "epoch-seconds-integer"),
    "flags": ("bit-base64", "bit-number"),
}


def test_every_column_is_shown_with_its_own_type_and_forms_in_every_format(capsys):
    records = [(0, at, value) for at, value in enumerate(rendered("oms-community/canal@1", 120))]
    report, (finding,) = findings_of(records, "oms-community/canal@2")
    forms = {
        one["path"].rpartition("/")[2]: (one["source_type"], one["expected"], one["observed"])
        for one in finding["columns"]
    }
    assert forms == {name: (SHOWN[name], FORMS_OF[name][0], [FORMS_OF[name][1]]) for name in SHOWN}
    summarise(report_of(report))
    text = " ".join(capsys.readouterr().out.split())
    written = {
        "text": text,
        "markdown": html.unescape(render_markdown(report)),
        "junit": html.unescape(render_junit(report)),
    }
    for name, (expected, observed) in FORMS_OF.items():
        line = f"{name} ({SHOWN[name]}): expected {expected}, observed {observed}"
        assert [kind for kind, page in written.items() if line not in page] == []
        row = re.search(rf"/data/0/{name}</bdi></code></td>.*?</tr>", render_page(report), re.DOTALL)
        assert all(part in row[0] for part in (SHOWN[name], expected, observed))


@pytest.mark.parametrize("fractions", ["some", "none"])
@pytest.mark.parametrize("contract", ["oms-community/default", "oms-community/default@1", "oms-community/default@2"])
def test_times_with_and_without_a_fraction_are_one_turn_of_the_same_type(contract, fractions):
    records = []
    for number, (partition, offset, value) in enumerate(switching("oms-community/default", tables=False)):
        message = json.loads(value)
        for row in (message["prevStruct"], message["postStruct"]):
            if row and isinstance(row.get("seen"), str) and (fractions == "none" or number % 2):
                row["seen"] = row["seen"].partition(".")[0]
        records.append((partition, offset, json.dumps(message).encode()))
    _, (finding,) = findings_of(records, contract)
    (seen,) = [one for one in finding["columns"] if one["path"].endswith("/seen")]
    ways = [
        "epoch-seconds-integer, as oms-community/default@1 writes TIMESTAMP",
        "epoch-seconds.fraction, as oms-community/default@2 writes TIMESTAMP",
    ]
    expected, observed = reversed(ways) if contract.endswith("@2") else ways
    assert (seen["expected"], seen["observed"]) == (expected, [observed])
    side = range(AT_TURN) if contract.endswith("@2") else range(AT_TURN, 240)
    held = [json.loads(value) for _, offset, value in records if offset in side]
    rows = [message.get("postStruct") or message.get("prevStruct") or {} for message in held]
    assert seen["count"] == sum(row.get("seen") is not None for row in rows)
    most = max(one["count"] for one in finding["columns"])
    union = sum(any(row.get(name) is not None for name in SHOWN) for row in rows)
    assert most <= finding["count"] <= union
    assert finding["at_least"]


def test_a_switch_is_found_in_a_column_that_is_written_in_three_ways():
    records = []
    for number, (partition, offset, value) in enumerate(switching("oms-community/default", tables=False)):
        message = json.loads(value)
        for row in (message["prevStruct"], message["postStruct"]):
            if row:
                for name in ("flags", "made"):
                    row.pop(name, None)
                if isinstance(row.get("seen"), str) and number % 3 == 0:
                    row["seen"] = "0000-00-00 00:00:00"
        records.append((partition, offset, json.dumps(message).encode()))
    _, reported = findings_of(records, "oms-community/default@1")
    assert [(one["class"], one["path"]) for one in reported] == [("other-version", "/postStruct/seen")]
    assert "epoch-seconds.fraction, as oms-community/default@2 writes TIMESTAMP" in reported[0]["observed"]
