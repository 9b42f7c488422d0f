"""Contract references: `dts/canal`, `dts/canal@2`, `dts/canal@2022-03-20`, `dts/canal@latest`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from cdc_contracts.registry.core.common.errors import UsageError

_REFERENCE = re.compile(r"([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9-]*)(?:@([A-Za-z0-9][A-Za-z0-9.\-]*))?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_RELEASE = re.compile(r"\d+(?:\.\d+)+\Z")


@dataclass(frozen=True, slots=True)
class ContractReference:
    """A subject and, perhaps, a selector of one version of it."""

    system: str
    dialect: str
    selector: str | None

    @property
    def subject(self) -> str:
        return f"{self.system}/{self.dialect}"

    def __str__(self) -> str:
        return self.subject if self.selector is None else f"{self.subject}@{self.selector}"


@lru_cache(maxsize=1_024)
def parse_reference(text: str) -> ContractReference:
    """Return what a reference names.

    Raises UsageError if the text has not the form SYSTEM/DIALECT[@SELECTOR].
    """
    match = _REFERENCE.match(text)
    if not match:
        raise UsageError(f"`{text}` is not a reference to a contract", hint="Write SYSTEM/DIALECT or SYSTEM/DIALECT@N.")
    system, dialect, selector = match.groups()
    if selector and not (selector.isdigit() or selector == "latest" or is_release_or_date(selector)):
        raise UsageError(
            f"`@{selector}` selects no version",
            where=text,
            hint="Write a version number, a date YYYY-MM-DD, a release such as 3.3.0, or latest.",
        )
    return ContractReference(system, dialect, selector)


def is_release_or_date(selector: str) -> bool:
    """Return whether a selector has to be looked up in `applies`."""
    return bool(_RELEASE.match(selector) or (_DATE.match(selector) and _is_in_calendar(selector)))


def release_order(text: str) -> tuple[int, ...]:
    """Return a key that orders dates among dates and releases among releases: 3.3 is 3.3.0."""
    numbers = [int(part) for part in re.split(r"[.\-]", text)]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _is_in_calendar(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
