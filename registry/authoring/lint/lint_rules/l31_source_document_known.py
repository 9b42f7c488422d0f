from collections.abc import Iterator, Mapping
from typing import Any

from cdc_contracts.registry.authoring.lint.lint_documents import find_unreadable
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract import source_documents
from cdc_contracts.registry.core.contract.catalogue import CANONICAL


@lint_rule(
    ERROR,
    says="Checks that documents.yaml, if present, has a complete entry for the source document of every contract.",
    why="To verify a contract, a reader must be able to find the vendor's page: its title, address and edition, and "
    "the SHA-256 of the text that was read.",
    good="{title: Data formats, vendor: …, product: …, sha256: …}",
    bad="a contract of page-2.txt, which is not listed",
    ignorable=False,
)
def source_documents_are_known(run: LintRun) -> Faults:
    for file in run.documents_files:
        if any(True for _ in find_unreadable(file)):
            continue
        try:
            listed = source_documents.read_documents_file(file).documents
        except ContractError as error:
            yield LintFault(file, "documents with title, vendor, product and sha256", error.what)
            continue
        for name, one in listed.items():
            for index, cited in enumerate(one.errata):
                if cited not in run.errata:
                    parts = ("documents", name, "errata", str(index))
                    yield LintFault(file, "an entry of errata.yaml", cited, parts)
        root = str(file).removesuffix(source_documents.FILE)
        for version in run.versions:
            provenance = run.own.get(version.reference, {}).get("provenance")
            for place, source in _cited(provenance) if isinstance(provenance, dict) else ():
                shipped = version.subject != CANONICAL and str(version.folder).startswith(root)
                if shipped and source not in listed:
                    where = version.folder.joinpath("contract.yaml")
                    yield LintFault(
                        where, f"a document of {source_documents.FILE}", str(source), ("provenance", *place)
                    )


def _cited(provenance: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the documents that a contract cites, each with its place."""
    if provenance.get("document"):
        yield ("document",), provenance["document"]
    by_kind = provenance.get("by_kind")
    for kind, source in by_kind.items() if isinstance(by_kind, dict) else ():
        yield ("by_kind", str(kind)), source
