"""YAML as contracts write it: scalars stay text, keys stand once, and documents merge as RFC 7396 says."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.yaml_documents import merge, parse_document, read_document, without_nulls


def parse(text):
    return parse_document(text, "here")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2022-03-20", "2022-03-20"),
        ("2022-03-20T00:00:00Z", "2022-03-20T00:00:00Z"),
        ("3.10", "3.10"),
        ("4.0", "4.0"),
        ("1e3", "1e3"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("NO", "NO"),
        ("True", "True"),
        ("null", "null"),
        ("~", "~"),
        ("0x1F", "0x1F"),
        ("007", "007"),
        ("+1", "+1"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        (".inf", ".inf"),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-17", -17),
        ("", None),
        ('""', ""),
        ('"true"', "true"),
        ("'1'", "1"),
    ],
)
def test_a_scalar_is_what_was_written(text, value):
    found = parse(f"key: {text}")["key"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["", "[]", "- a", "text", "a: [", "a: b: c", "\t", "a: 1\n---\nb: 2"])
def test_what_is_no_mapping_is_refused(text):
    with pytest.raises(ContractError) as error:
        parse(text)
    assert error.value.where.startswith("here")


def billions():
    """Ten lines that stand for more than three thousand million values."""
    lines = [
        f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(9))}]" for before, name in pairwise("abcdefghij")
    ]
    return "\n".join(["a: &a [x, x, x, x, x, x, x, x, x]", *lines])


@pytest.mark.parametrize(
    ("text", "says", "where"),
    [
        (billions(), "aliases repeat more than 100,000 values", "here"),
        ("a: 1\nb: &b\n  c: *b", "`*b` contains itself", "here:3"),
        ("a:\n  " + "[" * 100_000, "nested deeper than 200", "here:2"),
        ("- " * 100_000 + "a", "nested deeper than 200", "here:1"),
        ("\n".join(" " * deep + "a:" for deep in range(300)), "nested deeper than 200", "here:201"),
        ("\x85".join(" " * deep + "a:" for deep in range(300)), "nested deeper than 200", "here:201"),
        ("a: " + "[a: " * 100 + "b", "nested deeper than 200", "here:1"),
        (
            "\n".join(" " * deep + "a:\n" + " " * deep + "-" for deep in range(101)),
            "nested deeper than 200",
            "here:201",
        ),
    ],
)
def test_a_document_that_is_a_bomb_is_refused_at_once(text, says, where):
    with pytest.raises(ContractError) as error:
        parse(text)
    assert (error.value.what, error.value.where) == (says, where)


@pytest.mark.parametrize("key", ["[1, 2]", "{a: b}", "[]"])
def test_a_key_that_is_no_text_is_refused_with_its_line(key):
    with pytest.raises(ContractError) as error:
        parse(f"a: 1\nb:\n  ? {key}\n  : 2")
    assert (error.value.what, error.value.where) == ("a key is a list or a mapping, not text", "here:3")


def test_what_stands_once_may_be_named_again():
    assert parse("a: &a {type: int}\nb: [*a, *a]") == {"a": {"type": "int"}, "b": [{"type": "int"}, {"type": "int"}]}


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 199 + "]" * 199,
        "a: " + "[a: " * 99 + "b" + "]" * 99,
        "a:\n" + "- " * 199 + "b",
        "a: '" + "[" * 999 + "'",
    ],
)
def test_a_document_as_deep_as_is_allowed_is_read(text):
    assert parse(text).keys() == {"a"}


def test_who_changes_a_document_that_was_read_changes_no_other_of_the_same_text():
    text = "a: {b: [1], c: &c {d: 2}, e: *c}"
    parse(text)["a"]["b"].append(3)
    changed = parse(text)
    changed["a"]["c"]["d"] = 4
    assert parse(text) == {"a": {"b": [1], "c": {"d": 2}, "e": {"d": 2}}}


def test_a_text_that_was_refused_is_refused_again_where_it_is_then():
    for where in ("here", "there", "here"):
        with pytest.raises(ContractError, match="occurs twice") as error:
            parse_document("a: 1\na: 2", where)
        assert error.value.where == f"{where}:2"


def test_a_text_that_is_no_yaml_is_reported_with_its_line():
    with pytest.raises(ContractError, match=r"not readable as YAML: .*expected.* \(here:3\)"):
        parse("a: 1\nb:\n  }")


@pytest.mark.parametrize(
    ("text", "where"), [("a: 1\nb: 2\na: 3", "here:3"), ("a:\n  x: 1\n  x: 2", "here:3"), ("- {a: 1, a: 2}", "here:1")]
)
def test_a_key_that_occurs_twice_is_refused_with_its_line(text, where):
    with pytest.raises(ContractError, match="occurs twice") as error:
        parse(text)
    assert error.value.where == where


def test_a_file_that_is_missing_or_no_utf8_is_refused(tmp_path):
    with pytest.raises(ContractError, match="cannot be read"):
        read_document(tmp_path / "none.yaml")
    file = tmp_path / "bytes.yaml"
    file.write_bytes(b"a: \xff")
    with pytest.raises(ContractError, match="cannot be read"):
        read_document(file)


@pytest.mark.parametrize(
    ("base", "patch", "merged"),
    [  # the examples of RFC 7396, appendix A, that are about objects
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "b"}, {"a": {"c": {"d": None}}}, {"a": {"c": {}}}),
    ],
)
def test_documents_merge_as_the_rfc_says(base, patch, merged):
    before = repr((base, patch))
    assert merge(base, patch) == merged
    assert repr((base, patch)) == before


def test_without_nulls_only_what_deletes_is_gone():
    assert without_nulls({"a": None, "b": "", "c": {"d": None, "e": 0}, "f": []}) == {"b": "", "c": {"e": 0}, "f": []}
