"""Discriminator model: what distinguishes a subject from others by one message, and its versions by many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from cdc_contracts.registry.core.contract.document_model import At, Document, Op


class Test(Document):
    """One test on one message; `any` holds a list of tests of which one has to hold."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"unread": "trailing-bytes"}

    present: At | None = None
    """The member is there and not null."""
    absent: At | None = None
    """The member is not there."""
    unset: At | None = None
    """The member is not there, or is null."""
    alone: At | None = None
    """The member is there and not null, and no other is beside it."""
    equals: At | None = None
    """The member has the value `value`."""
    value: str | bool | int | None = None
    """The value that `equals` asks for."""
    within: At | None = Field(default=None, alias="in")
    """The member has one of `values`."""
    outside: At | None = Field(default=None, alias="not-in")
    """The member has none of `values`."""
    values: tuple[str, ...] | None = None
    """The values that `in` and `not-in` ask for."""
    prefix_of: At | None = Field(default=None, alias="prefix-of")
    """The member begins with the text at `at`, followed by `then`."""
    not_prefix_of: At | None = Field(default=None, alias="not-prefix-of")
    """The member does not begin with the text at `at`, followed by `then`."""
    at: At | None = None
    """The member whose text is the beginning, as a JSON Pointer."""
    then: str | None = None
    """What follows that text."""
    avro_decodes: str | None = Field(default=None, alias="avro-decodes")
    """The Avro reader schema that the record can be read with."""
    trailing_bytes: int | None = Field(default=None, alias="trailing-bytes")
    """How many bytes may follow the record."""
    any: tuple[Test, ...] | None = None
    """Tests of which one has to hold."""

    @model_validator(mode="after")
    def _is_one_test(self) -> Test:
        heads = (self.present, self.absent, self.unset, self.alone, self.equals, self.within, self.outside,
                 self.prefix_of, self.not_prefix_of, self.avro_decodes, self.any)  # fmt: skip
        if sum(head is not None for head in heads) != 1:
            raise ValueError(
                "a test must have exactly one of present, absent, unset, alone, equals, in, not-in, "
                "prefix-of, not-prefix-of, avro-decodes, any"
            )
        if self.any and any(test.any for test in self.any):
            raise ValueError("`any` must not contain another `any`")
        return self


class Evidence(Document):
    """What distinguishes the versions of a subject over many messages."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"unread-bytes": "trailing-bytes"}

    value_form: str | None = Field(default=None, alias="value-form")
    """The type whose values are examined."""
    is_form: str | None = Field(default=None, alias="is")
    """The value form that its values have."""
    image_of: Op | None = Field(default=None, alias="image-of")
    """The op whose rows are examined."""
    at: At | None = None
    """Where these rows are, as a JSON Pointer."""
    key_chain: bool | None = Field(default=None, alias="key-chain")
    """Whether each before image equals the row that the previous change of its key left."""
    process_time_before: str | None = Field(default=None, alias="process-time-before")
    """The time before which messages were written."""
    key_seen: At | None = Field(default=None, alias="key-seen")
    """A member that some message has, as a JSON Pointer."""
    ddl_seen: bool | None = Field(default=None, alias="ddl-seen")
    """Whether a message carries a DDL statement."""
    op_seen: tuple[str, ...] | None = Field(default=None, alias="op-seen")
    """Op codes, one of which occurs in some message."""
    trailing_bytes: int | None = Field(default=None, alias="trailing-bytes")
    """How many bytes follow each record."""
    column_form: bool | None = Field(default=None, alias="column-form")
    """Whether the values of columns have the forms that this version writes."""
    code_seen: int | None = Field(default=None, alias="code-seen")
    """A code of a type that some message has."""
    proves: Literal["subject", "version"] | None = None
    """What is certain once this was observed."""
    disproves: Literal["subject", "version"] | None = None
    """What is ruled out once this was observed."""
