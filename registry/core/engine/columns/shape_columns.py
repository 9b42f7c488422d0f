"""Shape columns: the decoder of each column, and the form by which each version of a subject reads its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.engine.columns.opened_columns import find_unsent, leave_out, open_columns
from cdc_contracts.registry.core.engine.columns.row_images import ColumnTable
from cdc_contracts.registry.core.engine.columns.value_columns import ValueColumns
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, Rows, column_of
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse, LayoutColumn, RowShape
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.unsent_values import StandIns, stand_ins_of
from cdc_contracts.registry.core.validate.drift_rule import reads_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.form_schemas import STRUCTURE

_KIND_DECODERS: Final = {"text": decoder_kinds.TEXT, "number": decoder_kinds.RAW, "boolean": decoder_kinds.BOOL}

_MOST_TABLES: Final = 4096
"""Names whose table contracts are remembered; beyond that, they are forgotten together."""
_MOST_TYPES: Final = 4096
"""Types whose columns are remembered; beyond that, they are forgotten together."""


class ShapeColumns:
    """Makes the columns of shapes within a validation context, from their types, table contracts or values."""

    def __init__(self, validation: ValidationContext, plan: LayoutPlan | None) -> None:
        self._validation, self._plan = validation, plan
        self._validators = validation.validators
        self._kind_uses: dict[ValueMapping, tuple[FormUse, ...]] = {}
        self._typed: dict[Any, tuple[str, tuple[FormUse | None, ...]]] = {}
        self._tables: dict[tuple[Any, ...], TableContract | None] = {}

    def make_columns(
        self, types: dict[str, str] | None, names: tuple[Any, ...], defaults: Mapping[str, str]
    ) -> list[LayoutColumn]:
        """Return the columns that a shape declares: by its types, else by the contract of the named table.

        `defaults` are the values that columns have in place of NULL.
        """
        if types is None:
            table = self._table_of(names)
            types = table.types if table is not None and self.untyped else {}
        return [self._typed_column(name, source_type, names, defaults.get(name)) for name, source_type in types.items()]

    def _typed_column(self, name: str, source_type: str, names: tuple[Any, ...], default: str | None) -> LayoutColumn:
        table = self._table_of(names)
        if table is None:
            key = source_type, names[-1] if self._plan is not None and self._plan.by_kind else None, default
            if key not in self._typed:
                if len(self._typed) >= _MOST_TYPES:
                    self._typed.clear()
                self._typed[key] = self._read_typed(source_type, names, None, default)
            return LayoutColumn(name, *self._typed[key])
        declared = table.types.get(name)
        decoder, uses = self._read_typed(source_type, names, declared, default)
        return LayoutColumn(name, decoder, uses, never_null=declared is not None and not table.may_be_null(name))

    def _read_typed(
        self, source_type: str, names: tuple[Any, ...], declared: str | None, default: str | None
    ) -> tuple[str, tuple[FormUse | None, ...]]:
        """Return the decoder of a column of a type, and how each version reads its values."""
        uses = tuple(self._use(validator, source_type, names, declared, default) for validator in self._validators)
        wanted = [decoder_kinds.decoder_of_form(use.form) for use in uses if use is not None]
        return decoder_kinds.join_decoders(wanted) if len(wanted) == len(uses) else decoder_kinds.WIDE, uses

    def make_column(self, shape: RowShape, name: str, value: Any) -> LayoutColumn:
        """Return a column that the shape's types do not list, by its first value."""
        kind = {"number": "number", "boolean": "boolean"}.get(kind_of(value), "text")
        names = shape.key[-len(self._plan.names_at) :] if self._plan and self._plan.names_at else ()
        source = names[-1] if self._plan and self._plan.by_kind else None
        mapping = self._validators[-1].forms.mapping_for(source if isinstance(source, str) else None)
        if mapping not in self._kind_uses:
            self._kind_uses[mapping] = tuple(self._kind_uses_of(mapping))
        uses = self._kind_uses[mapping]
        decoder = _KIND_DECODERS[kind] if kind_of(value) not in ("array", "object") else decoder_kinds.WIDE
        return LayoutColumn(name, decoder, uses, typed=False, by_kind=not shape.has_types, sure=value is not None)

    def _use(
        self, validator: ReferenceValidator, source_type: str, names: tuple[Any, ...], declared: str | None,
        default: str | None,
    ) -> FormUse | None:  # fmt: skip
        mapping = validator.forms.mapping_named(self._read_names(names, validator.meaning).mapping_name)
        name = mapping.form_of(source_type)
        if name is None:
            return None
        form = FORMS[name]
        bound = validator.forms.bound_of(form, declared, None if self.untyped else source_type)
        types = (source_type,) if declared is None else (source_type, declared)
        context = validator.forms.context_of(form, self._table_of(names), mapping, *types, default=default)
        return FormUse(form, context, validator.forms.lenient(form), bound, declared=declared is not None)

    def _kind_uses_of(self, mapping: ValueMapping) -> Iterator[FormUse]:
        """Yield how values without a type are read, by their JSON kinds."""
        validator = self._validators[-1]
        for name in dict.fromkeys(map(mapping.form_of_kind, (*_KIND_DECODERS, *sorted(STRUCTURE)))):
            if name is not None:
                form = FORMS[name]
                yield FormUse(form, validator.forms.context_of(form, None, mapping), lenient=False)

    def is_listed(self, names: tuple[Any, ...]) -> bool:
        """Return whether a table contract lists the table of a message with some names."""
        return self._table_of(names) is not None

    def _table_of(self, names: tuple[Any, ...]) -> TableContract | None:
        if not self._validation.reading_options.tables:
            return None
        if names not in self._tables:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            result = self._read_names(names).names
            tables = self._validation.reading_options.tables
            self._tables[names] = tables.of(result.database, result.schema, result.table)
        return self._tables[names]

    def _read_names(self, names: tuple[Any, ...], meaning: Meaning | None = None) -> Reading:
        """Return a reading that has only what a shape depends on."""
        message: dict[str, Any] = {}
        for pointer, name in zip(self._plan.names_at if self._plan else (), names, strict=True):
            if name is None or isinstance(name, str):
                place = message
                *above, last = split_pointer(pointer)
                for part in above:
                    place = place.setdefault(part, {})
                place[last] = name
        return Reading(meaning or self._validators[-1].meaning, message, self._validation.reading_options)

    @cached_property
    def untyped(self) -> bool:
        """Whether messages lack the types of their columns."""
        return self._validators[-1].meaning.columns.types == "none"

    @cached_property
    def compares_wire_text(self) -> bool:
        """Whether a rule compares values by their texts on the wire."""
        return any(reads_of(validator.meaning).joined for validator in self._validators)


