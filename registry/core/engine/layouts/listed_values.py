"""Listed values: the values of a discrete member that a contract asks for; all others are alike to every version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.contract.document_model import normalise_kind
from cdc_contracts.registry.core.contract.relations import is_number


class UnlistedText:
    """Stands in a shape for any kind of source that no contract lists, or any name of a table that none does."""

    def __repr__(self) -> str:
        return "UNLISTED"


UNLISTED: Final = UnlistedText()


@dataclass(frozen=True)
class ListedValues:
    """What is compared with a member: texts and numbers as they are, and kinds of sources, whose case does not count.

    Zero counts as listed: an integer has no sign of its own there, which a finding would show.
    """

    texts: frozenset[str] = frozenset()
    numbers: frozenset[Any] = frozenset()
    kinds: frozenset[str] = frozenset()

    def joined(self, other: ListedValues) -> ListedValues:
        """Return what either of the two lists."""
        return ListedValues(self.texts | other.texts, self.numbers | other.numbers, self.kinds | other.kinds)

    def hold(self, value: Any) -> bool:
        """Return whether some version may tell a value from those that nobody lists."""
        if type(value) is str:
            return value in self.texts or (bool(self.kinds) and normalise_kind(value) in self.kinds)
        return not is_number(value) or value == 0 or any(value == one for one in self.numbers)


def list_values(values: Iterable[Any]) -> ListedValues:
    """Return the texts and numbers among some values as listed."""
    listed = list(values)
    return ListedValues(
        frozenset(one for one in listed if isinstance(one, str)),
        frozenset(one for one in listed if is_number(one)),
    )


def list_kinds(kinds: Iterable[str]) -> ListedValues:
    """Return kinds of sources as listed."""
    return ListedValues(kinds=frozenset(map(normalise_kind, kinds)))
