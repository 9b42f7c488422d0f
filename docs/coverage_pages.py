"""Document coverage: the facts stated in a vendor's document, what captures each, and the messages that prove it.

The lists are `docs/coverage/NAME.yaml`; `coverage_page` writes one as a page of Markdown.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from catalogue_pages import table
from pydantic import Field, ValidationError, model_validator

from cdc_contracts.registry.authoring.explain.rulebook import find_rule
from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.document_errors import describe_misfit
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.document_model import Document
from cdc_contracts.registry.core.contract.errata import ID, read_errata
from cdc_contracts.registry.core.contract.source_documents import SourceDocument
from cdc_contracts.registry.core.message.transport import Transport
from cdc_contracts.registry.core.values import FORMS

_NOTE: Final = "<!-- Written by docs/write_catalogue.py from {file}; a test keeps it up to date. -->"
_KEPT: Final = re.compile(r'"\\u0000([0-9]+)"')  # marks the place of a decimal, to keep its digits
_FORM: Final = "form "
_TYPES: Final = "types/"


class FactExample(Document):
    """A message that proves a fact: a sample of the version, with members changed or removed."""

    sample: str
    """The name of the sample; `drift/NAME` for a drifting sample."""
    change: dict[str, Any] = Field(default_factory=dict)
    """New values by JSON Pointer of the member."""
    remove: tuple[str, ...] = ()
    """JSON Pointers of removed members."""
    then: tuple[FactExample, ...] = ()
    """The messages that follow in the same partition, if one message alone proves nothing."""

    def edit(self, value: bytes, wire: Transport) -> bytes:
        """Return a sample with the changes, keeping every digit; without changes the bytes are unchanged."""
        if not self.change and not self.remove:
            return value
        return wire.write(self._edit(wire.text_of(value)))

    def _edit(self, value: bytes) -> str:
        tokens: list[str] = []

        def keep(token: str) -> str:
            tokens.append(token)
            return f"\0{len(tokens) - 1}"

        message = json.loads(value, parse_float=keep)
        for pointer, new in self.change.items():
            place, last = _place(message, pointer)
            place[last] = new
        for pointer in self.remove:
            place, last = _place(message, pointer)
            del place[last]
        return _KEPT.sub(lambda kept: tokens[int(kept[1])], json.dumps(message, ensure_ascii=False))

    def __str__(self) -> str:
        edits = [f"{at} {json.dumps(new, ensure_ascii=False)}" for at, new in self.change.items()]
        edits += [f"without {at}" for at in self.remove]
        result = f"{self.sample} with {', '.join(edits)}" if edits else self.sample
        return ", then ".join([result, *map(str, self.then)])


class DocumentedFact(Document):
    """One fact stated in a document: captured and proven, or not captured for a reason."""

    id: Annotated[str, Field(pattern="^[A-Z]+(-[A-Z]+)*-[0-9]{3}$")]
    """The document's short name and a number."""
    section: Annotated[str, Field(min_length=1)]
    """The heading in the document."""
    fact: Annotated[str, Field(min_length=1)]
    """What the document says, paraphrased."""
    of: Annotated[tuple[str, ...], Field(min_length=1)]
    """References of the contracts that the fact concerns."""
    captured_by: tuple[str, ...] = ()
    """`contract#POINTER`, `schema#POINTER`, `types/NAME#POINTER`, `form NAME`, or the id of a rule or an erratum."""
    not_captured: Annotated[str, Field(min_length=1)] | None = None
    """Why nothing captures the fact."""
    conforms: FactExample | None = None
    """A message that agrees with the fact."""
    drifts: FactExample | None = None
    """A message that contradicts it."""
    gives: str | None = None
    """The rule that the contradicting message breaks."""
    no_drift: Annotated[str, Field(min_length=1)] | None = None
    """Why there is no message that contradicts the fact."""
    told_from: tuple[str, ...] = ()
    """References of other contracts that the fact tells these from, besides other versions of the subject.

    Each refuses the message that conforms, or else accepts the one that drifts.
    """

    @model_validator(mode="before")
    @classmethod
    def _sample_alone(cls, given: Any) -> Any:
        names = ("conforms", "drifts")
        return {k: {"sample": v} if k in names and isinstance(v, str) else v for k, v in dict(given).items()}

    @model_validator(mode="after")
    def _whole(self) -> DocumentedFact:
        if bool(self.captured_by) == bool(self.not_captured):
            raise ValueError(f"{self.id} needs either captured_by or not_captured")
        if (self.drifts is None) != (self.gives is None):
            raise ValueError(f"{self.id} needs both drifts and gives, or neither")
        if self.captured_by and (self.conforms is None or (self.drifts is None) == (self.no_drift is None)):
            raise ValueError(f"{self.id} needs conforms, and either drifts or no_drift")
        return self


