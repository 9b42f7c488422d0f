"""Hearings for tests: messages of one partition, and what they come to."""

from topics import CATALOGUE

from cdc_contracts.registry.detection.deliberation import detect
from cdc_contracts.registry.detection.hearing import Hearing
from cdc_contracts.registry.detection.testimony import Place
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
