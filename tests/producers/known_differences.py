"""Known differences: where a decoded value is not the one of the database, and why; `known_differences.yaml` lists them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from producers.captures import Capture

LIST = Path(__file__).with_name("known_differences.yaml")
ABSENT, NULL = "(absent)", "(null)"
"""What stands for a column that is not in an image, and for NULL."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not decoded to what the database held; `decoded` of a message that is refused is its rules."""

    column: str
    type: str
    held: str
    decoded: str


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """An entry of the list: what it does not say is not asked for. `held` and `decoded` are patterns of whole texts."""

    database: str
    reason: str
    loss: str | None = None
    """What the contract calls it in `losses`; None where nothing is lost, because decoding keeps what was sent."""
    product: str | None = None
    releases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    held: str = ".*"
    decoded: str = ".*"

    def is_of(self, capture: Capture) -> bool:
        """Say whether messages of a capture may have such a difference."""
        return (
            self.database == capture.database
            and self.product in (None, capture.product)
            and (not self.releases or capture.version in self.releases)
            and (not self.options or capture.options in self.options)
        )

    def covers(self, capture: Capture, difference: Difference) -> bool:
        """Say whether a difference in a capture is of this entry."""
        return (
            self.is_of(capture)
            and (not self.types or re.sub(r"\(.*\)", "", difference.type) in self.types)
            and (not self.columns or difference.column in self.columns)
            and bool(re.fullmatch(self.held, difference.held, re.DOTALL))
            and bool(re.fullmatch(self.decoded, difference.decoded, re.DOTALL))
        )


@cache
def known_differences() -> tuple[KnownDifference, ...]:
    """Read the list of differences in values."""
    listed = _read()
    lost, kept = listed["losses"], listed["kept"]
    assert all("loss" in entry for entry in lost)
    assert not any("loss" in entry for entry in kept)
    return tuple(
        KnownDifference(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
        for entry in (*lost, *kept)
    )


def _read() -> dict[str, Any]:
    return dict(yaml.load(LIST.read_text(encoding="utf-8"), yaml.BaseLoader))
