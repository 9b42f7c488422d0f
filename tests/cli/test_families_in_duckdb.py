"""The README's example: a capture of each catalogue family, decoded and queried in DuckDB."""

import re
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.registry.contract.catalogue import shipped_catalogue

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def example():
    """The blocks of the example by language."""
    text = README.read_text(encoding="utf-8")
    marked = text.partition("<!-- families -->\n")[2].partition("<!-- /families -->")[0]
    return dict(re.findall(r"```(\w+)\n(.*?)```", marked, re.DOTALL))


@pytest.fixture
def decoded(spark, example, tmp_path, monkeypatch):
    """A folder in which the commands of the example were carried out, in the session that is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.sql").write_text(re.search(r"<<'END'\n(.*?)END\n", example["sh"], re.DOTALL)[1])
    (contracts,) = re.findall(r"^for contract in (.*); do$", example["sh"], re.MULTILINE)
    first, *calls = re.findall(r"^ *cdc-contracts (.*)$", example["sh"], re.MULTILINE)
    assert main(first.split()) == 0
    for contract in contracts.split():
        for call in calls:
            family = contract.partition("/")[0]
            told = call.replace("${contract%/*}", family).replace("$contract", contract)
            assert main(told.split()) == 0, told
    return contracts.split()


def test_the_example_prints_what_the_readme_says_and_leaves_no_family_out(decoded, example, capsys):
    capsys.readouterr()
    exec(compile(example["python"], "README.md", "exec"), {})
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
