"""Members beside the columns of an image below another member: both paths read facts of the envelope there."""

import json

import pytest
from output_rows import unlike_columns

from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation

BESIDE = {"not_columns": ["moved", "at"]}
SOURCE = {"version": "3.5.0.Final", "connector": "mysql", "name": "s", "ts_ms": 1, "db": "shop", "table": "orders"}


def open_beside():
    """Open a contract that has the transaction and the time of a change among the members of its row."""
    catalogue = Catalogue(shipped_catalogue().roots)
    for version in catalogue.versions("debezium/json"):
        envelope = version.resolved["envelope"] | {
            "transaction": {"at": "/after/moved"},
            "event_time": {"at": "/after/at", "form": "epoch-millis"},
        }
        images = {"container": "object", "insert": {"after": {"at": "/after"} | BESIDE}}
        resolved = version.resolved | {"envelope": envelope, "images": images, "ops": {"c": "insert"}, "rules": []}
        vars(version).update(resolved=resolved)
    return open_validation(catalogue, "debezium/json@4", ReadingOptions())


def insert(row):
    return json.dumps({"before": None, "after": row, "source": SOURCE, "op": "c", "ts_ms": 1718000001234}).encode()


ROWS = [{"id": 7, "moved": "5:1", "at": 1718000000000}, {"id": 8}, {"id": 9, "moved": None}, {"moved": "5:2", "id": 10}]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_facts_among_the_members_of_a_row_are_read_by_both_paths(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_beside()

    changes = [change for row in ROWS for change in validation.validate(insert(row)).changes]
    assert [(one.transaction, one.after) for one in changes] == [
        ("5:1", {"id": "7"}), (None, {"id": "8"}), (None, {"id": "9"}), ("5:2", {"id": "10"}),
    ]  # fmt: skip
    assert unlike_columns(validation, [insert(row) for row in ROWS * 20]) == []
