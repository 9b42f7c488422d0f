"""Values beyond the type that their own message names: a finding without a table contract, on both paths."""

from __future__ import annotations

import pytest
from both_paths import by_fast_path, by_reference, shown
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.validate.validation_context import open_validation

BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64, "INT64": 64}
ENCODED = {"int16": 16, "int32": 32, "int64": 64}
"""Types of a schema block: they say how values are written, and have a sign."""
RANGE, SCALE = "D14.range", "D14.scale"
REPEATED = 10
"""How often each message comes, so that many share what is read of them."""


def edges_of(source_type: str) -> dict[str, set[str]]:
    """Return values around the bounds of a type, with the rules that each breaks.

    A type that is not said to be unsigned may be so all the same: no document says that messages tell it.
    """
    name, _, more = source_type.partition(" ")
    if name in ENCODED:
        most = 2 ** (ENCODED[name] - 1)
        return {str(-most): set(), str(most - 1): set(), "1": set(), str(-most - 1): {RANGE}, str(most): {RANGE}}
    if name in BITS:
        least, most = (0 if more else -(2 ** (BITS[name] - 1))), 2 ** BITS[name] - 1
        return {str(least): set(), str(most): set(), "1": set(), str(least - 1): {RANGE}, str(most + 1): {RANGE},
                "1" + "0" * 65: {RANGE}, "-1" + "0" * 65: {RANGE}}  # fmt: skip
    if name.startswith("org."):  # the digits after the point are those of the type
        return {"99999999.99": set(), "-99999999.99": set(), "0.10": set(), "100000000.00": {RANGE},
                "-123456789.12": {RANGE}}  # fmt: skip
    return {"99999999.99": set(), "-99999999.99": set(), "0.1": set(), "1.10000": set(), "100000000.00": {RANGE},
            "1.005": {SCALE}, "-123456789.125": {RANGE, SCALE}}  # fmt: skip


def types_of(version) -> list[str]:
    """Return the types to try: without parameters and signs where messages name types alone."""
    types = version.meaning.columns.types
    tried = (
        list(BITS)
        if types.without_parameters
        else [*BITS, "int unsigned", "bigint unsigned", "decimal(10,2)", "NUMBER(10,2)"]
    )
    if types.names_encodings:
        return [*(() if types.parameter else ENCODED), "org.apache.kafka.connect.data.Decimal(10,2)"]
    mappings = [CATALOGUE.mapping(name) for name in version.mapping_names()]
    return [one for one in tried if mappings[0].form_of(one) is not None]


TYPED = [
    version
    for version in CATALOGUE.all_versions()
    if version.meaning.columns.types != "none" and version.meaning.columns.types.table is None
]


def messages(version, source_type, texts):
    table = SourceTable("things", {"id": source_type, "n": source_type}, ("id",), database="shop")
    renderer, at = Renderer(version, ReadingOptions()), 1_718_000_000_000_000
    key = "1.00" if source_type.startswith("org.") else "1"
    return [renderer.render(Event("insert", table, None, {"id": key, "n": text}, at, at, "1", "1")) for text in texts]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("version", TYPED, ids=str)
def test_a_value_beyond_the_type_that_its_message_names_is_a_finding(version, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    edges = {name: edges_of(name) for name in part(types_of(version), 4)}
    once = [value for name, texts in edges.items() for value in messages(version, name, texts)]
    expected = [(f"{text} as {name}", rules) for name, texts in edges.items() for text, rules in texts.items()]
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    wanted = [shown(by_reference([validation], value)[0]) for value in once]
    validated = by_fast_path(FastValidator(validation), [value for value in once for _ in range(REPEATED)])
    for number, fast in enumerate(validated):
        case, rules = expected[number // REPEATED]
        assert shown(fast) == wanted[number // REPEATED]
        found = {finding.rule for finding in fast.findings if finding.name == "precision"}
        assert found == rules, case
        assert (fast.outcome == "conforming") == (not rules), case
        assert all(finding.severity == "error" for finding in fast.findings if finding.name == "precision")


@pytest.mark.parametrize("version", [version for version in TYPED if "int" in types_of(version)], ids=str)
def test_the_type_in_the_table_contract_comes_before_that_in_the_message(version):
    for declared, fits in (("bigint", True), ("tinyint", False)):
        tables = TableContracts(
            parse_table_contract({"table": name, "columns": {"id": {"type": "int"}, "n": {"type": declared}}}, "t.yaml")
            for name in ("shop.things", "things")
        )
        validation = open_validation(CATALOGUE, version.reference, ReadingOptions(tables=tables))
        for text in ("5000000000", "300"):
            (value,) = messages(version, "int", [text])
            (fast,) = by_fast_path(FastValidator(validation), [value])
            assert shown(fast) == shown(by_reference([validation], value)[0])
            assert [finding.rule for finding in fast.findings if finding.name == "precision"] == (
                [] if fits else [RANGE]
            )


UNSENT = ("delete-key-only", "update-of-unavailable-values")


@pytest.mark.parametrize("name", UNSENT)
def test_a_column_that_was_not_sent_is_not_missing_from_its_row(name):
    """A schema block describes all columns of a table; the row names them, and says that some were not sent."""
    version = CATALOGUE.version("debezium/json-schema@4")
    (value,) = (sample.value for sample in find_samples(version).messages if sample.name == name)
    validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
    (fast,) = by_fast_path(FastValidator(validation), [value])
    assert shown(fast) == shown(by_reference([validation], value)[0])
    assert [finding.rule for finding in fast.findings if finding.severity != "info"] == []
