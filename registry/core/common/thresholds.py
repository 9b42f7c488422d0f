"""Thresholds: what fails a run: a severity with everything above it, and classes of drift by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES, SEVERITIES, rule_id

UNPROVEN: Final = "unproven"
_AMBIGUOUS = "ambiguous"
_NAMES = {rule_id(name): name for name in CLASSES} | {name: name for name in CLASSES}


@dataclass(frozen=True)
class Threshold:
    """The words of `--fail-on`: severities that fail, and classes that fail whatever their severity.

    `unproven`: a version that was asked for, and that no message could distinguish from another, fails as well.
    """

    severities: frozenset[str]
    classes: frozenset[str]
    unproven: bool = False

    def fails(self, name: str, severity: str) -> bool:
        """Return whether a finding fails the run.

        An ambiguous message fails a run only if its class is named: it shows no drift, only that nothing is decided.
        """
        return name in self.classes or (severity in self.severities and name != _AMBIGUOUS)


def parse_threshold(text: str) -> Threshold:
    """Parse a threshold such as `error,unknown-field`.

    Raises UsageError if a word is neither a severity nor a class.
    """
    words = split_words(text)
    unknown = [word for word in words if word not in SEVERITIES and word not in _NAMES and word != UNPROVEN]
    if unknown or not words:
        raise UsageError(
            f"`{unknown[0] if unknown else text}` is neither a severity nor a class of drift",
            where="--fail-on",
            hint="Use error, warning, info, unproven or classes such as unknown-field, comma-separated; "
            "`cdc-contracts rules` lists the classes.",
        )
    lightest = max((SEVERITIES.index(word) for word in words if word in SEVERITIES), default=-1)
    classes = frozenset(_NAMES[word] for word in words if word in _NAMES)
    return Threshold(frozenset(SEVERITIES[: lightest + 1]), classes, UNPROVEN in words)


def split_words(text: str) -> list[str]:
    """Return the words of `--fail-on`, each once, as they were given."""
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
