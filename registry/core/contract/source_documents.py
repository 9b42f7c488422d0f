"""Source documents that contracts are captured from (`documents.yaml`): their titles and addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Final

from pydantic import Field

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.contract.document_model import Document

FILE: Final = "documents.yaml"


class SourceDocument(Document):
    """A vendor's document: its title, its public address, and the text that was read."""

    title: Annotated[str, Field(min_length=1)]
    """The title, as the document gives it."""
    vendor: Annotated[str, Field(min_length=1)]
    """Who publishes it."""
    product: Annotated[str, Field(min_length=1)]
    """The product that it documents."""
    number: str | None = None
    """The vendor's own number or name for it."""
    address: Annotated[str, Field(pattern="^https?://[^ ]+$")] | None = None
    """Its public address."""
    edition: str | None = None
    """Which edition was read: its date, release or revision."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """The SHA-256 of the text that was read."""
    note: str | None = None
    """How the page at the address differs from what was read."""
    errata: tuple[str, ...] = ()
    """The ids of errata about the document as such."""


class DocumentsFile(Document):
    """The source documents of a folder of contracts."""

    documents: dict[str, SourceDocument]
    """The documents, by the name of the file under which contracts and errata cite them."""


def read_source_documents(roots: Iterable[Traversable]) -> dict[str, SourceDocument]:
    """Return the documents of all folders of a catalogue by file name; a later folder wins.

    Raises ContractError if a file is not as it should be.
    """
    found: dict[str, SourceDocument] = {}
    for root in roots:
        file = root.joinpath(FILE)
        if file.is_file():
            found |= read_documents_file(file).documents
    return found


def read_documents_file(file: Traversable) -> DocumentsFile:
    """Return the documents in one file. Raises ContractError if it is invalid."""
    return DocumentsFile.checked(yaml_documents.without_nulls(yaml_documents.read_document(file)), str(file))


def describe_source(
    provenance: Mapping[str, Any], known: Mapping[str, SourceDocument], kinds: Iterable[str] = ()
) -> str | None:
    """Return the source of facts: title, product, section and address, as far as they are known.

    Of messages from some `kinds` of source database it is the document of each.
    """
    general, by_kind = provenance.get("document"), provenance.get("by_kind", {})
    names = tuple(dict.fromkeys(by_kind.get(kind, general) for kind in sorted(kinds))) or (general,)
    described = (", ".join(_parts({**provenance, "document": name}, known)) for name in names)
    return "; ".join(filter(None, described)) or None


def _parts(provenance: Mapping[str, Any], known: Mapping[str, SourceDocument]) -> Iterator[str]:
    name, section = provenance.get("document"), provenance.get("section")
    document = known.get(str(name))
    if document is not None:
        yield f"{document.title} ({document.product})"
    elif name:
        yield str(name)
    if section:
        yield str(section)
    if document is not None and document.address:
        yield document.address
