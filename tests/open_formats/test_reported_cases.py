"""Cases that users of open formats reported, and bad input: what audit, decode, `why` and detection say of them.

`cases/NUMBER-name.yaml` holds a report, `cases/bad-name.yaml` a kind of bad input; README.md describes the files.
"""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from open_formats.reported_cases import (
    asked_of,
    capture_of,
    read_cases,
    show_audit,
    show_control,
    show_quarantine,
    show_rows,
)

import cdc_contracts as cdc
from cdc_contracts.cli.app import main

NUMBERS = set(range(1, 37))
"""The reports that were collected when contracts for open formats were written, and one found since."""
QUESTIONS = [asked for case in read_cases() for asked in asked_of(case)]


def each(name):
    return pytest.mark.parametrize("asked", [one for one in QUESTIONS if getattr(one, name)], ids=str)


def test_each_report_has_a_file_with_a_question_or_the_reason_why_no_message_shows_it():
    cases = read_cases()

    assert {case.number for case in cases} - {None} == NUMBERS
    for case in cases:
        assert case.document["what_happened"].endswith("."), case.name
        asked, reason = case.document.get("asked"), case.document.get("no_message_shows_it")
        assert bool(asked) != bool(reason), case.name
        assert all(one.audit or one.decodes or one.why or one.detected for one in asked_of(case)), case.name


@each("audit")
def test_an_audit_reports(asked):
    report = asked.contract().check_batch(asked.records)

    assert show_audit(report) == asked.audit
    assert report.read == report.conforming + report.control + report.tombstones + report.quarantined


@each("decodes")
def test_a_decode_gives(asked):
    batch = asked.contract().decode_batch(asked.records)

    assert show_rows(batch) == asked.rows
    assert show_quarantine(batch) == asked.quarantined
    assert show_control(batch) == asked.control


@each("typed")
def test_a_typed_table_holds(asked):
    (table,) = asked.contract().decode_batch(asked.records).tables.values()

    rows = [row["after"] for row in table.to_pylist()]
    assert [
        {name: str(row[name]) for name in wanted} for row, wanted in zip(rows, asked.typed, strict=True)
    ] == asked.typed


@each("quarantined")
def test_what_is_quarantined_keeps_its_bytes(asked):
    for row in asked.contract().decode_batch(asked.records).quarantine.to_pylist():
        record = asked.records[row["offset"]]
        assert (row["key"], row["value"]) == (record.key, record.value)


@each("decodes")
def test_messages_alone_are_read_as_those_of_a_batch(asked):
    contract = asked.contract()
    alone = [contract.decode(record) for record in asked.records]

    assert sum(len(one.changes) for one in alone) == len(asked.rows)
    assert [number for number, one in enumerate(alone) if not one.ok] == sorted(asked.quarantined)


@each("detected")
def test_detection_finds(asked):
    found = cdc.detect(asked.records, **asked.settings("tables"))

    assert {"verdict": found.verdict, "contract": found.contract} == asked.detected


@each("why")
def test_why_says(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    pq.write_table(capture_of(asked.records), "capture.parquet")

    main(["why", "capture.parquet", *asked.arguments(tmp_path)])

    words, at = " ".join(capsys.readouterr().out.split()), 0
    for reported in asked.why["says"]:
        found = words.find(reported, at)
        assert found >= 0, f"{reported!r} is not said, or not in its place:\n{words}"
        at = found + len(reported)
