"""Option explanations: what options of a producer change in messages, and what a value looks like under each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version

_NULLS: Final = {"null": "`null`", "default": "the default of the column"}


@dataclass(frozen=True, slots=True)
class OptionLine:
    """How source types are written under some values of an option, which write them alike.

    `says` is the value form in words, `example` a usual value as JSON.
    """

    mapping: str
    option: str
    values: tuple[str, ...]
    types: tuple[str, ...]
    says: str
    example: str


def explain_options(version: Version) -> Iterator[OptionLine]:
    """Yield what each option changes, by value mapping; values of an option that write types alike are one line."""
    from cdc_contracts.registry.core.values import FORMS

    for name in version.mapping_names():
        mapping = version.catalogue.mapping(name).document
        for option, values in mapping.options.items():
            alike: dict[tuple[tuple[str, ...], str], list[str]] = {}
            for value, forms in values.items():
                for form, types in forms.items():
                    alike.setdefault((types, form), []).append(value)
            for (types, form), under in alike.items():
                yield OptionLine(name, option, tuple(under), types, FORMS[form].says, FORMS[form].example)
        for option, sent in mapping.null_sent_as.items():
            for value, written in sent.items():
                says = f"NULL in a column with a default is written as {_NULLS[written]}"
                yield OptionLine(name, option, (value,), ("any type",), says, "")
