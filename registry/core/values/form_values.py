"""Form values: the input and output of value forms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timezone
from enum import IntEnum
from typing import Final
from zoneinfo import ZoneInfo

LIMIT: Final = 4096
"""Characters a number may have in canonical text; a longer one is `Flag.TOO_LONG`."""


class Flag(IntEnum):
    """What became of one value."""

    OK = 0
    BROKEN = 1  # not of the form
    INVALID = 2  # of the form, but no such time exists: the text is kept as sent
    NOTED = 3  # accepted, with a detail that no document describes
    TOO_LONG = 4  # a number of more than LIMIT characters
    NO_INSTANT = 5  # a local time that clocks of its zone skip or show twice: the text is kept as sent
    NOT_WHOLE = 6  # read, but for a part that its type does not hold: the sign of a zero, the clock of a date
    NO_SCALE = 7  # of the form, but no type says where the point stands: the text is kept as sent
    SUBSTITUTE = 8  # read, but its producer writes it in place of another value as well


READ: Final = (Flag.OK, Flag.NOTED, Flag.NOT_WHOLE, Flag.SUBSTITUTE)
"""What became of values that were read."""
KEPT_AS_SENT: Final = (Flag.INVALID, Flag.NO_INSTANT, Flag.NO_SCALE)
"""What became of values whose text is kept as sent, and that are named as invalid."""

RECORDS: Final = (
    "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime", "TimestampWithTimeZone", "BinaryGeometry",
    "TextGeometry", "BinaryObject", "TextObject",
)  # fmt: skip
"""The records that hold the values of an Avro image; a value written as text has its record's name in front."""
FIRST_RECORD: Final = 32
"""Added to its place in RECORDS, the flag of a value whose record is none that the form takes."""

FIRST_MISFIT: Final = 64
"""Added to what keeps a value out of the type that its table contract declares, and to NOTED_MISFIT where noted."""
NOTED_MISFIT: Final = 8


class BrokenValue(Exception):
    """One value does not have the form (`flag` is BROKEN) or is too long to keep (TOO_LONG).

    From FIRST_RECORD on the flag says which record holds the value where the form takes another.
    """

    def __init__(self, flag: int = Flag.BROKEN) -> None:
        super().__init__(str(flag))
        self.flag = flag


@dataclass(frozen=True, slots=True)
class Value:
    """The canonical text of one value; `flag` is neither BROKEN nor TOO_LONG."""

    text: str
    flag: Flag = Flag.OK


@dataclass(frozen=True, slots=True)
class Context:
    """What a mapping and its parameters say about the reading of a form.

    `zone` is the parameter `timestamp_zone`. `keep_invalid` is the entry `keep-text` of the mapping, and
    `invalid_literals` its `{literal: …}`: texts, and tokens of numbers, that stand for what is no value of the form.
    `second_digits` is how many digits of a second an Avro record counts. `zeros_left_out` is whether the mapping has
    the form among those whose fraction of a second ends in no zero: a value that does end so is NOTED.

    `scale`, `length` and `members` are parameters of the type of the column, for the forms that need them
    (`ValueForm.type_parameters`): digits after the point, bits, and the members of an ENUM or SET.

    `substitutes` are texts and tokens that the producer writes in place of other values as well, each with what for.
    """

    zone: ZoneInfo | timezone | None = None
    keep_invalid: bool = False
    invalid_literals: tuple[str, ...] = ()
    second_digits: int = 9
    zeros_left_out: bool = False
    scale: int | None = None
    length: int | None = None
    members: tuple[str, ...] = ()
    substitutes: tuple[tuple[str, str], ...] = ()

    def keep(self, text: str) -> Value:
        """Keep the text of a time that does not exist.

        Raises BrokenValue: the mapping does not keep such texts.
        """
        if self.keep_invalid:
            return Value(text, Flag.INVALID)
        raise BrokenValue
