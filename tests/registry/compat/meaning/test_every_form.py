"""Any two value forms of one canonical kind are distinguished by a message, however similar they look."""

from __future__ import annotations

from itertools import combinations

import pytest

from cdc_contracts.registry.authoring.compat.meaning.meaning_comparison import compare_meaning
from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.values import FORMS

PAIRS = [
    (one.name, other.name)
    for one, other in combinations([form for form in FORMS.values() if not form.records], 2)
    if one.kind == other.kind
]
ALIKE = (
    ("opaque-text", "undocumented-text"), ("decimal-text", "decimal-text-of-scale"), ("integer-number", "interval-micros"),
    ("float32-number", "float32-number-or-literal"), ("float64-number", "float64-number-or-literal"),
    ("year-number", "year-number-or-1900"), ("text", "text-noting-damage"),
    ("enum-text", "text"), ("enum-text", "text-noting-damage"), ("iso-instant", "iso-instant-offset"),
)  # fmt: skip
"""What both take, they read alike: one takes more, notes some, or needs a type that says more."""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """A contract for each value form: its columns of type FOO are written in it."""
    root = tmp_path_factory.mktemp("contracts")
    (root / "acme" / "types").mkdir(parents=True)
    for form in {name for pair in PAIRS for name in pair}:
        name = form.replace(".", "-")
        key = "integer-or-text" if form == "integer-number" else "integer-number"
        (root / "acme" / "types" / f"{name}.yaml").write_text(
            f"mapping: {name}\nnames: [upper]\nforms:\n  {form}: [FOO]\n  {key}: [INT]\n"
        )
        folder = root / "acme" / name / "v1"
        folder.mkdir(parents=True)
        (folder / "contract.yaml").write_text(
            f"contract: acme/{name}@1\nbased_on: oms-community/canal@2\nvalues: {{mapping: {name}}}\n"
            "parameters: [timestamp_zone]\n"
        )
    return Catalogue([*shipped_catalogue().roots, root])


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if pair not in ALIKE])
def test_two_forms_of_one_kind_are_reported_apart(one, other, catalogue):
    old, new = (catalogue.version(f"acme/{form.replace('.', '-')}@1") for form in (one, other))

    (finding,) = (found for found in compare_meaning(old, new) if found.path == "/values/FOO")

    assert (finding.rule, finding.severity, finding.old, finding.new) == ("C301", "breaking", one, other)
    assert finding.proof.old != finding.proof.new


@pytest.mark.one_in(2)
@pytest.mark.parametrize("pair", ALIKE)
def test_two_forms_that_read_alike_are_left_undecided(pair, catalogue):
    old, new = (catalogue.version(f"acme/{form}@1") for form in pair)

    (finding,) = (found for found in compare_meaning(old, new) if found.path == "/values/FOO")

    assert (finding.rule, finding.severity, finding.old, finding.new) == ("C301", "undecided", *pair)
