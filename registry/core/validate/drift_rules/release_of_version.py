from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.linear_patterns import compile_pattern
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.releases import pattern_of_releases
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads, places_at
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def pattern_of(meaning: Meaning) -> str:
    """Return the pattern of the releases that write a version."""
    return pattern_of_releases(meaning.applies.since, meaning.applies.until)


def check(view: RuleView) -> Iterator[Breach]:
    """The release that a message names is one that writes this version."""
    meaning = view.reading.meaning
    for at in places_at(meaning.envelope.release):
        value = view.reading.at(at)
        if isinstance(value, str) and not compile_pattern(pattern_of(meaning))(value):
            yield Breach(at, _span(meaning), "another")


def _span(meaning: Meaning) -> str:
    since, until = meaning.applies.since, meaning.applies.until
    parts = [f"from {since}" if since is not None else "", f"before {until}" if until is not None else ""]
    return "a release " + " and ".join(filter(None, parts))


def read_release(meaning: Meaning) -> Reads:
    """Declare that a release is read by whether it matches."""
    return Reads(patterns=tuple((at, pattern_of(meaning)) for at in places_at(meaning.envelope.release)))


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a release before or after those of the version."""
    applies = reading.meaning.applies
    for at in places_at(reading.meaning.envelope.release):
        for release in (applies.until, "0.0.1" if applies.since is not None else None, "none"):
            if release is not None:
                yield {split_pointer(at): release}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the members that name a release."""
    for meaning in meanings:
        yield from places_at(meaning.envelope.release)


RULE = DriftRule(
    name="release-of-version", severity=ERROR,
    says="The release of the product that a message names is one that writes this version.",
    action="The product was upgraded, or another one writes to the topic: compare the versions with `diff`.",
    good='"version": "2.7.4.Final" in the version from 2.6 until 3.1', bad='"version": "3.2.0.Final" in it',
    check=check,
    reads=read_release,
    without_rows=True,
    exercised_by=lambda reading: any(
        isinstance(reading.at(at), str) for at in places_at(reading.meaning.envelope.release)
    ),
    breaks=breaks, places=places, listed_at=17,
)  # fmt: skip
