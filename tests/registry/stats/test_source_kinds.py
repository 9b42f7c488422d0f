"""Rows of several kinds of source in one topic are counted by kind, and named in reports."""

import json
from pathlib import Path

import pytest
from record_batches import batch_of
from topics import CATALOGUE
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.source_kinds import SourceKind
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import open_validation

REFERENCE = "debezium/json@4"


def sample(name):
    return Path(str(CATALOGUE.version(REFERENCE).folder), "samples", f"{name}.json").read_bytes()


MYSQL, POSTGRESQL = sample("insert-from-mysql"), sample("insert")


def from_mariadb(**members):
    message = json.loads(MYSQL) | members
    message["source"]["connector"] = "mariadb"
    return json.dumps(message).encode()


DRIFTING = from_mariadb(unknown=1)


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("cut", [1, 7, 60])
def test_kinds_are_counted_alike_one_by_one_and_in_batches(native, cut, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [MYSQL, MYSQL, POSTGRESQL, from_mariadb(), DRIFTING, b"{}"] * 10
    validation = open_validation(CATALOGUE, REFERENCE, ReadingOptions())
    slow = account(validation, Source("orders", 0), enumerate(values))
    kernel, fast = Kernel(validation), Tally()
    for start in reversed(range(0, len(values), cut)):
        part = values[start : start + cut]
        fast.merge(kernel.audit(batch_of([(0, start + number, value) for number, value in enumerate(part)])))

    counted = {kind: (stretch.count, stretch.first.offset) for kind, stretch in fast.statistics.kinds.seen.items()}
    assert counted == {
        kind: (stretch.count, stretch.first.offset) for kind, stretch in slow.statistics.kinds.seen.items()
    }
    assert counted == {
        SourceKind("orders", 0, "mysql"): (20, 0),
        SourceKind("orders", 0, "postgresql"): (10, 2),
        SourceKind("orders", 0, "mariadb"): (20, 3),
    }


@pytest.mark.parametrize(
    ("values", "named"), [([MYSQL, MYSQL], []), ([MYSQL, POSTGRESQL, POSTGRESQL], ["mysql", "postgresql"])]
)
def test_a_report_names_kinds_where_a_topic_has_several(values, named):
    kernel = Kernel(open_validation(CATALOGUE, REFERENCE, ReadingOptions()))
    tally = kernel.audit(batch_of([(0, number, value) for number, value in enumerate(values)]))

    report = build_report(tally, catalogue=CATALOGUE, contract=REFERENCE, spans={}, fail_on="error")

    assert [one["kind"] for one in report.get("kinds", ())] == named


@pytest.mark.parametrize(
    ("values", "cited"),
    [
        ([MYSQL], ["MySQL"]),
        ([POSTGRESQL], ["PostgreSQL"]),
        ([MYSQL, from_mariadb(), POSTGRESQL], ["MariaDB", "MySQL", "PostgreSQL"]),
    ],
)
def test_findings_cite_the_documents_of_the_kinds_of_source(values, cited):
    broken = [json.dumps(json.loads(value) | {"unknown": 1}).encode() for value in values]
    kernel = Kernel(open_validation(CATALOGUE, REFERENCE, ReadingOptions()))
    tally = kernel.audit(batch_of([(0, number, value) for number, value in enumerate(broken)]))

    report = build_report(tally, catalogue=CATALOGUE, contract=REFERENCE, spans={}, fail_on="error")

    (document,) = [one["document"] for one in report["findings"] if one["class"] == "unknown-field"]
    assert [part.split(" (")[0] for part in document.split("; ")] == [
        f"Debezium connector for {name}" for name in cited
    ]
