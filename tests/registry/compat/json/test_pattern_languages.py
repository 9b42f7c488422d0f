"""Patterns as formal languages: they accept the texts that validators accept."""

import re
from itertools import product

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_contracts.registry.authoring.compat.json_schema.pattern_languages import distinguish, is_within, names_beside

ATOMS = ["a", "b", "[ab]", "[^a]", ".", r"\d", "(a|b)", "(?:ab)?", "(ba)*", "a+", "b{1,2}", "_", r"\.", "a{2,}?"]
TEXTS = ["".join(text) for size in range(5) for text in product("ab1_.", repeat=size)]

patterns = st.builds(
    lambda begins, atoms, ends: "^" * begins + "".join(atoms) + "$" * ends,
    st.booleans(), st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4), st.booleans(),
)  # fmt: skip


def finds(pattern, text):
    return re.search(pattern.replace("$", r"\Z"), text) is not None


def misreads(pattern):
    """Say whether a validator finds a pattern in other texts than there are: `a+(?:ab)?a+` in `a`, as one does."""
    validator = jsonschema_rs.Draft202012Validator({"pattern": pattern})
    return any(validator.is_valid(text) != finds(pattern, text) for text in TEXTS)


@settings(max_examples=60)
@given(patterns, patterns)
def test_every_way_in_which_a_text_matches_two_patterns_is_listed(one, other):
    reported = distinguish((one, other))
    if reported is None:
        assert misreads(one) or misreads(other)
        return
    for hits, text in reported.items():
        assert hits == (finds(one, text), finds(other, text))
    assert {(finds(one, text), finds(other, text)) for text in TEXTS[::7]} <= reported.keys()


def test_of_a_pattern_that_a_validator_misreads_nothing_is_said():
    assert misreads("a+(?:ab)?a+")
    assert distinguish(("a", "a+(?:ab)?a+")) is None


@pytest.mark.parametrize(
    ("inner", "outer", "within"),
    [
        ("ab", "a", True), ("a", "ab", False), ("^ab$", "b", True), (r"^\d{4}-\d{2}$", "^[0-9-]+$", True),
        ("^(a+)+$", "^a+$", True), ("a|b", "[ab]", True), ("[ab]", "a|c", False), ("", "a*", True),
        ("(?=a)a", "a", None), (r"(a)\1", "a", None), ("x" * 300, "x", None), ("a{100}", "a", None), (r"\bx", "x", None),
        ("^(a{1,60}){1,60}$", "a", None),
        ("^a^b", "a", None),
    ],
)  # fmt: skip
def test_one_pattern_lies_inside_another(inner, outer, within):
    assert is_within(inner, outer) is within


def test_names_that_are_listed_are_passed_over():
    names = names_beside(["^a", "b"], {"a", "b", "ab", ""})
    kinds = {(finds("^a", name), finds("b", name)) for name in names}
    assert kinds == {(True, True), (True, False), (False, True), (False, False)}
    assert not {"a", "b", "ab", ""} & set(names)
    assert names_beside(["^a$"], {"a"}) == [""]
