"""Releases of a product: which ones lie between two others, by numbers and not by text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.contract.releases import pattern_of_releases, read_release, release_between

NUMBERS = st.integers(0, 130)
RELEASES = st.tuples(NUMBERS, NUMBERS)
TAILS = st.sampled_from(["", ".0", ".4.Final", ".0.Alpha1", "-SNAPSHOT", ".12"])


@pytest.mark.parametrize(
    ("since", "until", "release", "between"),
    [
        (None, "2.0", "1.9.7.Final", True),
        (None, "2.0", "2.0.0.Alpha1", False),
        ("2.0", "2.6", "2.5.4.Final", True),
        ("2.0", "2.6", "2.6.0.Final", False),
        ("2.0", "2.6", "2.10.0.Final", False),
        ("2.6", "3.1", "3.0.8.Final", True),
        ("2.6", "3.1", "2.10.0.Final", True),
        ("2.6", "3.1", "2.5.4.Final", False),
        ("3.1", None, "3.10.0.Final", True),
        ("3.1", None, "12.0.0.Final", True),
        ("3.1", None, "3.0.8.Final", False),
        ("3.1", None, "3.1", True),
        ("3.1", None, "3.1.", True),
        ("3.1", None, "3.", False),
        ("3.1", None, "v3.1", False),
        ("3.1", None, "03.1", False),
        ("3.1", None, "3.1Final", False),
    ],
)
def test_a_release_lies_between_two_others_by_its_numbers(since, until, release, between):
    assert bool(re.search(pattern_of_releases(since, until), release)) is between


@given(st.none() | RELEASES, st.none() | RELEASES, RELEASES, TAILS)
def test_the_pattern_takes_exactly_the_releases_in_between(since, until, release, tail):
    lowest = since or (0, 0)
    if until is not None and lowest >= until:
        with pytest.raises(ValueError, match="there is no release"):
            pattern_of_releases(since and "{}.{}".format(*since), "{}.{}".format(*until))
        return
    pattern = pattern_of_releases(since and "{}.{}".format(*since), until and "{}.{}".format(*until))
    expected = lowest <= release and (until is None or release < until)
    assert re.search(pattern, release_between(since and "{}.{}".format(*since), until and "{}.{}".format(*until)))
    text = "{}.{}".format(*release) + tail
    assert bool(re.search(pattern, text)) is expected
    assert read_release(text) == release


@pytest.mark.parametrize("text", ["", "3", "3.", "three.one", "3.1Final", "-1.0", "3.01"])
def test_what_does_not_begin_with_two_numbers_is_no_release(text):
    with pytest.raises(ValueError, match="no release"):
        read_release(text)
