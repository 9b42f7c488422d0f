"""Patterns that Arrow may match instead of the engine of contracts mean the same to both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern, is_portable
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

TEXTS = [
    "", "0", "7", "12", "007", "123456789012", "1234567890123", "12\n", "\n12", "12\r", " 12", "12 ", "-1", "+1", "1.5",
    "1e3", "12a", "a", "\uff11\uff12", "\u0663", "²", "1\x00", "2024-06-10T14:13:20", "2024-06-10T14:13:20Z", "2024-06-10 14:13:20",
    "2024-06-10T14:13:20\n", "2024-6-10T14:13:20", "20240-06-10T14:13:20", "2024-06-10T14:13:20z", "mysql-bin.000001@154",
    "a@1", "a@@1", "@1", "a@", "a@1@2", "é@1", "a b@1", "a\n@1", "~@0", "!@0", "?@0", "\x7f@1", "\u2028@1", "a@1\u2028",
]  # fmt: skip


def patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    for below in schema if isinstance(schema, list) else ():
        yield from patterns_in(below)


PORTABLE = sorted(
    {
        pattern
        for version in shipped_catalogue().all_versions()
        for pattern in patterns_in(version.schema)
        if is_portable(pattern)
    }
    | {"^[A-Z][a-z]*_?[0-9]{2,3}$", "^[!-?A-~]+@[0-9]+$"}
)


@pytest.mark.parametrize("pattern", PORTABLE)
def test_a_portable_pattern_means_the_same_to_arrow(pattern):
    texts = [*TEXTS, "Ab_12", "Ab1234", "A12"]
    by_arrow = pc.match_substring_regex(pa.array(texts), pattern).to_pylist()
    assert by_arrow == [compile_pattern(pattern)(text) for text in texts]
    assert len(set(by_arrow)) == 2


def test_patterns_of_digits_and_times_are_portable():
    assert "^[0-9]+$" in PORTABLE
    assert is_portable("^[!-?A-~]+@[0-9]+$")
    assert is_portable("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?$")


@pytest.mark.parametrize(
    "pattern",
    ["", "[0-9]+", "^[0-9]+", "[0-9]+$", "^\\d+$", "^.$", "^(a|b)$", "^a|b$", "^[^a]$", "^[[:alpha:]]$", "^[\\w]$",
     "^a+?$", "^a{2,}$", "^a{1000}$", "^\u00e9$", "^[a-\u00e9]$", "^a$\n"],
)  # fmt: skip
def test_what_engines_may_read_differently_is_not_portable(pattern):
    assert not is_portable(pattern)
