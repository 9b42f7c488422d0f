"""Contracts compared as a whole: every version of the catalogue with the one before it, and what is reported once."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from by_hand import row_of, without_rows

from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue

CATALOGUE = shipped_catalogue()
OWN = Path(__file__).parents[1] / "lint" / "contracts"
NEIGHBOURS = {
    f"{before} {after}": (before, after)
    for subject in CATALOGUE.subjects()
    for before, after in pairwise(CATALOGUE.versions(subject))
}
FORMS = ["C301 /values/BIT", "C301 /values/TIME", "C301 /values/DATETIME", "C301 /values/TIMESTAMP"]
FULL_LOADS = ["C312 /ops/INIT", "C312 /ops/INIT_DDL"]
BEFORE_0_10 = ["ts_sec", "ts_usec", "last_snapshot_record"]
"""What source had before Debezium 0.10."""
SINCE_2_0 = [
    "begin_lsn", "project_id", "instance_id", "database_id", "change_stream_name", "server_transaction_id",
    "low_watermark", "read_at_timestamp", "number_records_in_transaction", "transaction_tag", "system_transaction",
    "value_capture_type", "partition_token", "mod_number", "is_last_record_in_transaction_in_partition",
    "number_of_partitions_in_transaction",
]  # fmt: skip
"""What Informix and Spanner have in source, whose connectors are of Debezium 2."""
SINCE_3_1 = [
    "origin", "origin_lsn", "commit_ts_ms", "start_ts_ms", "txSeq", "start_scn",
    "cluster", "resolved_ts", "ts_hlc", "batch_row_id", "position_scn", "group_lsn", "group_offset",
]  # fmt: skip
"""What PostgreSQL and Oracle got in source, and what CockroachDB and YashanDB have there."""
BREAKING = {
    "debezium/flat@1 debezium/flat@2": [],  # what is sent of a deletion is no message of either
    "debezium/flat-schema@1 debezium/flat-schema@2": [],  # the same
    "debezium/json@1 debezium/json@2": [
        *(f"C119 /properties/source/properties/{name}" for name in BEFORE_0_10),
        "C108 /properties/source/properties/snapshot/enum",
        *(f"C204 /source/{name}" for name in SINCE_2_0),
    ],
    "debezium/json@2 debezium/json@3": ["C330 /envelope/event_time", "C204 /ts_us", "C204 /ts_ns", "C204 /source/ts_ns"],
    "debezium/json@3 debezium/json@4": [f"C204 /source/{name}" for name in SINCE_3_1],
    "debezium/json-schema@1 debezium/json-schema@2": [
        *(f"C119 /properties/payload/properties/source/properties/{name}" for name in BEFORE_0_10),
        "C108 /properties/payload/properties/source/properties/snapshot/enum",
        *(f"C204 /payload/source/{name}" for name in SINCE_2_0),
    ],
    "debezium/json-schema@2 debezium/json-schema@3": [
        "C330 /envelope/event_time", "C204 /payload/ts_us", "C204 /payload/ts_ns", "C204 /payload/source/ts_ns",
    ],
    "debezium/json-schema@3 debezium/json-schema@4": [f"C204 /payload/source/{name}" for name in SINCE_3_1],
    "canal/flat@1 canal/flat@2": [
        "C330 /envelope/primary_key", "C206 /data", "C206 /mysqlType", "C206 /old", "C206 /sqlType",
    ],
    "canal/flat@2 canal/flat@3": ["C320 /images/update", "C330 /envelope/transaction"],
    "maxwell/json@1 maxwell/json@2": ["C301 /values/TIMESTAMP", "C330 /envelope/primary_key", "C361 /rules/members-of-version"],
    "ticdc/canal-json@1 ticdc/canal-json@2": [],  # types with a length are a warning, and read the same
    "flink-cdc/canal-json@1 flink-cdc/canal-json@2": ["C320 /images/delete"],
    "drs/json@1 drs/json@2": FULL_LOADS,
    "drs/json-c@1 drs/json-c@2": FULL_LOADS,
    "dts/canal@1 dts/canal@2": [
        "C320 /images/update", "C320 /images/insert", "C320 /images/delete", "C320 /images/snapshot",
    ],
    "oms-community/canal@1 oms-community/canal@2": FORMS,
    "oms-community/dataworks@1 oms-community/dataworks@2": FORMS,
    "oms-community/default@1 oms-community/default@2": FORMS,
    "oms-community/default-extend-column-type@1 oms-community/default-extend-column-type@2": FORMS,
    "oms-community/shareplex@1 oms-community/shareplex@2": FORMS,
    "oms/default@1 oms/default@2": ["C334 /ddl/type"],
    "oms/default-extend-column-type@1 oms/default-extend-column-type@2": ["C334 /ddl/type"],
}  # fmt: skip


@pytest.mark.one_in(3, any_subject=True)
@pytest.mark.parametrize("pair", NEIGHBOURS)
def test_a_version_breaks_what_the_vendor_changed(pair):
    verdict = compare_contracts(*NEIGHBOURS[pair])

    assert [one for one in verdict.findings if one.severity == "undecided"] == []
    assert all(one.proof is not None for one in verdict.findings if one.severity == "breaking")
    assert all(Path(place.file).is_file() and place.line for one in verdict.findings
               for side, place in ((one.old, one.old_place), (one.new, one.new_place)) if side is not None)  # fmt: skip
    expected = row_of(BREAKING, pair, where="BREAKING of test_contracts.py")
    assert verdict.compatible is not bool(expected)
    assert [f"{one.rule} {one.path}" for one in verdict.findings if one.severity == "breaking"] == expected


def test_the_table_of_pairs_names_every_pair_but_new_ones():
    later = [pair.partition(" ")[2] for pair in BREAKING]
    assert set(BREAKING) <= set(NEIGHBOURS)
    assert [
        one for one in without_rows(CATALOGUE, later) if one in {str(after) for _, after in NEIGHBOURS.values()}
    ] == []


def test_every_version_of_the_catalogue_is_compatible_with_itself():
    for version in CATALOGUE.all_versions():
        verdict = compare_contracts(version, version)
        assert (verdict.compatible, verdict.findings) == (True, ())
    assert compare_contracts(CATALOGUE.canonical, CATALOGUE.canonical).compatible is True


def test_the_swap_is_read_wrong_without_an_error():
    first = compare_contracts(CATALOGUE.version("dts/canal@1"), CATALOGUE.version("dts/canal@2")).findings[0]

    assert first.proof.kind == "read-differently"
    assert first.proof.old == {"before": {"value": "red"}, "after": {"value": "green"}}
    assert first.proof.new == {"before": {"value": "green"}, "after": {"value": "red"}}


def test_a_change_that_the_schemas_show_as_well_is_reported_once():
    verdict = compare_contracts(CATALOGUE.version("oms/default@1"), CATALOGUE.version("oms/default@2"))

    (breaking,) = (one for one in verdict.findings if one.severity == "breaking")
    assert breaking.also == ("C204 avro-field-default /allMetaData/ddlType",)


@pytest.mark.parametrize(
    ("level", "policy", "rules"),
    [
        (Level.BACKWARD, Policy.CDC, ["C312", "C312"]),
        (Level.NONE, Policy.CDC, ["C312", "C312"]),
        (Level.FORWARD, Policy.CONFLUENT_STRICT, ["C312", "C312"]),
        (Level.BACKWARD, Policy.CONFLUENT_STRICT, []),
        (Level.NONE, Policy.CONFLUENT_LENIENT, []),
    ],
)
def test_a_code_that_only_old_readers_refuse_breaks_where_they_are_asked_about(level, policy, rules):
    old, new = CATALOGUE.version("drs/json@1"), CATALOGUE.version("drs/json@2")

    verdict = compare_contracts(old, new, level=level, policy=policy)

    assert [one.rule for one in verdict.findings if one.severity == "breaking" and one.rule > "C3"] == rules


@pytest.mark.parametrize("policy", list(Policy))
def test_a_change_of_meaning_breaks_under_every_policy(policy):
    old, new = CATALOGUE.version("oms-community/canal@1"), CATALOGUE.version("oms-community/canal@2")

    assert compare_contracts(old, new, level=Level.BACKWARD, policy=policy).compatible is False


def test_a_difference_in_a_branch_of_a_schema_is_reported_on_its_line(tmp_path):
    for name in ("before", "after"):
        shutil.copytree(CATALOGUE.roots[0], tmp_path / name, ignore=shutil.ignore_patterns("samples"))
    edited = tmp_path / "after" / "dts" / "canal" / "v2" / "envelope.schema.json"
    text = edited.read_text()
    branch = text.index('"const": "DDL"')
    at = text.index('"null"', branch)
    edited.write_text(text[:at] + '"array"' + text[at + len('"null"') :])
    old, new = (Catalogue([tmp_path / name]).version("dts/canal@2") for name in ("before", "after"))

    verdict = compare_contracts(old, new)

    lines = {one.new_place.line for one in verdict.findings if one.severity == "breaking"}
    assert text[:at].count("\n") + 1 in lines
    assert all(one.proof.message["type"] == "DDL" for one in verdict.findings if one.proof)
