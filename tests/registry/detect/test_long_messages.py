"""Detection of messages with many rows or columns: its time is bounded, and what a sample leaves out proves nothing."""

import json
from copy import deepcopy

import pytest
from topics import CATALOGUE, PLAIN, rendered

from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import _first_rows
from cdc_contracts.registry.core.detect.topic_samples import add_batches
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow


def update(old_notes, notes):
    """An update of some rows as `dts/canal@2` writes it: their after images in `data`, what changed in `old`."""
    message = json.loads(rendered("dts/canal@2", 1)[0])
    types = {"id": -5, "note": -1}, {"id": "bigint", "note": "text"}
    message |= dict(zip(("sqlType", "mysqlType"), types, strict=True), type="UPDATE")
    message["data"] = [{"id": str(number), "note": note} for number, note in notes.items()]
    message["old"] = [{"id": str(number), "note": note} for number, note in old_notes.items()]
    return json.dumps(message).encode()


def detected(values, most=2_000):
    accumulator = EvidenceAccumulator(CATALOGUE, PLAIN)
    add_batches(accumulator, [RecordsWithoutArrow("t", 0, range(len(values)), values)], most)
    return accumulator, detect(accumulator)


def notes(text, rows):
    return {number: f"{text} {number}" for number in rows}


def test_rows_that_were_left_out_break_no_history():
    """Each row is changed twice by itself, as the documents say, and in between by a message in which it is no. 51+."""
    values = []
    for number in range(100, 112):
        others = range(60)
        values += [
            update(notes("a", [number]), notes("b", [number])),
            update(notes("x", others) | notes("b", [number]), notes("x", others) | notes("c", [number])),
            update(notes("c", [number]), notes("d", [number])),
        ]
    accumulator, _ = detected(values)
    (evidence,) = (one for order in accumulator._orders.values() for one in order._evidence)
    assert (accumulator.messages, evidence.torn) == (len(values), 0)


def test_a_message_with_many_rows_says_what_its_first_rows_say():
    few, many = (update(notes("a", range(rows)), notes("b", range(rows))) for rows in (50, 4_000))
    (of_few, found), (of_many, found_as_well) = detected([few] * 3), detected([many] * 3)
    assert of_few.values == of_many.values
    assert (found.verdict, of_few.takers) == (found_as_well.verdict, of_many.takers)


def test_rows_are_left_out_of_what_is_read_and_not_of_the_message():
    """One parsed message is given to many versions, which have its rows in different places."""
    message = {"op": "u", "data": {"rows": [*range(60)], "before": {"rows": [*range(70)]}}, "few": [1, 2]}
    given, places = deepcopy(message), ["/data/rows", "/data/before/rows", "/few", "/op", "/none"]
    cut = _first_rows(message, places)
    few = {"op": "u", "data": {"rows": [*range(50)], "before": {"rows": [*range(50)]}}, "few": [1, 2]}
    assert (cut, message) == (few, given)
    assert _first_rows(cut, places) is cut


@pytest.mark.parametrize(("columns", "read"), [(2, range(400, 401)), (1_000, range(25, 100))])
def test_of_many_messages_with_many_columns_some_are_read_from_the_first_to_the_last(columns, read):
    values = []
    for number in range(400):
        message = json.loads(update(notes("a", [number]), notes("b", [number])))
        more = {f"c{column}": "1" for column in range(columns)}
        message["data"] = [{**row, **more} for row in message["data"]]
        message["sqlType"] |= dict.fromkeys(more, 4)
        message["mysqlType"] |= dict.fromkeys(more, "int")
        values.append(json.dumps(message).encode())
    accumulator, _ = detected(values)
    seen = [offset for message in accumulator.timeline._messages for offset in [message.place.offset]]
    assert accumulator.messages in read
    assert all(any(start <= offset < start + 100 for offset in seen) for start in range(0, 400, 100))
