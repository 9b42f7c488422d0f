"""From a record to its one outcome: every line of the table of outcomes, and what declaring a version changes.

The messages are written here, one for each question; what they come to is what a person would say.
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from topics import SCENARIOS

from cdc_contracts.registry.core.common.findings import Finding, Severities
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext, open_validation

OMS, DTS, DEFAULT = "oms-community/canal", "dts/canal", "oms-community/default"
SUBJECTS = (OMS, DTS, DEFAULT)
TABLE = parse_table_contract(
    {
        "table": "shop.visits",
        "columns": {"id": {"type": "bigint"}, "note": {"type": "varchar(9)"}, "seen": {"type": "timestamp(6)"}},
        "primary_key": ["id"],
    },
    "a test",
)


def row(**more) -> dict:
    return {"id": 1, "note": "n", **more}


def oms(op="INSERT", *, types=(), **more) -> dict:
    types = {"id": "bigint", "note": "varchar", **dict(types)}
    codes = {name: {"bigint": -5, "varchar": 12, "timestamp": 93}.get(reported, 1) for name, reported in types.items()}
    return {
        "database": "shop", "table": "visits", "type": op, "isDdl": False, "es": 1718000000000, "ts": 1718000000001,
        "sql": "", "sqlType": codes, "mysqlType": types, "pkNames": ["id"], "data": [row()], "old": None, **more,
    }  # fmt: skip


def dts(op="INSERT", *, types=(), **more) -> dict:
    message = {**oms(op, types=types), "id": 5, "gtid": None, "data": [{"id": "1", "note": "n"}]}
    return {**message, **more}


def default(op="INSERT", **more) -> dict:
    about = {
        "checkpoint": None, "record_primary_key": "id", "record_primary_value": "1", "source_identity": None,
        "dbType": "OB_MYSQL", "storeDataSequence": 17, "table_name": "visits", "db": "shop", "timestamp": "1718000000",
        "uniqueId": None,
    }  # fmt: skip
    return {"prevStruct": None, "postStruct": row(), "allMetaData": about, "recordType": op, **more}


SEEN = {"seen": "timestamp"}
CONTROL = {
    OMS: oms("ALTER", isDdl=True, sql="ALTER TABLE visits ADD c INT", data=None, pkNames=None),
    DTS: dts("DDL", isDdl=True, sql="ALTER TABLE visits ADD c INT", data=None),
    DEFAULT: {"recordType": "HEARTBEAT"},
}  # fmt: skip
BOTH = {OMS: oms(), DTS: dts(), DEFAULT: default()}
"""Fits both versions, which read the same change from it."""
FIRST_ONLY = {
    OMS: oms(types=SEEN, data=[row(seen=1715000000)]),
    DTS: dts("DELETE", data=None, old=[{"id": "1", "note": "n"}]),
    DEFAULT: default(postStruct=row(seen=1715000000)),
}
SECOND_ONLY = {
    OMS: oms(types=SEEN, data=[row(seen="1715000000.5")]),
    DTS: dts("DELETE"),
    DEFAULT: default(postStruct=row(seen="1715000000.5")),
}
AMBIGUOUS = dts("UPDATE", old=[{"note": "m"}])
"""Fits both versions, which read it the other way round; only this subject has such messages."""
NEITHER = {OMS: oms(es="soon"), DTS: dts(es="soon"), DEFAULT: default(postStruct=row(note=7))}
SECOND_ONLY_BROKEN = {
    OMS: oms(types=SEEN, es="soon", data=[row(seen="1715000000.5")]),
    DTS: dts("DELETE", es="soon"),
    DEFAULT: default(postStruct=row(note=7, seen="1715000000.5")),
}
"""Fits no version, but lacks less of the second."""


@cache
def validation(reference: str, *, tables: bool = True) -> ValidationContext:
    return open_validation(SCENARIOS, reference, ReadingOptions(tables=TableContracts([TABLE] if tables else [])))


def validate(reference: str, message: dict | bytes | None, *, tables: bool = True) -> ValidatedMessage:
    value = json.dumps(message).encode() if isinstance(message, dict) else message
    return validation(reference, tables=tables).validate(value)


def brief(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.severity, finding.path


# --- the table of outcomes, line by line


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("selector", ["", "@1", "@2"])
class TestOutcomes:
    def test_a_null_value_is_a_tombstone_without_findings(self, subject, selector):
        verdict = validate(subject + selector, None).verdict

        assert (verdict.outcome, verdict.version, verdict.findings) == ("tombstone", None, ())

    @pytest.mark.parametrize(
        ("value", "cause"), [(b"", "empty"), (b"{", "json"), (b"[]", "not-object"), (b"\xff", "utf8")]
    )
    def test_a_value_that_is_no_message_is_unreadable_with_its_cause(self, subject, selector, value, cause):
        verdict = validate(subject + selector, value).verdict

        assert verdict.outcome == "unreadable"
        assert verdict.findings == (Finding(f"D01.{cause}", "malformed", "error", "", "one JSON object",
                                            verdict.findings[0].observed),)  # fmt: skip

    def test_a_message_that_holds_no_row_is_control(self, subject, selector):
        validated = validate(subject + selector, CONTROL[subject])

        assert validated.verdict.outcome == "control"
        assert validated.verdict.findings == ()
        assert validated.changes == ()
        assert validated.control is not None
        assert validated.control.kind == ("heartbeat" if subject == DEFAULT else "ddl")

    def test_a_message_that_every_version_reads_alike_conforms_under_the_highest_declared(self, subject, selector):
        validated = validate(subject + selector, BOTH[subject])

        assert validated.verdict.outcome == "conforming"
        assert str(validated.verdict.version) == subject + (selector or "@2")
        assert validated.verdict.undecided
        assert not validated.verdict.differs
        assert [change.op for change in validated.changes] == ["insert"]

    def test_a_message_that_fits_no_version_drifted_with_all_its_findings(self, subject, selector):
        verdict = validate(subject + selector, NEITHER[subject]).verdict

        assert verdict.outcome == "drifted"
        assert str(verdict.version) == subject + (selector or "@2")
        path = "/postStruct/note" if subject == DEFAULT else "/es"
        assert [brief(finding) for finding in verdict.findings] == [("D06", "error", path)]

    def test_a_message_of_another_subject_is_other_dialect_and_names_it(self, subject, selector):
        other = {OMS: DTS, DTS: DEFAULT, DEFAULT: OMS}[subject]

        verdict = validate(subject + selector, BOTH[other]).verdict

        alike = {OMS: "oms/canal", DEFAULT: "oms/default"}.get(other)
        assert verdict.outcome == "other-dialect"
        reported = f"{other}, {alike}" if alike else other
        assert verdict.findings == (Finding("D02", "other-dialect", "error", "", subject, reported),)

    def test_a_message_with_few_of_the_members_asked_for_is_other_dialect_and_names_its_own(self, subject, selector):
        verdict = validate(subject + selector, {"op": "c", "payload": {}, "source": {}}).verdict

        assert verdict.outcome == "other-dialect"
        assert verdict.findings == (Finding("D02", "other-dialect", "error", "", subject, "op, payload, source"),)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_fits_no_version_but_lacks_least_of_one_not_asked_for_says_so_first(subject):
    verdict = validate(f"{subject}@1", SECOND_ONLY_BROKEN[subject]).verdict

    assert verdict.outcome == "drifted"
    assert str(verdict.version) == f"{subject}@2"
    assert verdict.findings[0] == Finding("D03", "other-version", "error", "", f"{subject}@1", f"{subject}@2")
    assert [finding.rule for finding in verdict.findings[1:]] == ["D06"]
    assert [finding.rule for finding in validate(subject, SECOND_ONLY_BROKEN[subject]).verdict.findings] == ["D06"]


def test_other_version_by_the_place_of_the_row_names_that_place_once():
    verdict = validate("dts/canal@2", FIRST_ONLY[DTS]).verdict

    assert verdict.findings[0] == Finding("D03.images", "other-version", "error", "/old", "dts/canal@2", "dts/canal@1")
    assert len(verdict.findings) == 1


@pytest.mark.parametrize(("subject", "image"), [(OMS, "/data/0"), (DEFAULT, "/postStruct")])
def test_other_version_by_the_form_of_values_names_each_column(subject, image):
    verdict = validate(f"{subject}@2", FIRST_ONLY[subject]).verdict

    assert verdict.findings == (
        Finding("D03.value-form", "other-version", "error", f"{image}/seen", "epoch-seconds.fraction",
                "epoch-seconds-integer"),
    )  # fmt: skip


@pytest.mark.parametrize("subject", SUBJECTS)
def test_an_unknown_member_is_a_warning_beside_every_outcome_that_can_be_read(subject):
    known = {("D04", "warning", "/shard")}
    for reference, message, outcome in (
        (subject, BOTH[subject], "conforming"),
        (f"{subject}@1", SECOND_ONLY[subject], "other-version"),
        (subject, NEITHER[subject], "drifted"),
        (subject, CONTROL[subject], "control"),
    ):
        verdict = validate(reference, {**message, "shard": 7}).verdict
        assert verdict.outcome == outcome
        assert {brief(finding) for finding in verdict.findings if finding.name == "unknown-field"} == known


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_raised_severity_makes_of_a_warning_what_stops_a_record(subject):
    reading_options = ReadingOptions(tables=TableContracts([TABLE]), severities=Severities({"unknown-field": "error"}))
    value = json.dumps({**BOTH[subject], "shard": 7}).encode()

    validated = open_validation(SCENARIOS, subject, reading_options).validate(value)

    assert validated.verdict.outcome == "drifted"
    assert [brief(finding) for finding in validated.verdict.findings] == [("D04", "error", "/shard")]
    assert validated.changes == ()


def test_a_subject_does_not_claim_what_it_finds_errors_in():
    """The marks of the other subject are there, but it could not read the message either."""
    verdict = validate(OMS, NEITHER[DTS]).verdict

    assert verdict.outcome == "drifted"
    assert "D04" in [finding.rule for finding in verdict.findings]


def test_a_subject_whose_own_marks_are_there_keeps_the_message():
    verdict = validate(OMS, {**BOTH[OMS], "allMetaData": {}, "recordType": "HEARTBEAT"}).verdict

    assert verdict.outcome == "conforming"


# --- what declaring a version changes


def expect(validated: ValidatedMessage, outcome: str, version: str, fits: list[str]) -> None:
    verdict = validated.verdict
    assert (verdict.outcome, str(verdict.version)) == (outcome, version)
    assert [str(fitting) for fitting in verdict.fits] == fits
    assert bool(validated.changes) == (outcome == "conforming")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_record_that_fits_one_version_only_conforms_to_it_declared_or_not(subject):
    first, second = f"{subject}@1", f"{subject}@2"

    expect(validate(first, FIRST_ONLY[subject]), "conforming", first, [first])
    expect(validate(second, SECOND_ONLY[subject]), "conforming", second, [second])
    expect(validate(subject, FIRST_ONLY[subject]), "conforming", first, [first])
    expect(validate(subject, SECOND_ONLY[subject]), "conforming", second, [second])


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_record_that_two_versions_read_alike_conforms_undecided_declared_or_not(subject):
    first, second = f"{subject}@1", f"{subject}@2"

    expect(validate(first, BOTH[subject]), "conforming", first, [first, second])
    expect(validate(second, BOTH[subject]), "conforming", second, [first, second])
    expect(validate(subject, BOTH[subject]), "conforming", second, [first, second])
    assert validate(first, BOTH[subject]).changes == validate(second, BOTH[subject]).changes


def test_of_a_record_that_two_versions_read_otherwise_the_declaration_decides():
    first, second = validate("dts/canal@1", AMBIGUOUS), validate("dts/canal@2", AMBIGUOUS)

    expect(first, "conforming", "dts/canal@1", ["dts/canal@1", "dts/canal@2"])
    expect(second, "conforming", "dts/canal@2", ["dts/canal@1", "dts/canal@2"])
    assert first.verdict.differs
    assert second.verdict.differs
    before, after = {"id": "1", "note": "m"}, {"id": "1", "note": "n"}
    assert [(change.before, change.after) for change in second.changes] == [(before, after)]
    assert [(change.before, change.after) for change in first.changes] == [(after, before)]


def test_of_a_record_that_two_versions_read_otherwise_nothing_is_guessed():
    validated = validate("dts/canal", AMBIGUOUS)

    expect(validated, "ambiguous", "dts/canal@2", ["dts/canal@1", "dts/canal@2"])
    assert validated.verdict.differs
    assert validated.verdict.findings == (
        Finding("D16", "ambiguous", "error", "/type", "one reading", "dts/canal@1, dts/canal@2"),
    )


def test_an_update_that_changes_nothing_reads_alike_either_way():
    same = dts("UPDATE", old=[{"id": "1", "note": "n"}])

    validated = validate("dts/canal", same)

    expect(validated, "conforming", "dts/canal@2", ["dts/canal@1", "dts/canal@2"])
    assert not validated.verdict.differs


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_record_that_fits_only_the_version_not_declared_is_never_decoded(subject):
    first, second = f"{subject}@1", f"{subject}@2"

    expect(validate(second, FIRST_ONLY[subject]), "other-version", second, [first])
    expect(validate(first, SECOND_ONLY[subject]), "other-version", first, [second])
    for validated in (validate(second, FIRST_ONLY[subject]), validate(first, SECOND_ONLY[subject])):
        assert {finding.name for finding in validated.verdict.findings} == {"other-version"}


def test_without_types_every_row_of_an_untyped_dialect_fits_both_versions():
    for message in (FIRST_ONLY[DEFAULT], SECOND_ONLY[DEFAULT], BOTH[DEFAULT]):
        validated = validate(DEFAULT, message, tables=False)
        expect(validated, "conforming", f"{DEFAULT}@2", [f"{DEFAULT}@1", f"{DEFAULT}@2"])
        assert validated.changes[0].types_from == "none"
