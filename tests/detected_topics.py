"""Detection for tests: messages of one partition, and the contract detected for them."""

from dataclasses import replace
from functools import cache, cached_property

from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import CatalogueValidators, RecordPlace
from cdc_contracts.registry.core.generate.message_samples import sample_messages


def sampled(reference, count, *, seed=7):
    """So many messages of a contract."""
    return list(sample_messages(CATALOGUE.version(reference), count, seed=seed, reading_options=ReadingOptions()))


def detect_messages(messages, catalogue=CATALOGUE):
    """Detect the contract of messages, in their order."""
    accumulator = EvidenceAccumulator(catalogue, ReadingOptions())
    for offset, value in enumerate(messages):
        accumulator.add(RecordPlace("orders", 0, offset), value)
    return detect(accumulator)


class CachingValidators(CatalogueValidators):
    """Validators that cache their evidence by value, for many topics with the same messages."""

    def __init__(self):
        super().__init__(CATALOGUE, ReadingOptions())
        self._known = {}

    def add(self, place, value, key=None):
        if value not in self._known:
            self._known[value] = super().add(place, value, key)
        return replace(self._known[value], place=place)


@cache
def caching_validators():
    return CachingValidators()


class CachedAccumulator(EvidenceAccumulator):
    """An evidence accumulator with caching validators."""

    @cached_property
    def validators(self):
        return caching_validators()


def detect_again(messages):
    """Detect the contract of messages most of which were seen before."""
    accumulator = CachedAccumulator(CATALOGUE, ReadingOptions())
    for offset, value in enumerate(messages):
        accumulator.add(RecordPlace("orders", 0, offset), value)
    return detect(accumulator)