class Coverage(Document):
    """The facts of one document."""

    document: str
    """The file name by which contracts and errata cite the document."""
    facts: tuple[DocumentedFact, ...]
    """The facts, in the order of the document."""


def read_coverage(file: Path) -> Coverage:
    """Return the list of one file. Raises ContractError if it is invalid."""
    try:
        return Coverage.model_validate(yaml_documents.parse_values(yaml_documents.read_text(file), str(file)))
    except ValidationError as error:
        raise ContractError(describe_misfit(error, Coverage), where=str(file)) from error


def find_target(catalogue: Catalogue, reference: str, target: str) -> Any:
    """Return the target of an entry of `captured_by`, for one of the contracts of the fact.

    Raises LookupError or UsageError if it does not exist.
    """
    name, pointed, pointer = target.partition("#")
    if target.startswith(_FORM):
        return FORMS[target.removeprefix(_FORM)]
    if ID.match(target):
        return _errata(catalogue)[target]
    if not pointed:
        return find_rule(target)
    version = catalogue.version(reference)
    if name.startswith(_TYPES):
        whole: Any = catalogue.resolved_mapping(name.removeprefix(_TYPES))
    else:
        whole = {"contract": version.resolved, "schema": version.schema}[name]
    place, last = _place({"": whole}, "/" + pointer)
    return place[last]


def coverage_page(name: str, coverage: Coverage, source: SourceDocument) -> str:
    """Return a list as a page: how much is captured, what is not and why, and each fact with its proof."""
    missing = [fact for fact in coverage.facts if fact.not_captured]
    proven = sum(fact.drifts is not None and not fact.not_captured for fact in coverage.facts)
    total = len(coverage.facts)
    lines = [f"# Coverage of {source.title}, {source.product}", "", _NOTE.format(file=f"docs/coverage/{name}.yaml"), ""]
    lines += [f"{total} facts, {total - len(missing)} captured, {len(missing)} not captured. Of those captured,"]
    lines += [f"{proven} have a message that conforms and one that does not; the others say why not.", ""]
    lines += [f"The document: {source.address}", ""] if source.address else []
    if missing:
        rows = [(fact.id, fact.section, fact.fact, fact.not_captured or "") for fact in missing]
        lines += ["## Not captured", "", *table(("Id", "Section", "Fact", "Why"), rows)]
    for section in dict.fromkeys(fact.section for fact in coverage.facts):
        facts = [fact for fact in coverage.facts if fact.section == section and not fact.not_captured]
        proofs = [
            (one.id, one.fact, ", ".join(one.of), ", ".join(f"`{target}`" for target in one.captured_by),
             _conforming(one), f"`{one.drifts}` gives {one.gives}" if one.drifts else one.no_drift or "")
            for one in facts
        ]  # fmt: skip
        head = ("Id", "Fact", "Contracts", "Captured by", "Conforms", "Does not")
        lines += [f"## {section}", "", *table(head, proofs)] if proofs else []
    return "\n".join(lines)


def _conforming(fact: DocumentedFact) -> str:
    return f"`{fact.conforms}`" + (f", told from {', '.join(fact.told_from)}" if fact.told_from else "")


@cache
def _errata(catalogue: Catalogue) -> dict[str, Any]:
    return dict(read_errata(catalogue))


def _place(value: Any, pointer: str) -> tuple[Any, Any]:
    """Return the container of a pointer's last part, and that part: a name, or an index into a list."""
    *way, last = split_pointer(pointer)
    for part in way:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value, int(last) if isinstance(value, list) else last
