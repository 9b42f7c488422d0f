"""Written models: types shared by the models of JSON documents, and their annotations.

A member that is not in every document is UNSET where it is missing. The docstring below a field is what the published
schema says of it.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias, TypeVar

from msgspec import Meta, UnsetType

T = TypeVar("T")

SINCE: Final = "since"
"""Under this name a field says since which version of the document every document has it."""

Count = Annotated[int, Meta(ge=0)]
Weight = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
Sometimes: TypeAlias = T | UnsetType
"""A member that documents may lack."""
Since2: TypeAlias = Annotated[T | UnsetType, Meta(extra={SINCE: 2})]
"""A member that documents of version 1 lack."""
