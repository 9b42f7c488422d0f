"""Rows above the ceiling of a run are counted by their keys alone, and leave the same row changes as if digested whole."""

import json
from random import Random

import pytest
from chain_topics import OLD, records, report_of, scope_of
from changing_rows import stream
from topics import rendered

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats import row_changes
from cdc_contracts.registry.core.stats.row_changes import HIGHEST
from cdc_contracts.registry.core.stats.tally import Tally

PARTS, SIZE = 12, 40


@pytest.fixture(autouse=True)
def few_changes(monkeypatch):
    monkeypatch.setattr(row_changes, "MOST_CHANGES", 30)


def varied(contract, seed):
    """Messages of two tables and some without a key, with several rows, with changes of the key, with partial images."""
    draw, values = Random(seed), []
    for value in rendered(contract, PARTS * SIZE, seed=seed):
        message = json.loads(value)
        message["table"] = draw.choice(["orders", "visits"])
        rows, old = message["data"], message.get("old")
        if draw.random() < 0.2:
            message["pkNames"] = None if draw.random() < 0.5 else []
        if draw.random() < 0.2:
            message["data"], message["old"] = rows and rows * 3, old and old * 3
        if rows and old and draw.random() < 0.2:
            message["old"] = [{**one, "id": str(draw.randrange(99))} for one in message["old"]]
        if rows and draw.random() < 0.1:
            message["data"] = [{name: value for name, value in one.items() if name != "id"} for one in message["data"]]
        values.append(json.dumps(message).encode())
    return values


def audited(contract, batches, *, known):
    """The tally of a task; only if `known` each batch is told the ceiling of those before it."""
    kernel, tally = Kernel(scope_of(contract)), Tally()
    for batch in batches:
        tally.merge(kernel.audit(batch, ceiling=tally.chains.ceiling if known else HIGHEST))
    return tally


def of_another_subject(contract, seed):
    """Messages that a subject with the images the other way round would take."""
    return stream(PARTS * SIZE, lambda _: OLD, keys=25, seed=seed, deletes=False)


@pytest.mark.parametrize("native", ["eager", "off"])
@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("contract", "make"),
    [("dts/canal@1", varied), ("dts/canal@2", varied), ("canal/flat@3", varied), ("drs/json@2", of_another_subject)],
)
def test_row_changes_are_the_same_whether_rows_above_the_ceiling_are_digested_or_only_counted(
    contract, make, seed, native, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values, draw = make(contract, seed), Random(seed)
    batches = [
        records(values[start : start + SIZE], partition=draw.randrange(2), start=start)
        for start in range(0, len(values), SIZE)
    ]
    whole, followed = (audited(contract, batches, known=known) for known in (False, True))

    assert followed.chains.ceiling < HIGHEST
    assert followed.chains.total > 2 * sum(len(followed.chains.changes_of(line)) for line in followed.chains.lines)
    assert followed.chains.state() == whole.chains.state()
    assert report_of(followed, contract) == report_of(whole, contract)


def test_a_decode_follows_the_same_rows_as_an_audit():
    batches = [records(part, start=start) for start, part in enumerate_parts(varied("dts/canal@1", 5))]
    kernel, tally = Kernel(scope_of("dts/canal@1")), Tally()
    for batch in batches:
        for written in kernel.decode(batch, ceiling=tally.chains.ceiling):
            tally.merge(written.tally)

    assert tally.chains.state() == audited("dts/canal@1", batches, known=False).chains.state()


def enumerate_parts(values):
    return [(start, values[start : start + SIZE]) for start in range(0, len(values), SIZE)]
