"""Statements: which messages without rows are DDL, and which only say what was executed."""

import json
from pathlib import Path

import pytest

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.validate.validation_context import open_validation

CONTRACTS = Path(__file__).parents[3] / "contracts"
VALIDATION = open_validation(Catalogue([CONTRACTS]), "canal/flat@3", ReadingOptions())


def statement(code, sql, *, ddl):
    return json.dumps({
        "data": None, "database": "shop", "es": 1_760_000_000_000, "gtid": "", "id": 4, "isDdl": ddl, "mysqlType": None,
        "old": None, "pkNames": None, "sql": sql, "sqlType": None, "table": "", "ts": 1_760_000_000_321, "type": code,
    }).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("code", "ddl", "kind"),
    [
        ("CREATE", True, "ddl"),
        ("QUERY", True, "ddl"),
        ("TRUNCATE", True, "truncate"),
        ("QUERY", False, "mark"),
        ("GTID", False, "mark"),
        ("XACOMMIT", False, "commit"),
        ("XAROLLBACK", False, "rollback"),
        ("MHEARTBEAT", False, "heartbeat"),
    ],
)
def test_what_a_message_without_rows_is_follows_from_its_code_and_flag(code, ddl, kind):
    sql = "" if code == "MHEARTBEAT" else "DROP TABLE orders"
    validated = VALIDATION.validate(statement(code, sql, ddl=ddl))

    assert (validated.verdict.outcome, validated.verdict.findings) == ("control", ())
    assert (validated.control.kind, validated.control.ddl_text) == (kind, sql)


def test_the_text_of_a_statement_that_changed_rows_is_no_ddl_of_a_run():
    messages = [statement("QUERY", "UPDATE orders SET n = 1", ddl=False), statement("ALTER", "alter table a", ddl=True)]

    tally = account(VALIDATION, Source("messages.jsonl", 0), list(enumerate(messages)))

    assert [one.text for one in tally.statements] == ["alter table a"]


@pytest.mark.parametrize("code", ["CREATE", "ALTER", "TRUNCATE", "XACOMMIT"])
def test_a_flag_that_contradicts_the_code_is_an_error(code):
    wrong = VALIDATION.validate(statement(code, "x", ddl=code == "XACOMMIT"))

    assert [one.rule for one in wrong.verdict.findings] == ["D09.ddl-flag-agrees"]
