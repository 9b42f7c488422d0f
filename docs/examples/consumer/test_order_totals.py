import pytest
from order_totals import OrderTotals


@pytest.mark.cdc_contract("dts/canal", edges=True)
def test_both_sides_of_2022_03_20_lead_to_the_same_totals(cdc_case):
    totals = OrderTotals(swapped=cdc_case.version == 1)
    for message in cdc_case.messages:
        totals.apply(message)
    assert totals.by_id == {row["id"]: row["total"] for row in cdc_case.rows}


def test_an_unknown_op_is_rejected(cdc_messages):
    totals = OrderTotals()
    with pytest.raises(ValueError, match="unknown type"):
        for message in cdc_messages("dts/canal@2", n=10, drift="unknown-enum"):
            totals.apply(message)
