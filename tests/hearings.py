"""Hearings for tests: messages of one partition, and what they come to."""

from dataclasses import replace
from functools import cache, cached_property

from topics import CATALOGUE

from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.detect.classifier import detect
from cdc_contracts.registry.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.detect.message_evidence import Panel, RecordPlace
from cdc_contracts.registry.generate.message_samples import sample_messages


def sampled(reference, count, *, seed=7):
    """So many messages of a contract."""
    return list(sample_messages(CATALOGUE.version(reference), count, seed=seed, reading_options=ReadingOptions()))


def detect_messages(messages, catalogue=CATALOGUE):
    """What messages speak, in their order."""
    accumulator = EvidenceAccumulator(catalogue, ReadingOptions())
    for offset, value in enumerate(messages):
        accumulator.add(RecordPlace("orders", 0, offset), value)
    return detect(accumulator)


class Remembering(Panel):
    """A panel that remembers what it said of a value, for many topics of the same messages."""

    def __init__(self):
        super().__init__(CATALOGUE, ReadingOptions())
        self._said = {}

    def add(self, place, value):
        if value not in self._said:
            self._said[value] = super().add(place, value)
        return replace(self._said[value], place=place)


@cache
def remembering():
    return Remembering()


class Rehearing(EvidenceAccumulator):
    """A hearing by the panel that remembers."""

    @cached_property
    def panel(self):
        return remembering()


def detect_again(messages):
    """What messages speak most of which were heard before."""
    accumulator = Rehearing(CATALOGUE, ReadingOptions())
    for offset, value in enumerate(messages):
        accumulator.add(RecordPlace("orders", 0, offset), value)
    return detect(accumulator)
