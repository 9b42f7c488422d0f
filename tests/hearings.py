"""Hearings for tests: messages of one partition, and what they come to."""

from dataclasses import replace
from functools import cache, cached_property

from topics import CATALOGUE

from cdc_contracts.registry.detection.deliberation import detect
from cdc_contracts.registry.detection.hearing import Hearing
from cdc_contracts.registry.detection.testimony import Panel, Place
from cdc_contracts.registry.sampling import sample_messages
from cdc_contracts.registry.terms import Terms


def sampled(reference, count, *, seed=7):
    """So many messages of a contract."""
    return list(sample_messages(CATALOGUE.version(reference), count, seed=seed, terms=Terms()))


def detect_messages(messages):
    """What messages speak, in their order."""
    hearing = Hearing(CATALOGUE, Terms())
    for offset, value in enumerate(messages):
        hearing.hear(Place("orders", 0, offset), value)
    return detect(hearing)


class Remembering(Panel):
    """A panel that remembers what it said of a value, for many topics of the same messages."""

    def __init__(self):
        super().__init__(CATALOGUE, Terms())
        self._said = {}

    def hear(self, place, value):
        if value not in self._said:
            self._said[value] = super().hear(place, value)
        return replace(self._said[value], place=place)


@cache
def remembering():
    return Remembering()


class Rehearing(Hearing):
    """A hearing by the panel that remembers."""

    @cached_property
    def panel(self):
        return remembering()


def detect_again(messages):
    """What messages speak most of which were heard before."""
    hearing = Rehearing(CATALOGUE, Terms())
    for offset, value in enumerate(messages):
        hearing.hear(Place("orders", 0, offset), value)
    return detect(hearing)
