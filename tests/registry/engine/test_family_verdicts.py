"""What is kept of the shapes of messages is bounded, and what is forgotten is found anew."""

import gc

import pytest
from framed_topics import change, envelope_of, scope_of, topic_of

from cdc_contracts.registry.core.engine.group import family_verdicts
from cdc_contracts.registry.core.engine.group.batch_results import CachedVerdict
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.parse import batch_parser
from cdc_contracts.registry.core.stats.tally import Tally

IDS = 12
KEPT = 3


@pytest.fixture
def few_shapes(monkeypatch) -> None:
    for module in (batch_parser, family_verdicts):
        monkeypatch.setattr(module, "MOST_SHAPES", KEPT)


@pytest.fixture
def few_verdicts(monkeypatch) -> None:
    monkeypatch.setattr(family_verdicts, "MOST_VERDICTS", KEPT)


def audit() -> tuple[Tally, int]:
    """Audit records of many ids twice in turn, every fifth with a code no version has; the verdicts kept at the end."""
    schemas = {n: envelope_of({"name": f"column_{n}", "type": "int"}) for n in range(1, IDS + 1)}
    records = [
        (0, offset, change(n, schemas[n], {f"column_{n}": n}, "orders" if n % 5 else ""))
        for offset, n in enumerate([*schemas, *schemas])
    ]
    gc.collect()
    gc.freeze()  # so that only what comes now is looked at, not all that other tests keep
    kernel, found = Kernel(scope_of(schemas)), Tally()
    for start in range(0, len(records), 7):
        found.merge(kernel.audit(topic_of(records[start : start + 7])))
    gc.collect()
    return found, kept_verdicts()


def kept_verdicts() -> int:
    return sum(isinstance(one, CachedVerdict) for one in gc.get_objects())


@pytest.fixture(scope="module")
def unbounded() -> Tally:
    found, kept = audit()
    assert kept >= IDS  # so that the others show a bound
    return found


def test_verdicts_are_forgotten_with_the_shapes_of_their_records(unbounded, few_shapes):
    found, kept = audit()
    assert kept <= 2 * KEPT
    assert found == unbounded


def test_no_more_than_so_many_verdicts_are_kept_of_all_shapes(unbounded, few_verdicts):
    found, kept = audit()
    assert kept <= KEPT
    assert found == unbounded
