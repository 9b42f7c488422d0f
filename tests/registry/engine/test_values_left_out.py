"""Values that a type holds but for a part: read, and noted on both paths instead of silently cut."""

from __future__ import annotations

import pytest
from both_paths import by_fast_path, by_reference, shown
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.schema.message_schemas.table_columns import type_in_messages
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import FORMS

TOKENS = {
    "0": ("0", False), "0.0": ("0", False), "0e5": ("0", False), "0E-400": ("0", False), "0.000": ("0", False),
    "-0.0": ("0", True), "-0": ("0", True), "-0e3": ("0", True),
    "1e-400": ("0", True), "-1e-400": ("0", True), "0.01E-398": ("0", True), "2e-324": ("0", True),
    "0." + "0" * 400 + "1": ("0", True),
    "5e-324": ("5e-324", False), "1e-300": ("1e-300", False), "-1.5": ("-1.5", False), "12.50": ("12.5", False),
}  # fmt: skip
"""Numbers as they are sent: the canonical text of their float, and whether it is not all of them."""
MARK = "0.8123456789"


def is_float(version, mapping) -> bool:
    named = type_in_messages(version, CATALOGUE.mapping(mapping), "double")
    form = None if named is None else CATALOGUE.mapping(mapping).form_of(named)
    return form is not None and FORMS[form].kind == "float" and not FORMS[form].records


CASES = [version for version in CATALOGUE.all_versions() if is_float(version, version.mapping_names()[0])]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("version", CASES, ids=str)
def test_a_float_that_is_not_all_of_its_number_is_read_and_noted(version, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    table = SourceTable("things", {"id": "bigint", "n": "double"}, ("id",), database="shop")
    tables = TableContracts(
        parse_table_contract({"table": name, "columns": {"id": {"type": "bigint"}, "n": {"type": "double"}}}, "t.yaml")
        for name in ("shop.things", "things")
    )
    untyped = version.meaning.columns.types == "none"
    options = ReadingOptions(tables=tables if untyped else TableContracts(()), table="shop.things")
    at = 1_718_000_000_000_000
    value = Renderer(version, options).render(Event("insert", table, None, {"id": "1", "n": MARK}, at, at, "1", "1"))
    assert value.count(MARK.encode()) == 1
    once = {token: value.replace(MARK.encode(), token.encode()) for token in TOKENS}
    validation = open_validation(CATALOGUE, version.reference, options)
    wanted = {token: shown(by_reference([validation], one)[0]) for token, one in once.items()}
    tokens = [token for token in TOKENS for _ in range(10)]
    validated = by_fast_path(FastValidator(validation), [once[token] for token in tokens])
    for token, fast in zip(tokens, validated, strict=True):
        _, noted = TOKENS[token]
        assert shown(fast) == wanted[token]
        assert fast.outcome == "conforming"
        found = [(finding.rule, finding.severity) for finding in fast.findings if finding.name == "precision"]
        assert found == ([("D14.not-whole", "info")] if noted else []), token
    for token, one in once.items():
        (change,) = validation.validate(one).changes
        assert change.after["n"] == TOKENS[token][0]
        assert change.invalid == []
