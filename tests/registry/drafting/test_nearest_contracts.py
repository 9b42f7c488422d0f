"""The nearest contract is that of most messages, whichever come first."""

import pytest
from topics import CATALOGUE, rendered

from cdc_contracts.registry.authoring.drafting.draft_folders import read_samples
from cdc_contracts.registry.authoring.drafting.nearest_contracts import nearest_contract

FEW, MANY = "maxwell/json@2", "drs/json@2"


@pytest.mark.parametrize(
    ("counts", "nearest"),
    [((2, 3), MANY), ((3, 2), FEW), ((2, 2), FEW), ((1, 0), FEW)],
    ids=["most come last", "most come first", "as many", "one alone"],
)
def test_the_contract_of_most_messages_is_the_nearest_in_any_order(counts, nearest):
    values = [value for one, count in zip((FEW, MANY), counts, strict=True) for value in rendered(one, 9)[:count]]
    messages = read_samples([(str(number), value) for number, value in enumerate(values)])
    rows = {at for one in (FEW, MANY) for at in CATALOGUE.version(one).meaning.images.pointers()}
    assert nearest_contract(CATALOGUE, messages, rows) == nearest
