"""Unlisted values: those of discrete members that nobody asks for, as the part of a grouping key that they share.

A verdict may depend on such a value only by what is shown of it, its shape. So messages with a code each that no
contract has are of one group, where the codes are of one shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.known_codes import is_known
from cdc_contracts.registry.core.engine.layouts.listed_values import ListedValues, list_values
from cdc_contracts.registry.core.values import Number, describe_shape

_NUMBERS: Final = frozenset({int, float, Number})


class MemberKinds:
    """Tells the values of discrete members apart, as far as a verdict may depend on them.

    `listed` has the members of which only listed values differ, `asked` the texts that other subjects ask for.
    """

    def __init__(
        self, listed: Mapping[str, ListedValues], asked: Mapping[str, frozenset[str]], catalogue: Catalogue
    ) -> None:
        self._listed = {at: one.joined(list_values(asked.get(at, ()))) for at, one in listed.items()}
        self._catalogue = catalogue

    def key_of(self, pointer: str, value: Any) -> Any:
        """Return the part of a value in a grouping key."""
        listed = self._listed.get(pointer)
        kind = type(value)
        if listed is None or not (kind is str or _is_whole(value)) or listed.hold(value):
            return key_of_value(value)
        if kind is str and is_known(value, self._catalogue):
            return value
        return ("unlisted", kind, describe_shape(value))


def key_of_value(value: Any) -> Any:
    """Return a value as a key of its own: 1 is True to a dictionary, but not to a contract."""
    return (type(value), str(value)) if type(value) in _NUMBERS else value


def _is_whole(value: Any) -> bool:
    """Return whether a value is a number of digits alone: what is shown of others may not follow from their token."""
    return type(value) in _NUMBERS and str(value).lstrip("-").isdigit()
