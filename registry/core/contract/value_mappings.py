"""Value mappings: the value form of each source type, from the resolved files of `types/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from cdc_contracts.registry.core.contract.column_model import MappingDocument, invalid_literals, keeps_invalid
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.source_types import parse_source_type

_PARAMETERS = re.compile(r"""\s*\((?:[^()'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*\)""")
"""Brackets of a type, and what stands in them; the members of an ENUM may hold brackets of their own."""
_PRECISE = re.compile(r"(.+)\(([0-9]+)\.\.([0-9]+)\)")
"""A type with a range of precisions, such as TIMESTAMP(4..6)."""
_UNSIGNED = re.compile(r"\s+(?:UNSIGNED|SIGNED|ZEROFILL)\b", re.IGNORECASE)


def drop_parameters(name: str) -> str:
    """Return a type name without parameters: `decimal(20,2)` becomes `decimal`."""
    return _PARAMETERS.sub("", name)


def without_precision(name: str) -> str:
    """Return a listed type without its range of precisions: `TIMESTAMP(4..6)` becomes `TIMESTAMP`."""
    return _PRECISE.sub(r"\1", name)


_NAME_STEPS: Mapping[str, Callable[[str], str]] = {
    "upper": str.upper,
    "drop-parameters": drop_parameters,
    "drop-unsigned": lambda name: _UNSIGNED.sub("", name),
    "underscore-to-space": lambda name: name.replace("_", " "),
    "code": lambda name: name,
}


SCALES: Final = tuple(map(str, range(10)))
"""How many digits an option may say that numbers have after the point."""
AS_SENT: Final = "as-sent"
"""The form of values that an option decides which no parameter states."""
DEFAULT: Final = "default"
"""What an option may say that NULL of a column with a default is sent as."""
UNTYPED: Final[Mapping[str, str]] = {"number": "json-number", "text": "text", "boolean": "bool-json"}
"""The form of a value without a type, by its JSON kind, where a mapping does not say."""


@dataclass(frozen=True, eq=False)
class ValueMapping:
    """The value form of every source type of one mapping."""

    document: MappingDocument
    stated: Mapping[str, str] = field(default_factory=dict)
    """The options that parameters state: a value, or several with commas between them, of which one holds."""
    unstated: ValueMapping | None = None
    """The same without what parameters state, if they state anything."""
    _by_type: dict[str, str] = field(default_factory=dict)
    _by_precision: dict[str, list[tuple[range, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for form, types in self.document.forms.items():
            for name in types:
                precise = _PRECISE.fullmatch(name)
                if precise is None:
                    self._by_type[name] = form
                else:
                    digits = range(int(precise[2]), int(precise[3]) + 1)
                    self._by_precision.setdefault(precise[1], []).append((digits, form))
        for types in self.open_types.values():
            self._by_type.update(dict.fromkeys((name for name in types if name not in self.self_evident), AS_SENT))

    @cached_property
    def open_types(self) -> Mapping[str, tuple[str, ...]]:
        """The source types whose form an option decides, by the option."""
        found: dict[str, dict[str, None]] = {}
        for option, values in self.document.options.items():
            for forms in values.values():
                for types in forms.values():
                    found.setdefault(option, {}).update(dict.fromkeys(map(without_precision, types)))
        return {option: tuple(types) for option, types in found.items()}

    @cached_property
    def self_evident(self) -> frozenset[str]:
        """The source types among these each value of which says itself which form it has: `forms` lists them too."""
        listed = {name for types in self.document.forms.values() for name in types}
        return frozenset(name for types in self.open_types.values() for name in types if name in listed)

    def tells_forms_apart(self, option: str, source_type: str) -> bool:
        """Return whether each value of a type has one form of an option by its JSON kind, which its listed form takes.

        Then the type may stand under `forms` too, as may one that only some values of the option write at all.
        """
        under = [
            form for value in self.document.options[option] if (form := self._form_under(option, value, source_type))
        ]
        listed, wires = self.form_of(source_type) or "", [FORMS[form].wire for form in under if form in FORMS]
        if {*under} == {listed} and len(under) < len(self.document.options[option]):
            return True
        disjoint = len(wires) > 1 and sum(map(len, wires)) == len(frozenset().union(*wires))
        return disjoint and listed in FORMS and FORMS[listed].wire == frozenset().union(*wires)

    @cached_property
    def forms(self) -> Mapping[str, tuple[str, ...]]:
        """Every form that a column may have, with the source types that surely have it, without their precisions.

        Of a type with several forms by its precision, the one of a type without any counts.
        """
        found: dict[str, tuple[str, ...]] = {
            form: tuple(name for name in types if _PRECISE.fullmatch(name) is None)
            for form, types in self.document.forms.items()
        }
        chosen = [form for values in self.document.options.values() for forms in values.values() for form in forms]
        arrays = [self.document.arrays] if self.document.arrays is not None else []
        untyped = [*self.document.untyped.values()] if self.document.options or arrays else []
        for form in (*chosen, *arrays, *untyped):
            found.setdefault(form, ())
        for name in (name for types in self.open_types.values() for name in types):
            listed = self._listed_form(name) or AS_SENT
            if name not in found.get(listed, ()):
                found[listed] = (*found.get(listed, ()), name)
        return found

    def given(self, parameters: Mapping[str, str]) -> ValueMapping:
        """Return the mapping with the options that parameters state; the same object for the same options."""
        document = self.document
        known = (*document.options, *document.null_sent_as, *document.scales.values())
        stated = tuple((name, parameters[name]) for name in dict.fromkeys(known) if name in parameters)
        return self._given(stated) if stated else self

    @cached_property
    def _given(self) -> Callable[[tuple[tuple[str, str], ...]], ValueMapping]:
        return lru_cache(256)(self._state)

    def _state(self, stated: tuple[tuple[str, str], ...]) -> ValueMapping:
        forms, left = dict(self.document.forms), dict(self.document.options)
        for option, value in stated:
            known = left.pop(option, {})
            chosen = {one: known[one] for one in split_values(value) if one in known}
            if len(chosen) > 1:
                left[option] = chosen
                continue
            decided = {name for under in chosen.values() for types in under.values() for name in types}
            apart = decided.union(*(types for forms_ in known.values() for types in forms_.values()))
            for form, types in forms.items():
                forms[form] = tuple(name for name in types if name not in apart)
            for form, types in (pair for under in chosen.values() for pair in under.items()):
                forms[form] = (*forms.get(form, ()), *types)
        document = self.document.model_copy(update={"forms": forms, "options": left})
        return ValueMapping(document, dict(stated), unstated=self.unstated or self)

    @property
    def name(self) -> str:
        return self.document.mapping

    def unknown_forms(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the names that are no value forms, each with its place in the document."""
        document = self.document
        named: list[tuple[tuple[str, ...], str]] = [(("forms", form), form) for form in document.forms]
        named += [
            (("options", option, value, form), form)
            for option, values in document.options.items()
            for value, forms in values.items()
            for form in forms
        ]
        named += [(("invalid", form), form) for form in document.invalid if form not in document.forms]
        named += [(("substitutes", form), form) for form in document.substitutes]
        named += [(("no_trailing_zeros", str(index)), form) for index, form in enumerate(document.no_trailing_zeros)]
        named += [(("untyped", kind), form) for kind, form in document.untyped.items()]
        named += [(("images", branch), form) for branch, form in document.images.items()]
        named += [(("default",), document.default)] if document.default is not None else []
        named += [(("arrays",), document.arrays)] if document.arrays is not None else []
        yield from ((parts, form) for parts, form in named if form not in FORMS)

    def normalise(self, source_type: str) -> str:
        """Return the type name as the mapping lists it: `bigint(20) unsigned` becomes `BIGINT`."""
        name = source_type
        for step in self.document.names:
            name = _NAME_STEPS[step](name)
        name = " ".join(name.split())
        return self.document.aliases.get(name, name)

    def form_of(self, source_type: str) -> str | None:
        """Return the name of the form of a source type, or None if the mapping does not know the type."""
        listed = self._listed_form(source_type)
        return self.document.default if listed is None else listed

    def lists(self, source_type: str) -> bool:
        """Return whether the mapping names a source type itself, rather than reading it by its default."""
        return self._listed_form(source_type) is not None

    def _listed_form(self, source_type: str) -> str | None:
        """Return the form that a source type is listed under.

        `TIMESTAMP(4..6)` is listed for the types with these precisions, `TIMESTAMP` for one that says none.
        """
        if self.document.arrays is not None and source_type.endswith("[]"):
            return self.document.arrays
        name = self.normalise(source_type)
        if name in self._by_precision:
            precision = (*parse_source_type(source_type).parameters, None)[0]
            for digits, form in self._by_precision[name]:
                if precision in digits:
                    return form
        listed = self._by_type.get(name)
        return self._form_under_all(name, source_type) or AS_SENT if listed == AS_SENT else listed

    def _form_under_all(self, name: str, source_type: str) -> str | None:
        """Return the form of a type under every value of the option that decides it; None if these are several."""
        forms = {
            self._form_under(option, value, source_type)
            for option, types in self.open_types.items()
            if name in types
            for value in self.document.options[option]
        }
        return forms.pop() if len(forms) == 1 else None

    def scale_of(self, source_type: str) -> int | None:
        """Return how many digits numbers of a type have after the point, as an option states; None if none does."""
        digits = self.stated.get(self.document.scales.get(self.normalise(source_type), ""))
        return int(digits) if digits in SCALES else None

    def options_of(self, source_type: str) -> Mapping[str, Mapping[str, str | None]]:
        """Return the form of a type under each value of an option that decides it, by the option.

        The form is None under a value that says nothing of the type. Nothing is decided where all values say the same.
        Of a type that itself says which form it has, there are only the values under which it is written.
        """
        name = self.normalise(source_type)
        itself = name in self.self_evident
        if self._listed_form(source_type) != AS_SENT and not itself:
            return {}
        return {
            option: {
                value: form
                for value in self.document.options[option]
                if (form := self._form_under(option, value, source_type)) is not None or not itself
            }
            for option, types in self.open_types.items()
            if name in types
        }

    @cached_property
    def may_send_default(self) -> bool:
        """Whether NULL of a column with a default may be sent as this default: unless a parameter rules it out.

        It is never where no option says so.
        """
        return bool(self.document.null_sent_as) and all(
            DEFAULT in (ways.get(value) for value in split_values(self.stated[option]))
            for option, ways in self.document.null_sent_as.items()
            if option in self.stated
        )

    def decides(self, option: str) -> bool:
        """Return whether every value of an option that is left writes some source type in one form."""
        open_types = self.open_types.get(option, ())
        return any(self._listed_form(name) != AS_SENT for name in open_types if name not in self.self_evident)

    def _form_under(self, option: str, value: str, source_type: str) -> str | None:
        form = self.given({option: value}).form_of(source_type)
        return None if form == AS_SENT else form

    def form_of_kind(self, kind: str) -> str | None:
        """Return the form of a value without a type, by its JSON kind; None for a structure that no form reads."""
        return self.document.untyped.get(kind, UNTYPED.get(kind))  # type: ignore[call-overload, no-any-return]

    def keeps_invalid(self, form: str) -> bool:
        """Return whether text of the form's shape that names no date or time is kept."""
        return keeps_invalid(self.document.invalid.get(form))

    def leaves_out_zeros(self, form: str) -> bool:
        """Return whether the fraction of a second in a value of the form has no zeros at its end."""
        return form in self.document.no_trailing_zeros

    def substitutes(self, form: str) -> tuple[tuple[str, str], ...]:
        """Return the values of the form that are written in place of others as well, each with what for."""
        return tuple(self.document.substitutes.get(form, {}).items())

    def invalid_literals(self, form: str) -> tuple[str, ...]:
        """Return the literals that stand for invalid values of the form."""
        return invalid_literals(self.document.invalid.get(form))


def split_values(stated: str) -> tuple[str, ...]:
    """Return the values of an option of which a parameter says that one holds."""
    return tuple(stated.split(","))


def known_options(mappings: Iterable[ValueMapping]) -> dict[str, frozenset[str]]:
    """Return the values of every option that some of the mappings know, by the name of the option."""
    found: dict[str, frozenset[str]] = {}
    for mapping in mappings:
        for option, values in mapping.document.options.items():
            found[option] = found.get(option, frozenset()).union(values)
        for option, ways in mapping.document.null_sent_as.items():
            found[option] = found.get(option, frozenset()).union(ways)
        for option in mapping.document.scales.values():
            found[option] = found.get(option, frozenset()).union(SCALES)
    return found
