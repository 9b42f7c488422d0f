"""Errata: where a source document contradicts itself, and what the contracts do about it (`errata.yaml`)."""

from __future__ import annotations

import re
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.contract.document_model import Document

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Catalogue

FILE: Final = "errata.yaml"
ID: Final = re.compile("^E[1-9][0-9]*$")
_Text = Annotated[str, Field(min_length=1)]


class Erratum(Document):
    """One contradiction in a source document, with the decision on it and the reason."""

    id: Annotated[str, Field(pattern=ID.pattern)]
    """E and a number, by which contracts cite it."""
    document: _Text
    """The file of the source document."""
    says: _Text
    """What the document says."""
    shows: _Text
    """What contradicts it: a sample, another sentence, or messages seen in production."""
    decision: Literal["enforce", "tolerate", "repair", "reject", "note"]
    """What the contracts do: enforce by a rule, tolerate, repair the sample, reject, or note."""
    why: _Text
    """The reason for the decision."""


def read_errata(catalogue: Catalogue) -> dict[str, Erratum]:
    """Return the errata of all folders of a catalogue by id; a later folder wins.

    Raises ContractError if a file or an entry is wrong.
    """
    found: dict[str, Erratum] = {}
    for root in catalogue.roots:
        file = root.joinpath(FILE)
        if file.is_file():
            found |= {entry.id: entry for entry in read_errata_file(file)}
    return found


def read_errata_file(file: Traversable) -> list[Erratum]:
    """Return the errata of one file. Raises ContractError if the file or an entry is wrong."""
    entries = yaml_documents.read_list(file, "errata")["errata"]
    if not isinstance(entries, list):
        raise ContractError("not a YAML list", where=str(file))
    errata = [_erratum(entry, number, str(file)) for number, entry in enumerate(entries, 1)]
    ids = [entry.id for entry in errata]
    for one in ids:
        if ids.count(one) > 1:
            raise ContractError(f"{one} occurs twice", where=str(file))
    return errata


def _erratum(entry: Any, number: int, where: str) -> Erratum:
    try:
        return Erratum.checked(entry, where)
    except ContractError as error:
        named = entry.get("id") if isinstance(entry, dict) else None
        raise ContractError(f"{named or f'entry {number}'}: {error.what}", where=where) from error
