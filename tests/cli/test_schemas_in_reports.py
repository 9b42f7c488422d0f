"""An audit of a topic framed for a registry says which id changed a table, since which offset, and whom that breaks."""

import json

import patient
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from framed_topics import change, envelope_of, topic_of
from registry_servers import serving

import cdc_contracts as cdc
from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.report.stored_reports import report_schema

jsonschema = pytest.importorskip("jsonschema")
ID = {"name": "id", "type": "int"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
VERSIONS = [
    (envelope_of(ID), {"id": 7}),
    (envelope_of(ID, NOTE), {"id": 7, "note": "new"}),
    (envelope_of({"name": "id", "type": "string"}, NOTE), {"id": "7", "note": "new"}),
]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """What an audit of a table that changed twice returns and writes, the ids of its schemas, and the report in Python."""
    here = tmp_path_factory.mktemp("audit")
    with serving(f"sqlite:///{here}/schemas.sqlite") as address, pytest.MonkeyPatch.context() as patch:
        ids = [
            patient.post(
                f"{address}/subjects/version-{place}/versions",
                json={"schema": json.dumps(schema), "schemaType": "AVRO"},
            ).json()["id"]
            for place, (schema, _) in enumerate(VERSIONS)
        ]
        values = [
            change(number, schema, row) for number, (schema, row) in zip(ids, VERSIONS, strict=True) for _ in range(4)
        ]
        records = topic_of([(0, offset, value) for offset, value in enumerate(values)])
        pq.write_table(pa.Table.from_batches([records]), here / "shop.parquet")
        patch.chdir(here)
        patch.setenv("COLUMNS", "160")
        code = main(["audit", "file", "shop.parquet", "--engine", "local", "--contract", "debezium/json-schema@4",
                     "--schema-registry", address, *(word for end in ("json", "html", "md", "xml")
                                                    for word in ("--report", f"report.{end}"))])  # fmt: skip
        batch = cdc.contract("debezium/json-schema@4", schema_registry=address).check_batch(values)
    return code, here, ids, batch


def test_the_document_has_the_timeline_and_what_began_with_which_id(audited):
    code, here, (first, second, third), _ = audited
    report = json.loads((here / "report.json").read_text())
    jsonschema.validate(report, report_schema())
    assert code == 1
    (line,) = report["schemas"]["lines"]
    assert [(one["id"], one["partitions"][0]["first_offset"]) for one in line["schemas"]] == [
        (first, 0),
        (second, 4),
        (third, 8),
    ]
    assert [one.get("read_by_before") for one in line["schemas"]] == [None, True, False]
    began = {
        one["rule"]: (one["began_with"]["id"], one["began_with"]["offset"])
        for one in report["findings"]
        if "began_with" in one
    }
    assert began == {
        "D11.new-column": (second, 4),
        "D11.column-type": (third, 8),
        "D11.incompatible-schema": (third, 8),
    }


@pytest.mark.parametrize("end", ["html", "md"])
def test_people_read_the_same_in_html_and_markdown(audited, end):
    _, here, (first, second, third), _ = audited
    shown = (here / f"report.{end}").read_text()
    assert "Several schema ids: values of 1 of 1 table." in shown
    assert "note added (string)" in shown
    assert f"readers of id {first} and id {second} read each other" in shown
    assert f"readers of id {second} and id {third} do not read each other" in shown
    assert f"began with schema id {second}, since" in shown.replace("Began with</dt><dd>", "began with ")


def test_the_terminal_shows_the_timeline_and_the_id_of_each_finding(audited, capsys, monkeypatch):
    _, here, (first, second, _), _ = audited
    from cdc_contracts.cli.output.summary import summarise
    from cdc_contracts.registry.core.report.stored_reports import read_report

    monkeypatch.setenv("COLUMNS", "160")
    summarise(read_report(here / "report.json"))
    shown = capsys.readouterr().out
    assert "Writer schemas" in shown
    assert f"id {second}" in shown
    assert "changed: note added (string)" in shown
    assert f"readers of id {first} and id {second} read each other's records" in shown
    assert f"schema id {second}, since shop.public.orders partition 0 offset 4" in shown


def test_the_report_in_python_has_the_same_timeline(audited):
    _, here, ids, batch = audited
    written, told = json.loads((here / "report.json").read_text()), batch.document
    assert [one["id"] for one in told["schemas"]["lines"][0]["schemas"]] == ids
    assert changes_of(told) == changes_of(written)


def changes_of(report):
    (line,) = report["schemas"]["lines"]
    return [{name: value for name, value in one.items() if name != "partitions"} for one in line["schemas"]]
