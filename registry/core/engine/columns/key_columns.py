"""Key columns: what the keys of the records of a batch state, compared with the columns of their rows.

Keys of one table are written alike but for their values. So the keys that records should have are put together from the
columns of their rows, all at once, and compared as bytes; the keys that are others are read one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.engine.columns.key_spellings import KeySpelling, find_spelling
from cdc_contracts.registry.core.engine.columns.row_images import ColumnTable
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.parsed_columns import Coded, ParsedColumn
from cdc_contracts.registry.core.message.primary_keys import read_key_columns
from cdc_contracts.registry.core.validate.key_values import has_value
from cdc_contracts.registry.core.values import Number

Numbers = NDArray[np.int64]

_NO_KEY: Final = None
_UNREADABLE: Final = "unreadable"
_DIFFERS: Final = "key-differs"
_FEW: Final = 16
"""Up to this number keys are read one by one rather than compared at once."""
_MOST_SPELLINGS: Final = 8
"""Spellings tried on the records of one batch."""
_MOST_FAMILIES: Final = 2_000


@dataclass(eq=False)
class KeysOfBatch:
    """What the keys of a decoded batch state: by record the place of what they name, and the values that differ.

    `named` has the place of each: of the names of columns, or of why there are none.
    """

    codes: Numbers
    named: dict[Any, int] = field(default_factory=lambda: {_NO_KEY: 0})
    differing: dict[tuple[str, str], Mask] = field(default_factory=dict)

    def code_of(self, named: Any) -> int:
        """Return the place of what a key names among what all name."""
        return self.named.setdefault(named, len(self.named))

    def add_differing(self, pointer: str, name: str, positions: Numbers | int) -> None:
        """Note records whose key has another value than a column of an image."""
        self.differing.setdefault((pointer, name), np.zeros(len(self.codes), np.bool_))[positions] = True

    @property
    def coded(self) -> Coded:
        """What keys name as a part of grouping keys."""
        return self.codes, list(self.named)

    @property
    def flags(self) -> list[tuple[ValueFlag, Mask]]:
        """The records whose key has another value than a column of an image."""
        return [((_DIFFERS, *place), mask) for place, mask in self.differing.items()]


class KeyColumns:
    """Reads the keys of batches; keeps how they are written from batch to batch."""

    def __init__(self, op_at: str, meanings: Sequence[Meaning], mapping: ValueMapping) -> None:
        self._place = next(place for meaning in meanings if (place := meaning.envelope.key_place) is not None)
        self._op_at, self._mapping = op_at, mapping
        self._images = _ComparedImages.of(meanings, op_at)
        self._spellings: OrderedDict[int, list[KeySpelling]] = OrderedDict()

    def read(self, decoded_batch: DecodedBatch, columns: ColumnTable, keys: pa.BinaryArray) -> KeysOfBatch:
        """Return what the keys of the records of a decoded batch state; those that it cannot compare become unfit."""
        found = KeysOfBatch(np.zeros(len(decoded_batch), np.int64))
        stated = keys.is_valid().to_numpy(zero_copy_only=False)
        left = stated
        for pointer in self._images.pointers:
            rows = decoded_batch.rows.get(pointer)
            if rows is None or not rows.total:
                continue
            compared = stated & (rows.count > 0)
            compared &= self._images.belong(decoded_batch.members.get(self._op_at), pointer)
            several = compared if pointer in self._images.completed else compared & (rows.count > 1)
            decoded_batch.unfit.update(np.flatnonzero(several).tolist())
            self._compare(decoded_batch, pointer, columns, keys, np.flatnonzero(compared & ~several), found)
            left = left & ~compared
        for position in np.flatnonzero(left).tolist():
            self._read_one(keys, position, found)
        return found

    def _compare(
        self, decoded_batch: DecodedBatch, pointer: str, columns: ColumnTable, keys: pa.BinaryArray, left: Numbers,
        found: KeysOfBatch,
    ) -> None:  # fmt: skip
        """Compare the keys of records with the columns of their rows in an image: one row each."""
        rows = decoded_batch.rows[pointer]
        by_name = {column.name: columns[pointer, index] for index, column in enumerate(rows.image.columns)}
        known = self._spellings_of(decoded_batch.layout.family)
        for attempt in range(_MOST_SPELLINGS):
            if len(left) <= _FEW or (attempt == len(known) and not self._learn(known, left, keys)):
                break
            agree = known[attempt].agreeing(by_name, rows.start[left], _take(keys, left))
            found.codes[left[agree]] = found.code_of(self._columns_of(known[attempt]))
            left = left[~agree]
        for spelling in known if len(left) > _FEW and not self._place.json_texts else ():
            written, differing = spelling.differing(by_name, rows.start[left], _take(keys, left))
            for name, other in differing.items():
                found.add_differing(pointer, name, left[other])
            found.codes[left[written]] = found.code_of(self._columns_of(spelling))
            left = left[~written]
        if len(left) > _FEW and len(known) == _MOST_SPELLINGS:
            del known[0]  # others have come
        for position in left.tolist():
            key = self._read_one(keys, position, found) or {}
            for unlike in self._unlike_columns(key, by_name, int(rows.start[position])):
                if unlike is None:
                    decoded_batch.unfit.add(position)
                else:
                    found.add_differing(pointer, unlike, position)

    def _unlike_columns(
        self, key: Mapping[str, Any], columns: Mapping[str, ColumnValues], row: int
    ) -> Iterator[str | None]:
        """Yield the columns of a row that have another value than in a key, None for one whose value is not known."""
        for name, value in key.items():
            column = columns.get(name)
            if column is None or (column.present is not None and not column.present[row]):
                continue
            if any(row in odd for odd in column.odd_rows.values()):
                yield None
            elif not has_value(_opened(column.tokens[row]), value, name, self._place, self._mapping):
                yield name

    def _read_one(self, keys: pa.BinaryArray, position: int, found: KeysOfBatch) -> Mapping[str, Any] | None:
        key = read_key_columns(keys[position].as_py(), self._place)
        found.codes[position] = found.code_of(_UNREADABLE if key is None else tuple(key))
        return key

    def _columns_of(self, spelling: KeySpelling) -> tuple[str, ...]:
        """Return the columns that keys of a spelling name."""
        apart = spelling.json_texts.union(self._place.not_columns)
        named = (name for name in spelling.names if name not in apart)
        return (*named, *(column for _, column in self._place.json_texts))

    def _spellings_of(self, family: int) -> list[KeySpelling]:
        if family not in self._spellings:
            self._spellings[family] = []
            if len(self._spellings) > _MOST_FAMILIES:
                self._spellings.popitem(last=False)
        return self._spellings[family]

    def _learn(self, known: list[KeySpelling], left: Numbers, keys: pa.BinaryArray) -> bool:
        """Add how one of some keys is written to what is known, if it is not."""
        for place in (0, len(left) // 2, -1):
            spelling = find_spelling(keys[int(left[place])].as_py(), self._place)
            if spelling is not None and spelling not in known:
                known.append(spelling)
                return True
        return False


@dataclass(frozen=True)
class _ComparedImages:
    """The images that keys are compared with: that after a change, or that before it of ops which leave no row.

    `completed` are those that others complete. `by_code` has those of each op code, None where codes do not decide.
    """

    pointers: tuple[str, ...]
    completed: frozenset[str]
    by_code: Mapping[str, frozenset[str]] | None

    @classmethod
    def of(cls, meanings: Sequence[Meaning], op_at: str) -> _ComparedImages:
        """Return the compared images of the versions of a subject."""
        completed, by_op = set[str](), dict[str, dict[str, None]]()
        for meaning in meanings:
            for op in ROW_OPS:
                sides = meaning.images.of(op)
                side = None if sides is None else sides.after or sides.before
                if side is not None:
                    by_op.setdefault(op, {}).update(
                        dict.fromkeys(at for at in (side.at, side.either) if at is not None)
                    )
                    completed |= set() if side.completed_from is None else {side.at}
        codes: dict[str, set[str]] = {}
        for meaning in meanings:
            for code, op in meaning.ops.items():
                codes.setdefault(code, set()).update(by_op.get(op, ()))
        decide = all(
            meaning.envelope.op.at == op_at and all(flag.replaces_code_at(op_at) for flag in meaning.envelope.op.flags)
            for meaning in meanings
        )
        return cls(
            tuple(dict.fromkeys(at for images in by_op.values() for at in images)),
            frozenset(completed),
            {code: frozenset(images) for code, images in codes.items()} if decide else None,
        )

    def belong(self, codes: ParsedColumn | None, pointer: str) -> Mask | bool:
        """Return the records, by their op codes, whose key may be that of an image."""
        if codes is None or self.by_code is None:
            return True
        places, distinct = codes.distinct
        own = [pointer in self.by_code.get(code, self.pointers) if type(code) is str else True for code in distinct]
        return np.array(own, np.bool_)[places]


def _take(keys: pa.BinaryArray, positions: Numbers) -> pa.BinaryArray:
    return keys if len(positions) == len(keys) else keys.take(pa.array(positions))


def _opened(value: Any) -> Any:
    """Return a value as the strict parser makes it."""
    if type(value) is bytes:
        return Number(value.decode())
    return Number(str(value)) if type(value) is int else value
