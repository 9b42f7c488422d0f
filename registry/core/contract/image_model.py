"""Image model of a contract: where each op has its rows, how they are written, what joins split updates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Final, Literal

from pydantic import Field

from cdc_contracts.registry.core.contract.document_model import ROW_OPS, At, Document

HOW_WRITTEN: Final = ("container", "constants")
"""What images of all ops have in common: how they are written."""


class Side(Document):
    """Where the before or after image of an op is, and how it is completed."""

    renamed_keys: ClassVar[Mapping[str, str]] = {"over": "completed_from"}

    at: At
    """Where the row is, as a JSON Pointer; an empty text is the whole message."""
    completed_from: At | None = None
    """Where the row is that supplies the columns missing from this one; its key alone where rows may lack columns."""
    either: At | None = Field(default=None, alias="or")
    """Where the row is if it is not at `at`."""
    optional: bool = False
    """Whether the row may be missing."""
    or_key: bool = False
    """Whether the key columns of the Kafka key are the row where the message holds none."""
    not_columns: tuple[str, ...] = ()
    """Members of the image that are no columns."""


class Sides(Document):
    """The images of one op; a side that is not named holds no row."""

    before: Side | None = None
    """Where the row before the change is; without it there is none."""
    after: Side | None = None
    """Where the row after the change is; without it there is none."""

    @cached_property
    def completed(self) -> tuple[Side | None, Side | None]:
        """Both sides, each completed from the other where nothing completes it, to compare whole rows."""
        before, after = self.before, self.after
        if before is None or after is None:
            return before, after
        return _completed(before, after), _completed(after, before)


def _completed(side: Side, other: Side) -> Side:
    return (
        side
        if side.completed_from is not None or side.at == other.at
        else side.model_copy(update={"completed_from": other.at})
    )


class AbsentValues(Document):
    """Which values of columns stand for one that was not sent, so that the column is absent from the row."""

    texts: tuple[str, ...] = ()
    """Texts, or arrays and objects as JSON without blanks, that stand for a value which was not sent."""
    nulls: dict[str, tuple[At, ...]] = Field(default_factory=dict)
    """The images in which null means that a value was not sent, by the kind of source database; `values` says where
    the kind is."""

    def __hash__(self) -> int:
        return hash(self.texts)


class Images(Document):
    """How an image is written, and where each op has its rows."""

    container: Literal["object", "list-of-one", "list-of-rows", "positional", "json-text"]
    """How an image holds its rows."""
    constants: str | None = None
    """The member of an object in whose place NaN, Infinity and -Infinity may stand bare in an image that is a text;
    without it such a text is no JSON."""
    absent: AbsentValues | None = None
    """Which values stand for a value that was not sent; without it null is NULL, and every text a value."""
    insert: Sides | None = None
    """The images of an insert."""
    update: Sides | None = None
    """The images of an update in one message."""
    delete: Sides | None = None
    """The images of a delete."""
    snapshot: Sides | None = None
    """The images of a row of the full load."""
    upsert: Sides | None = None
    """The images of a row that may be new or changed."""
    update_before: Sides | None = Field(default=None, alias="update-before")
    """The images of the first of two messages of an update."""
    update_after: Sides | None = Field(default=None, alias="update-after")
    """The images of the second of two messages of an update."""

    @property
    def are_texts(self) -> bool:
        """Whether an image is a JSON text, which is opened before the message is read."""
        return self.container == "json-text"

    @property
    def hold_one_row(self) -> bool:
        """Whether an image is an object of columns; positional ones and texts become objects when they are read."""
        return self.container in ("object", "positional") or self.are_texts

    def of(self, op: str) -> Sides | None:
        """Return the images of a canonical op, or None if the op has none."""
        return self._by_op.get(op)

    @cached_property
    def read_keys(self) -> bool:
        """Whether the row of some op may be in the Kafka key alone."""
        sides = [side for sides in self._by_op.values() if sides for side in (sides.before, sides.after) if side]
        return any(side.or_key for side in sides)

    @cached_property
    def update_places(self) -> tuple[str, str] | None:
        """Where the images before and after an update are; None if an update does not have both."""
        sides = self.update
        return (
            None if sides is None or sides.before is None or sides.after is None else (sides.before.at, sides.after.at)
        )

    @cached_property
    def _by_op(self) -> dict[str, Sides | None]:
        return {op: getattr(self, op.replace("-", "_")) for op in ROW_OPS}

    @cached_property
    def _non_column_members(self) -> dict[str, frozenset[str]]:
        members: dict[str, frozenset[str]] = {}
        for op in ROW_OPS:
            sides = self.of(op)
            for side in (sides.before, sides.after) if sides else ():
                if side is not None and side.not_columns:
                    members[side.at] = members.get(side.at, frozenset()) | set(side.not_columns)
        return members

    def non_column_members(self, pointer: str) -> frozenset[str]:
        """Return the members of an image that its contract says are no columns."""
        return self._non_column_members.get(pointer, frozenset())

    @cached_property
    def members_beside_columns(self) -> frozenset[str]:
        """The members of any image that are no columns."""
        return frozenset().union(*self._non_column_members.values())

    def pointers(self) -> tuple[str, ...]:
        """Return every place where some op has an image, in order of first mention."""
        return self._pointers

    @cached_property
    def _pointers(self) -> tuple[str, ...]:
        places: dict[str, None] = {}
        for op in ROW_OPS:
            sides = self.of(op)
            for side in (sides.before, sides.after) if sides else ():
                for at in (side.at, side.completed_from, side.either) if side else ():
                    if at is not None:
                        places[at] = None
        return tuple(places)


class SplitUpdate(Document):
    """Updates that are sent as two messages, and how these are joined."""

    joined_if: Literal["both-images"]
    """What shows that both halves were sent as one message."""
    pair_by: tuple[str, ...]
    """The members that the two halves have in common, as JSON Pointers."""
