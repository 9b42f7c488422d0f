"""`--fail-on` takes severities, which bring what is heavier, and classes, which stand for themselves."""

import pytest

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.thresholds import parse_threshold


@pytest.mark.parametrize(
    ("words", "name", "severity", "fails"),
    [
        ("error", "type-change", "error", True), ("error", "unknown-field", "warning", False),
        ("warning", "type-change", "error", True), ("warning", "order", "info", False), ("info", "order", "info", True),
        ("unknown-field", "unknown-field", "warning", True), ("unknown-field", "type-change", "error", False),
        ("error,unknown-field", "unknown-field", "warning", True), ("error, D04", "unknown-field", "info", True),
        ("error,unknown-field", "table-schema", "warning", False), ("info", "ambiguous", "error", False),
        ("ambiguous", "ambiguous", "error", True),
    ],
)  # fmt: skip
def test_what_fails(words, name, severity, fails):
    assert parse_threshold(words).fails(name, severity) is fails


@pytest.mark.parametrize("words", ["never", "error,never", "", ",", "ERROR", "L01"])
def test_a_word_that_is_neither_severity_nor_class_is_reported(words):
    with pytest.raises(UsageError, match="neither a severity nor a class") as error:
        parse_threshold(words)
    assert error.value.where == "--fail-on"
