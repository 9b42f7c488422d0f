"""Results of the Python interface: they cannot be changed, are equal and hashed by value, and notebooks show them."""

import copy
import json
import pickle
import typing
from html.parser import HTMLParser

import pytest

import cdc_contracts as cdc
from cdc_contracts.api.results import Op
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.validate.decoded_changes import update_part
from cdc_contracts.testing import messages

ORDERS = cdc.contract("dts/canal@2")
UPDATE = next(
    one for one in map(ORDERS.decode, messages("dts/canal@2", 50)) if one.changes and one.changes[0].op == "update"
)
DRIFT = [value.replace(b'"INSERT"', b'"<b>"') for value in messages("dts/canal@2", 30)]


def decoded_again():
    return next(one for one in map(ORDERS.decode, messages("dts/canal@2", 50)) if one == UPDATE)


@pytest.mark.parametrize("part", ["before", "after", "row", "column_types"])
def test_no_part_of_a_change_can_be_changed(part):
    mapping = getattr(UPDATE.changes[0], part)
    name = next(iter(mapping))
    before = dict(mapping)
    for change in (
        lambda: mapping.__setitem__(name, None), lambda: mapping.__delitem__(name), lambda: mapping.update({name: None}),
        lambda: mapping.pop(name), mapping.popitem, mapping.clear,
        lambda: mapping.setdefault("new", 1), lambda: mapping.__ior__({name: None}),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="results cannot be changed"):
            change()
    assert mapping == before
    changed = mapping.copy()
    changed[name] = None
    assert mapping == before


def test_what_a_caller_does_to_a_result_does_not_reach_the_next_message():
    types = dict(UPDATE.changes[0].column_types)
    with pytest.raises(TypeError):
        UPDATE.changes[0].column_types["id"] = "text"
    assert decoded_again().changes[0].column_types == types


def test_results_are_hashed_by_value():
    again = decoded_again()
    assert again is not UPDATE
    assert len({again, UPDATE}) == 1
    assert len({*again.changes, *UPDATE.changes}) == 1
    report = ORDERS.check_batch(DRIFT)
    assert len({report, ORDERS.check_batch(DRIFT)}) == 1
    assert isinstance(hash(ORDERS.explain(DRIFT[0])), int)
    (undecided,) = cdc.contract("dts/canal").decode(next(
        value for value in messages("dts/canal@2", 50) if b'"UPDATE"' in value
    )).changes  # fmt: skip
    assert isinstance(hash(undecided), int)


def test_documents_are_frozen_at_every_depth():
    document = ORDERS.check_batch(DRIFT).document
    with pytest.raises(TypeError):
        document["findings"].append({})
    with pytest.raises(TypeError):
        document["findings"][0]["rule"] = ""
    assert json.loads(json.dumps(document)) == document


def test_results_survive_copies_and_pickling():
    for one in (UPDATE, ORDERS.check_batch(DRIFT)):
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.deepcopy(one) == one


def test_the_ops_of_changes_are_those_of_their_type():
    assert {update_part(op, before=True, after=True)[0] for op in ROW_OPS} == set(typing.get_args(Op))


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1], data))


def test_a_notebook_shows_a_change_column_by_column():
    shown = Cells(UPDATE.changes[0]._repr_html_()).texts
    assert shown[:4] == [("caption", "update shop.orders"), ("th", "column"), ("th", "before"), ("th", "after")]
    assert set(UPDATE.changes[0].row) <= {text for _, text in shown}


def test_a_notebook_shows_a_report_and_nothing_of_a_message_as_markup():
    html = ORDERS.check_batch(DRIFT)._repr_html_()
    assert ("code", "D08.op") in Cells(html).texts
    assert "drift: 30 read" in html
    assert "<b>" not in html
