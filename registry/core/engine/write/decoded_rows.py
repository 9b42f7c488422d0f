"""Decoded rows: the row changes of a batch. What only `changes/` needs is built on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.write.placed_images import PlacedImages
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, TYPED_FROM

_MAPS: Final = ("before", "after", "column_types")
TYPED_COLUMNS: Final = pa.schema([one for one in TYPED_FROM if one.name not in _MAPS])
"""What typed rows are made of besides maps."""
_REST: Final = pa.schema([one for one in CHANGES_SCHEMA if one.name not in (*TYPED_COLUMNS.names, "before", "after")])


@dataclass(frozen=True, eq=False)
class DecodedImages:
    """The images of rows before they are maps; the types of their columns by group of rows, and the group of each."""

    before: PlacedImages
    after: PlacedImages
    types: Sequence[Mapping[str, str] | None]
    group_of: NDArray[np.int32]

    def side(self, name: str) -> PlacedImages:
        """Return the images `before` or `after`."""
        return self.before if name == "before" else self.after

    def select(self, rows: NDArray[np.int64] | slice) -> DecodedImages:
        """Return those of some of the rows."""
        return replace(
            self, before=self.before.select(rows), after=self.after.select(rows), group_of=self.group_of[rows]
        )

    def have_type(self, column: str) -> NDArray[np.bool_]:
        """Return the rows of which a column has a type."""
        typed = [types is not None and column in types for types in self.types]
        return np.array(typed, np.bool_)[self.group_of]

    @property
    def nbytes(self) -> int:
        """The bytes of the texts and of their places."""
        return int(self.before.texts.nbytes) + self.before.nbytes + self.after.nbytes

    def as_maps(self) -> dict[str, pa.Array]:
        """Return the images and the types as the columns of `changes/`."""
        groups, places = np.unique(self.group_of, return_inverse=True)
        found = pa.array([self.types[group] for group in groups.tolist()], CHANGES_SCHEMA.field("column_types").type)
        types = found.take(pa.array(places))
        return {"before": self.before.as_maps(), "after": self.after.as_maps(), "column_types": types}


@dataclass(frozen=True, eq=False)
class UntypedRows:
    """The input of typed rows: columns (`TYPED_COLUMNS`), and images."""

    columns: pa.RecordBatch
    images: DecodedImages
    of_one_table: bool = False
    """Whether it is known that all rows are of one table; where it is not, they may be as well."""

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    @property
    def nbytes(self) -> int:
        return int(self.columns.nbytes) + self.images.nbytes

    def as_batch(self) -> pa.RecordBatch:
        """Return the rows as those of `changes/` (`TYPED_FROM`)."""
        maps = self.images.as_maps()
        columns = [maps[one.name] if one.name in maps else self.columns.column(one.name) for one in TYPED_FROM]
        return pa.RecordBatch.from_arrays(columns, schema=TYPED_FROM)


@dataclass(frozen=True, eq=False)
class DecodedRows:
    """The row changes of a batch: the input of typed rows and of all columns of `changes/`.

    Nothing is `untyped` where rows of several subjects were put in order.
    """

    untyped: UntypedRows | None
    make: Callable[[], pa.RecordBatch]

    @cached_property
    def changes(self) -> pa.RecordBatch:
        """The rows as `changes/` has them (`CHANGES_SCHEMA`)."""
        return self.make()

    @property
    def source(self) -> pa.RecordBatch | UntypedRows:
        """The input of typed rows, in whichever form exists."""
        return self.changes if self.untyped is None else self.untyped

    @property
    def columns(self) -> pa.RecordBatch:
        """The columns, besides maps, that typed rows need, and perhaps others."""
        return self.changes if self.untyped is None else self.untyped.columns


def make_changes(untyped: UntypedRows, others: Callable[[pa.Schema], pa.RecordBatch]) -> pa.RecordBatch:
    """Return rows as `changes/` has them; `others` returns the columns that typed rows do not need."""
    rest = others(_REST)
    found = {
        **dict(zip(untyped.columns.schema.names, untyped.columns.columns, strict=True)),
        **dict(zip(rest.schema.names, rest.columns, strict=True)),
        "before": untyped.images.before.as_maps(),
        "after": untyped.images.after.as_maps(),
    }
    return pa.RecordBatch.from_arrays([found[one.name] for one in CHANGES_SCHEMA], schema=CHANGES_SCHEMA)
