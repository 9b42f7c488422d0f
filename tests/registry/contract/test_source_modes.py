"""The parameter source_mode chooses among the mappings of a contract, and only among those."""

import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.column_model import MappingChoice
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation


@pytest.mark.parametrize(
    ("kind", "mode", "mapping"),
    [
        (None, None, "debezium-mysql"),
        (None, "mysql", "debezium-mysql"),
        (None, "postgresql", "debezium-postgresql"),
        ("postgresql", None, "debezium-postgresql"),
        ("mariadb", "postgresql", "debezium-mysql"),
        ("tidb", "postgresql", "debezium-postgresql"),
    ],
)
def test_the_message_says_the_kind_of_its_source_before_the_parameter(kind, mode, mapping):
    assert CATALOGUE.version("debezium/flat@2").meaning.values.mapping_for(kind, mode) == mapping


def test_a_mode_that_the_declared_contract_does_not_know_is_refused():
    options = ReadingOptions(parameters={"source_mode": "postgresql"})

    open_validation(CATALOGUE, "debezium/flat@1", options)
    with pytest.raises(UsageError, match="oms/canal@1 has no value mapping for source_mode=postgresql") as reported:
        open_validation(CATALOGUE, "oms/canal@1", options)
    assert reported.value.hint == "Use mysql or oracle."


def test_a_choice_by_the_parameter_needs_the_mode_that_holds_without_it():
    with pytest.raises(ValueError, match="needs a mapping for mysql"):
        MappingChoice.model_validate({"map": {"postgresql": "debezium-postgresql"}, "else": "parameter"})
