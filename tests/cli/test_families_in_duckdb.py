"""The example of the documentation: a capture of each catalogue family, decoded and queried in DuckDB."""

import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from site_pages import DOCS, blocks_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

PAGE = DOCS / "how-to/duckdb.md"


@pytest.fixture(scope="module")
def example():
    """The blocks of the example by language."""
    return {block.language: block.text for block in blocks_of(PAGE)}


@pytest.fixture
def decoded(example, tmp_path, monkeypatch):
    """A folder in which the commands of the example were carried out, without Spark."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.sql").write_text(re.search(r"<<'END'\n(.*?)END\n", example["sh"], re.DOTALL)[1])
    (contracts,) = re.findall(r"^for contract in (.*); do$", example["sh"], re.MULTILINE)
    first, *calls = re.findall(r"^ *cdc-contracts (.*)$", example["sh"], re.MULTILINE)
    assert main(first.split()) == 0
    for contract in contracts.split():
        for call in calls:
            family = contract.partition("/")[0]
            reported = call.replace("${contract%/*}", family).replace("$contract", contract)
            assert main(reported.split()) == 0, reported
    return contracts.split()


@pytest.mark.nightly
def test_the_example_prints_what_the_page_says_and_leaves_no_family_out(decoded, example, capsys):
    capsys.readouterr()
    exec(compile(example["python"], PAGE.name, "exec"), {})
    assert capsys.readouterr().out == example["text"]
    families = {subject.partition("/")[0] for subject in shipped_catalogue().subjects()}
    assert families == {contract.partition("/")[0] for contract in decoded}

    # The same rows whatever the family, digit for digit: those of two that say every event.
    images = [
        duckdb.read_parquet(f"{family}/tables/shop.orders/*/*.parquet")
        .project("after.total, after.made, after.customer")
        .order("ALL")
        for family in ("drs", "oms")
    ]
    assert images[0].fetchall() == images[1].fetchall()
    assert {pq.read_metadata(path).num_rows for path in Path().glob("*.parquet")} == {2_000}
