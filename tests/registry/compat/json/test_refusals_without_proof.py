"""The page about refusals without a proof, compared with the refusals themselves."""

import json
import re
from collections import Counter
from itertools import pairwise, permutations, product
from pathlib import Path

import pytest
from small_schemas import ALL, FAMILIES, NAMES, takes, validate

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING
from cdc_contracts.registry.authoring.compat.contract_comparison import compare_contracts
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema

PAIRS = Path(__file__).parent / "pairs"
PAGE = (Path(__file__).parents[4] / "docs/reference/refusals-without-proof.md").read_text(encoding="utf-8")
NO_MESSAGE, NONE_FOUND = "No message shows it", "No message was found that shows it"
STRICT = Policy.CONFLUENT_STRICT


def refusals_without_proof(verdict):
    """Return the breaking findings of a verdict where none has a proof, each with what it says of that."""
    breaking = [one for one in verdict.findings if one.severity == BREAKING]
    if any(one.proof for one in breaking):
        return []
    return [(one, next(why for why in (NO_MESSAGE, NONE_FOUND) if why in one.says)) for one in breaking]


def rows(head):
    """Return the cells of each row of the table below a heading row."""
    table = PAGE.split(head)[1].split("\n\n")[0]
    return [tuple(re.split(r" \| ", line.strip("| "))) for line in table.splitlines()[2:]]


def test_the_page_lists_the_pairs_in_files_that_are_refused_without_proof():
    found = set()
    for path, level in product(sorted(PAIRS.glob("*.old.json")), (Level.BACKWARD, Level.FORWARD)):
        name = path.name.removesuffix(".old.json")
        old, new = (
            read_schema((PAIRS / f"{name}.{side}.json").read_text(encoding="utf-8"), type=JSON, name=side)
            for side in ("old", "new")
        )
        verdict = compare_schemas([old], new, level=level, policy=STRICT)
        found |= {(f"`{name}`", level.value, one.rule, one.confluent_rule, why)
                  for one, why in refusals_without_proof(verdict)}  # fmt: skip
    assert set(rows("| pair | level | rule | Confluent's name | the finding says |")) == found


@pytest.mark.skipif(ALL, reason="the page has the counts of the short run")
def test_the_page_counts_the_small_schemas_that_are_refused_without_proof():
    pairs, refused, counts = 0, Counter(), {}
    for name, (draft, schemas, _, step) in FAMILIES.items():
        several = [{"$schema": NAMES[draft], **one} for one in schemas()]
        for old, new in list(permutations(several, 2))[::step]:
            pairs += 1
            verdict = validate(old, new, STRICT)
            found = refusals_without_proof(verdict)
            if verdict.compatible is False:
                refused[min(why for _, why in found) if found else "proven"] += 1
            for one, why in found:
                counts.setdefault((one.rule, one.confluent_rule), Counter())[why] += 1
            if any(why == NO_MESSAGE for _, why in found):
                accepted = [takes(name, json.dumps(schema)) for schema in (old, new)]
                assert accepted[0] <= accepted[1], (old, new)
    table = rows("| rule | Confluent's name | No message shows it | No message was found |")
    told = {(rule, name): (int(without), int(unfound)) for rule, name, without, unfound in table}
    assert told == {key: (count[NO_MESSAGE], count[NONE_FOUND]) for key, count in sorted(counts.items())}
    numbers = re.search(
        r"compares (\d+) pairs.*? (\d+) are refused: (\d+) with a proof, (\d+) because.*? and (\d+) because",
        " ".join(PAGE.split()),
    )
    assert tuple(map(int, numbers.groups())) == (
        pairs, refused.total(), refused["proven"], refused[NO_MESSAGE], refused[NONE_FOUND],
    )  # fmt: skip


def test_no_two_consecutive_versions_of_the_catalogue_are_refused_without_proof():
    catalogue = shipped_catalogue()
    neighbours = [pair for subject in catalogue.subjects() for pair in pairwise(catalogue.versions(subject))]
    assert neighbours
    for old, new in neighbours:
        verdict = compare_contracts(old, new, level=Level.FULL, policy=STRICT)
        assert [one for one in verdict.findings if one.severity == BREAKING and one.proof is None] == []
