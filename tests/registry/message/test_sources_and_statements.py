"""What documents say of sources and of statements beside rows: kinds that are listed, kinds that never write a format."""

from __future__ import annotations

import json

import pytest
from both_paths import CATALOGUE, by_fast_path, shown

from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.validate.validation_context import open_validation


def rules_of(reference, name, change):
    """The rules that both validators find broken in a sample with one member changed."""
    samples = find_samples(CATALOGUE.version(reference))
    validation = open_validation(CATALOGUE, reference, samples.reading_options())
    sample = next(one for one in samples.messages if one.name == name)
    message = json.loads(sample.value)
    change(message)
    value = json.dumps(message).encode()
    verdict = validation.validate(value).verdict
    fast = by_fast_path(FastValidator(validation), [sample.value, value])[1]
    assert shown(fast) == shown(verdict)
    assert verdict.outcome in ("conforming", "control")
    return {(found.rule, found.severity) for found in verdict.findings}


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("OB_MYSQL", set()),
        ("ob_mysql", set()),
        ("DB2 LUW", set()),
        ("DB2_LUW", set()),
        ("TIDB", {("D08.source-kind", "warning")}),
        ("OB_MYSQL2", {("D08.source-kind", "warning")}),
    ],
)
def test_a_kind_of_source_that_the_list_lacks_is_a_warning(kind, reported):
    def change(message):
        message["allMetaData"]["dbType"] = kind

    assert rules_of("oms/default@2", "insert", change) == reported


@pytest.mark.parametrize(
    ("kind", "reported"), [("OB_MYSQL", set()), ("MYSQL", set()), ("ob_oracle", {("D08.source-kind", "warning")})]
)
def test_a_source_that_never_writes_the_format_is_a_warning(kind, reported):
    def change(message):
        message["payload"]["source"]["connector"] = kind

    assert rules_of("oms/debezium@1", "update", change) == reported


@pytest.mark.parametrize(
    ("code", "reported"),
    [("TRUNCATE", set()), ("RENAME", set()), ("GTID", {("D09.ddl-text-only-if-ddl", "warning")})],
)
def test_a_message_that_empties_a_table_may_have_a_statement(code, reported):
    def change(message):
        message["payload"]["op"] = code

    assert rules_of("dataworks/streamx@1", "ddl-alter", change) == reported
