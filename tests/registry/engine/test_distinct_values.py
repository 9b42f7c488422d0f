"""Distinct values: what a column reads as is what each of its values reads as, in every company and batch."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from values_alone import read_alone

from cdc_contracts.registry.core.engine.columns import distinct_values
from cdc_contracts.registry.core.engine.columns.distinct_values import read_values
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.values import FORMS, Context, Number
from cdc_contracts.registry.core.values.type_bounds import bound_of

TOKENS = st.sampled_from(["0", "-0", "1", "1.0", "1.50", "01", "7", "300", "1e3", "-5", "1718000000", "9" * 30])
TEXTS = st.sampled_from([
    "", "a", "1", "1.0", "true", "null", "0", "2024-02-29", "2024-02-30", "12:30:00.50", "2024-06-10 14:13:20.5",
    "0000-00-00 00:00:00", "1718000000.50", "[1, 2]", "6A67", "amc=", "INTERVAL '3' DAY", "Integer 5", "Float 0.1",
])  # fmt: skip
CONTEXTS = st.builds(
    Context,
    keep_invalid=st.booleans(),
    invalid_literals=st.sampled_from(((), ("0000-00-00 00:00:00",))),
    zeros_left_out=st.booleans(),
)


def values_of(wire: frozenset[str]) -> st.SearchStrategy[Any]:
    """Give values as the parser of batches makes them: numbers as ints, as bytes of tokens, and as `Number`."""
    kinds: list[st.SearchStrategy[Any]] = [st.none()]
    if "text" in wire:
        kinds.append(TEXTS)
    if "number" in wire:
        kinds += [TOKENS.filter(is_number).map(str.encode), TOKENS.filter(is_number).map(Number), st.integers(-2, 300)]
    if "boolean" in wire:
        kinds.append(st.booleans())
    return st.one_of(kinds)


def is_number(token: str) -> bool:
    try:
        json.loads(token)
    except ValueError:
        return False
    return True


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_column_reads_as_each_of_its_values_alone(name: str, data: st.DataObject) -> None:
    form = FORMS[name]
    bound = bound_of(data.draw(st.sampled_from(["decimal(3,1)", "tinyint", "timestamp(3)", "text"])), form.kind)
    use = FormUse(form, data.draw(CONTEXTS), data.draw(st.booleans()), bound)
    values = data.draw(st.lists(values_of(form.wire), max_size=12)) * data.draw(st.sampled_from((1, 3)))
    expected = [read_alone(use, value) for value in values]
    for texts in (True, False):
        flags, column = read_values(values, use, texts=texts)
        assert ([0] * len(values) if flags is None else flags.tolist()) == [flag for _, flag in expected]
        assert flags is None or flags.any()
        assert (column is None) != texts
        assert column is None or column.to_pylist() == [text for text, _ in expected]


def test_what_is_remembered_is_bounded_and_forgetting_changes_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct_values, "_MOST_VALUES", 50)
    use = FormUse(FORMS["epoch-seconds-integer"], Context(second_digits=8), lenient=False)
    for start in range(0, 1000, 40):
        _, texts = read_values(list(range(start, start + 60)), use, texts=True)
        assert texts.to_pylist() == [read_alone(use, number)[0] for number in range(start, start + 60)]
        assert len(distinct_values._remembered(use)[0]) <= 50 + 60


def test_long_values_that_are_broken_are_not_kept_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct_values, "_MOST_CHARACTERS", 10_000)
    use = FormUse(FORMS["sql-date"], Context(second_digits=6), lenient=False)
    for number in range(30):
        read_values([f"{number}" * 3_000], use, texts=False)
        assert sum(map(len, filter(None, distinct_values._remembered(use)[0]))) <= 10_000


def test_several_threads_read_the_same_texts() -> None:
    use = FormUse(FORMS["decimal-number"], Context(second_digits=7), lenient=False)
    values = [b"%d.%d" % (number % 97, number % 89) for number in range(20_000)]
    with ThreadPoolExecutor(6) as pool:
        columns = list(pool.map(lambda _: read_values(values, use, texts=True)[1].to_pylist(), range(6)))
    assert all(column == [value.decode() for value in values] for column in columns)
