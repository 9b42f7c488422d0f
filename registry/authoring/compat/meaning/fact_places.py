"""Fact places: where a fact of a contract is stated: file, line and column, also where it is inherited."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import yaml

from cdc_contracts.registry.authoring.compat.compatibility_verdict import TextPlace
from cdc_contracts.registry.authoring.compat.meaning.mapping_differences import ANY
from cdc_contracts.registry.authoring.compat.text_places import find_lines
from cdc_contracts.registry.core.common.pointers import ABSENT, find_in_document, join_pointer

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from cdc_contracts.registry.authoring.compat.meaning.contract_section import Key
    from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
    from cdc_contracts.registry.core.contract.value_mappings import ValueMapping

_CONTRACT: Final = "contract.yaml"
_LISTS: Final = frozenset({
    "rules", "notes", "parameters", "undocumented", "tolerated_ops", "discriminators", "version_evidence",
    "not_separable_from", "control_of",
})  # fmt: skip
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def place_of_key(version: Version, key: Key) -> TextPlace | None:
    """Return where a version states a fact: in its own contract, else in the nearest that it is based on.

    What a version takes away stands where it does so. What none of them says stands where it would: at the deepest
    key on the way there.
    """
    steps, item = (key[:1], key[1:2]) if key[:1] and key[0] in _LISTS else (key, ())
    while steps:
        for one in lineage_of(version):
            found = _find(one.folder.joinpath(_CONTRACT), steps, item[0] if item else None)
            if found is not None:
                return found
        steps = steps[:-1]
    return TextPlace("", str(version.folder.joinpath(_CONTRACT)), 1, 1)


def place_of_type(catalogue: Catalogue, mapping: ValueMapping, name: str) -> TextPlace | None:
    """Return where a mapping, or one that it is based on, gives a source type its form."""
    document = mapping.document
    name = document.aliases.get(name, name)
    form = next((form for form, types in document.forms.items() if name in types), None)
    if form is not None:
        wanted: tuple[tuple[Key, str | None], ...] = ((("forms", form), name), (("forms",), None))
    elif name == ANY or document.default is not None:
        wanted = ((("default",), None), (("forms",), None))
    elif " without a type" in name:
        wanted = ((("untyped", name.partition(" ")[0]), None), (("untyped",), None))
    elif name.endswith(" that does not exist"):
        own = mapping.form_of(name.removesuffix(" that does not exist")) or ""
        wanted = ((("invalid", own), None), (("invalid",), None))
    else:
        wanted = (((name,), None), (("forms",), None))
    for steps, item in wanted:
        for file in _files_of(catalogue, document.mapping):
            found = _find(file, steps, item)
            if found is not None:
                return found
    return None


def lineage_of(version: Version) -> Iterator[Version]:
    """Yield a version and all that it is based on, nearest first."""
    yield version
    if version.base is not None:
        yield from lineage_of(version.base)


def _files_of(catalogue: Catalogue, name: str) -> Iterator[Traversable]:
    """Yield the file of a mapping and of all that it is based on, nearest first."""
    step: str | None = name
    while step is not None:
        file = catalogue.mapping_file(step)
        yield file
        step = _read(file.read_text(encoding="utf-8")).get("based_on")


def _find(file: Traversable, steps: Key, item: str | None) -> TextPlace | None:
    """Return where a file itself has a member, or the item of the list that it holds; None if it has not."""
    text = file.read_text(encoding="utf-8")
    held = find_in_document(_read(text), steps)
    if held is ABSENT:
        return None
    pointer = join_pointer(*steps)
    if isinstance(held, list) and item in held:
        pointer = f"{pointer}/{held.index(item)}"
    return find_lines(str(file), text, [TextPlace(pointer, str(file))])[0]


@lru_cache(256)
def _read(text: str) -> Any:
    """Return a document whose scalars are all texts, as they are written."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506  it makes nothing but texts, lists and dictionaries
