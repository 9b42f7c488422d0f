"""Errata: where a source document contradicts itself, and what the contracts do about it (`errata.yaml`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Catalogue

FILE: Final = "errata.yaml"
DECISIONS: Final = ("enforce", "tolerate", "repair", "reject", "note")
ID: Final = re.compile(r"E[1-9][0-9]*\Z")


@dataclass(frozen=True, slots=True)
class Erratum:
    """One contradiction in a source document, with the decision on it and the reason."""

    id: str
    """E and a number, by which contracts cite it."""
    document: str
    """The file of the source document."""
    says: str
    """What the document says."""
    shows: str
    """What contradicts it: a sample, another sentence, or messages seen in production."""
    decision: str
    """What the contracts do: enforce by a rule, tolerate, repair the sample, reject, or note."""
    why: str
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
    where = str(file)
    entries = yaml_documents.read_list(file, "errata")["errata"]
    if not isinstance(entries, list):
        raise ContractError("not a YAML list", where=where)
    errata = [_erratum(entry, index, where) for index, entry in enumerate(entries)]
    ids = [entry.id for entry in errata]
    for one in ids:
        if ids.count(one) > 1:
            raise ContractError(f"{one} occurs twice", where=where)
    return errata


def _erratum(entry: Any, index: int, where: str) -> Erratum:
    names = [field.name for field in fields(Erratum)]
    if not isinstance(entry, dict) or sorted(entry) != sorted(names):
        named = entry.get("id", f"entry {index + 1}") if isinstance(entry, dict) else f"entry {index + 1}"
        raise ContractError(f"{named} needs exactly {', '.join(names)}", where=where)
    erratum = Erratum(**{name: str(entry[name]) for name in names})
    if not ID.match(erratum.id):
        raise ContractError(f"`{erratum.id}` is not an erratum id", where=where, hint="Write E and a number.")
    if erratum.decision not in DECISIONS:
        what = f"{erratum.id}: `{erratum.decision}` is no decision"
        raise ContractError(what, where=where, hint=f"Use one of {', '.join(DECISIONS)}.")
    for name in names:
        if entry[name] in (None, ""):
            raise ContractError(f"{erratum.id}: {name} is empty", where=where)
    return erratum