def pool_columns(
    decoded_batches: Sequence[DecodedBatch], value_columns: ValueColumns, plan: LayoutPlan
) -> list[ColumnTable]:
    """Add the values of every column of some batches to the value columns, and return the columns of each by table."""
    tables: list[ColumnTable] = [{} for _ in decoded_batches]
    found = [
        (table, rows.image, index, column, values, _stand_ins_of(decoded_batch, rows, plan))
        for decoded_batch, table in zip(decoded_batches, tables, strict=True)
        for rows in decoded_batch.rows.values()
        for index, column, values in column_of(rows)
    ]
    opened = open_columns([(values, column, image.full) for _, image, _, column, values, _ in found])
    unsent = find_unsent([(values, stand_ins) for *_, values, stand_ins in found])
    for (table, image, index, column, *_), one, stand_ins in zip(found, opened, unsent, strict=True):
        kept = one if stand_ins is None else leave_out(one, stand_ins)
        value_columns.add(kept, column.own_uses)
        table[image.pointer, index] = kept
    return tables


def _stand_ins_of(decoded_batch: DecodedBatch, rows: Rows, plan: LayoutPlan) -> StandIns | None:
    """Return what stands for values of an image that were not sent."""
    kind = decoded_batch.shape.key[-1] if plan.by_kind else None
    source = kind if isinstance(kind, str) else None
    return None if plan.absent is None else stand_ins_of(plan.absent, source, rows.image.pointer)
