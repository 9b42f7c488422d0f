"""`--fail-on` takes severities, which bring what is heavier, and classes, which stand for themselves."""

import pytest

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.thresholds import parse_threshold, verdict_of


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


@pytest.mark.parametrize(
    ("found", "valued", "ambiguous", "verdict"),
    [([("type-change", "error")], 9, False, "drift"), ([], 9, False, "pass"), ([], 0, False, "inconclusive"),
     ([("ambiguous", "error")], 9, True, "inconclusive"), ([("type-change", "error"), ("ambiguous", "error")], 9, True, "drift")],
)  # fmt: skip
def test_the_verdict_of_a_run(found, valued, ambiguous, verdict):
    assert verdict_of(found, valued=valued, ambiguous=ambiguous, fail_on="warning") == verdict


@pytest.mark.parametrize(("fail_on", "verdict"), [("error", "drift"), ("info", "drift"), ("unknown-field", "pass")])
def test_a_run_that_refused_messages_never_passes_where_errors_fail_it(fail_on, verdict):
    """Of very many findings not all are kept, so the one that weighs enough may be gone."""
    found = [("cross-field", "warning")]
    assert verdict_of(found, valued=9, ambiguous=False, fail_on=fail_on, refused=True) == verdict
