"""Document model, the parts of every contract: documents, JSON Pointers, ops, sources, and validity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cdc_contracts.registry.core.common.document_errors import describe_misfit
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.pointers import split_pointer

ROW_OPS = ("insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after")
CONTROL_OPS = ("ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark")

DDL_OPS = ("ddl", "truncate")
"""Control ops of statements that change tables; a TRUNCATE is one."""

Op = Literal[
    "insert", "update", "delete", "snapshot", "upsert", "update-before", "update-after",
    "ddl", "truncate", "heartbeat", "begin", "commit", "rollback", "mark",
]  # fmt: skip

SOURCE_MODES = ("mysql", "oracle", "postgresql")
"""In which dialect of SQL a source database runs; the first where nothing says."""


def normalise_kind(text: str) -> str:
    """Return the kind of a source database as it compares: DB2 LUW is DB2_LUW (E18), ob_mysql is OB_MYSQL (E39)."""
    return text.upper().replace(" ", "_")


def _pointer(text: str) -> str:
    split_pointer(text)
    return text


At = Annotated[str, AfterValidator(_pointer), Field(json_schema_extra={"format": "json-pointer"})]


class Document(BaseModel):
    """A frozen part of a contract; keys outside the vocabulary are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
    renamed_keys: ClassVar[Mapping[str, str]] = {}  # the new names of former keys, for errors: none is still read

    @classmethod
    def checked(cls, document: Any, where: str) -> Self:
        """Return what plain data describes. Raises ContractError, with `where` it stands, if it is not of this kind."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise ContractError(describe_misfit(error, cls), where=where) from error


class Applies(Document):
    """For which releases or dates of the product this version holds; `since` is included, `until` is not."""

    since: str | None = None
    """The first release or date for which the version holds; without one it holds from the beginning."""
    until: str | None = None
    """The first release or date for which it no longer holds; without one it holds to this day."""
    counted_from: Literal["project-created", "product-version", "document-edition", "instance-created-or-restarted"]
    """What is counted to tell whether the version holds."""
    zone: str | None = None
    """The zone of dates without a time, such as +08:00."""


class Provenance(Document):
    """Where the facts come from, and which contradictions of the source were decided."""

    document: str
    """The file of the source document."""
    by_kind: dict[str, str] = Field(default_factory=dict)
    """The file of the document for messages from a kind of source database, where it is another one."""
    section: str | None = None
    """The heading of the section that the facts come from."""
    retrieved: str | None = None
    """When the document was read, as YYYY-MM-DD."""
    errata: tuple[str, ...] = ()
    """The ids of the decided contradictions, as they stand in errata.yaml."""
