"""Topics in which nearly every message has columns that no other has: none is compiled for, and all are read as ever."""

import pytest
from record_batches import batch_of
from topics import rendered, scope_of

from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.engine.parse import new_shapes
from cdc_contracts.registry.core.engine.parse.new_shapes import NewShapes
from cdc_contracts.registry.core.stats.tally import Tally

CANAL = "oms-community/canal@2"
FEW = 20
"""Messages of new shapes in a block before shapes are taken to come once."""
REFERENCES = [CANAL, "canal/flat@3", "dts/canal@2", "debezium/json-schema@4"]


def stream(reference, total, start=0):
    """Messages whose column `customer` is called otherwise in each; every seventh has a broken value, or a null."""
    values = []
    for number, value in enumerate(rendered(reference, total, seed=11), start):
        renamed = value.replace(b'"customer"', f'"customer_{number}"'.encode())
        values.append(renamed.replace(b'"id":"', b'"id":"x') if number % 7 == 3 else renamed)
    return values


def audit_in_parts(reference, values):
    kernel, tally = Kernel(scope_of(reference)), Tally()
    for start, end in ((0, FEW + 2), (FEW + 2, 3 * FEW + 2), (3 * FEW + 2, len(values))):
        tally.merge(kernel.audit(batch_of([(0, offset, values[offset]) for offset in range(start, end)])))
    return tally


@pytest.mark.one_in(2)
@pytest.mark.parametrize("setting", ["off", "on"])
@pytest.mark.parametrize("reference", REFERENCES)
def test_messages_of_new_shapes_are_counted_as_if_each_were_compiled(reference, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    monkeypatch.setattr(new_shapes, "_MOST_NEW", FEW)
    values = stream(reference, 4 * FEW)
    values += values[-FEW:]
    left = audit_in_parts(reference, values)
    monkeypatch.setattr(NewShapes, "leave", lambda self, key: False)
    assert left == audit_in_parts(reference, values)


def test_a_shape_is_compiled_when_it_comes_again(monkeypatch):
    compiled = []
    compile_ = LayoutPlan._compile

    def counted(self, columns, *rest, **options):
        compiled.append(columns)
        return compile_(self, columns, *rest, **options)

    monkeypatch.setattr(LayoutPlan, "_compile", counted)
    monkeypatch.setattr(new_shapes, "_MOST_NEW", FEW)
    kernel = Kernel(scope_of(CANAL))

    def audit(values):
        compiled.clear()
        kernel.audit(batch_of([(0, offset, value) for offset, value in enumerate(values)]))
        return len(compiled)

    once = stream(CANAL, 10, 5_000)
    assert audit(stream(CANAL, FEW + 2)) >= FEW
    assert audit(once) == 0
    assert audit(once) == 10
    assert audit(stream(CANAL, FEW + 2, 9_000)) == 0
    assert audit(rendered(CANAL, FEW + 2)) <= 2
    assert audit(stream(CANAL, 10, 7_000)) == 10
