"""Versions of table contracts, compared; the table of cases says what of each change breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cdc_contracts.registry.authoring.compat.compatibility_rule import compatibility_rules
from cdc_contracts.registry.authoring.compat.tables.table_comparison import FiledTable, compare_tables
from cdc_contracts.registry.core.common.yaml_documents import merge
from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract

TOLD = yaml.safe_load((Path(__file__).parent / "table_contracts.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TOLD["cases"], ids=lambda case: case["case"])
def test_a_change_is_what_the_table_says(case):
    old, new = (
        FiledTable(parse_table_contract(merge(TOLD["base"], case.get(side, {})), side)) for side in ("old", "new")
    )
    verdict = compare_tables([old], [new])
    assert sorted(f"{one.rule} {one.path}" for one in verdict.findings) == sorted(case["finds"])
    assert verdict.compatible is case.get("compatible", not case["finds"])


def test_every_rule_has_a_case():
    assert {one.split()[0] for case in TOLD["cases"] for one in case["finds"]} == {
        rule.id for rule in compatibility_rules() if rule.id.startswith("T2")
    }
