"""Form selection for the columns of a message under one version: source types, and the form of each value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.time_zones import Zone
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck
from cdc_contracts.registry.core.values import FORMS, WIRES, Context, ValueForm
from cdc_contracts.registry.core.values.source_types import parameters_of
from cdc_contracts.registry.core.values.type_bounds import TypeBound, bound_of

NULL_AS_DEFAULT: Final = "NULL"
"""What a value that equals the default of its column may stand for."""


@dataclass(frozen=True)
class TypedColumns:
    """The columns of one message: their source types, the origin of these, and how their values are read.

    `table` knows the zone of zone-less timestamps. `defaults` are the values that columns have in place of NULL, as the
    message says them; `sampled` the options of its producer that a sample decided.
    """

    types: dict[str, str] | None
    origin: str
    table: TableContract | None
    mapping: ValueMapping
    defaults: Mapping[str, str] = field(default_factory=dict)
    sampled: frozenset[str] = frozenset()

    @property
    def defaulted(self) -> Collection[str]:
        """The columns in which the producer may send a default in place of NULL, by the message or a table contract."""
        if self.origin == "message" or self.table is None:
            return self.defaults
        return self.table.defaulted

    def default_of(self, name: str) -> str | None:
        """Return the value that the producer may send in place of NULL in a column, as it is sent; None if none."""
        return self.defaults.get(name) if self.mapping.may_send_default else None

    def sent_type(self, name: str) -> str | None:
        """Return the type that the message itself names for a column."""
        return self.types.get(name) if self.types is not None and self.origin == "message" else None

    def types_of(self, name: str) -> tuple[str, ...]:
        """Return the types of a column, that of the message before that of its table contract; none if untyped."""
        if self.types is None or name not in self.types:
            return ()
        declared = self.table.types.get(name) if self.table is not None else None
        return (self.types[name],) if declared is None else (self.types[name], declared)


class FormSelection:
    """How one version reads the values of columns, under the reading options of a run."""

    def __init__(self, version: Version, reading_options: ReadingOptions) -> None:
        self._version, self._options = version, reading_options

    # Most validators only say whether a message is theirs, and never come to its values.
    @cached_property
    def _form_of_type(self) -> Callable[[ValueMapping, str], str | None]:
        return lru_cache(4096)(ValueMapping.form_of)

    @cached_property
    def _context(self) -> Callable[[ValueForm, Zone | None, ValueMapping], Context]:
        return lru_cache(1024)(self._build_context)

    @cached_property
    def _context_by_type(self) -> Callable[[ValueForm, Zone | None, ValueMapping, tuple[str, ...]], Context]:
        return lru_cache(4096)(self._build_context_by_type)

    @cached_property
    def _schema(self) -> Callable[[ValueForm, Zone | None, ValueMapping], SchemaCheck]:
        return lru_cache(1024)(self._build_schema)

    @cached_property
    def mapping(self) -> ValueMapping:
        """The value mapping of messages that do not state the kind of their source."""
        return self.mapping_for(None)

    def mapping_for(self, kind: str | None) -> ValueMapping:
        """Return the value mapping of messages from a kind of source database."""
        return self.mapping_named(
            self._version.meaning.values.mapping_for(kind, self._options.parameters.get("source_mode"))
        )

    def mapping_named(self, name: str) -> ValueMapping:
        """Return the value mapping of a name, with the options that parameters of the run state."""
        return self._version.catalogue.mapping(name).given(self._options.parameters)

    def columns_of(self, reading: Reading) -> TypedColumns:
        """Return the source types of a message's columns: from the message, otherwise from its table contract."""
        names = reading.names
        table = self._options.tables.of(names.database, names.schema, names.table)
        mapping = self.mapping_named(reading.mapping_name)
        if not isinstance(self._version.meaning.columns.types, str):  # none
            return TypedColumns(reading.types, "message", table, mapping, reading.defaults)
        if table is None:
            return TypedColumns(None, "none", None, mapping)
        return TypedColumns(table.types, "table", table, mapping, sampled=self._options.sampled)

    def form_of(self, columns: TypedColumns, name: str, value: Any) -> ValueForm | None:
        """Return the form that a column's value has to have; None if its source type is not in the mapping.

        A column without a type is read by the JSON kind of the value.
        """
        source_type = columns.types.get(name) if columns.types is not None else None
        if source_type is None:
            of_kind = columns.mapping.form_of_kind(WIRES.get(kind_of(value), "text"))
            return None if of_kind is None else FORMS[of_kind]
        form = self._form_of_type(columns.mapping, source_type)
        return None if form is None else FORMS[form]

    def context_of(
        self, form: ValueForm, table: TableContract | None, mapping: ValueMapping | None = None, *types: str,
        default: str | None = None,
    ) -> Context:  # fmt: skip
        """Return the context of a form; a table's zone overrides the parameter.

        A form that reads by parameters of the column's type has each from the first of `types` that says it; a scale
        that none of them says, from an option. `default` is the value that the column has in place of NULL.
        """
        zone, mapping = self._options.timestamp_zone(table), mapping or self.mapping
        if types and form.type_parameters:
            context = self._context_by_type(form, zone, mapping, types)
        else:
            context = self._context(form, zone, mapping)
        return context if default is None or not mapping.may_send_default else _with_default(context, default)

    def context_of_column(self, form: ValueForm, columns: TypedColumns, name: str) -> Context:
        """Return the context of a form in a column of a message."""
        types = columns.types_of(name)
        return self.context_of(form, columns.table, columns.mapping, *types, default=columns.defaults.get(name))

    def schema_of(self, form: ValueForm, table: TableContract | None, mapping: ValueMapping) -> SchemaCheck:
        """Return the validator of the schema of a form in the same context."""
        return self._schema(form, self._options.timestamp_zone(table), mapping)

    def bound_of(self, form: ValueForm, declared: str | None, sent: str | None) -> TypeBound | None:
        """Return the bound of a column's values: by the type in its table contract, otherwise by that in the message.

        No document says that messages tell whether an integer of the source database is unsigned.
        """
        if declared is not None:
            return bound_of(declared, form.kind)
        types = self._version.meaning.columns.types
        tells_sign = types != "none" and types.names_encodings
        return None if sent is None else bound_of(sent, form.kind, tells_sign=tells_sign)

    def form_of_type(self, mapping: ValueMapping, source_type: str) -> str | None:
        """Return the name of the form of a source type, None if it is not in the mapping."""
        return self._form_of_type(mapping, source_type)

    def _build_context(self, form: ValueForm, zone: Zone | None, mapping: ValueMapping) -> Context:
        keep, literals = mapping.keeps_invalid(form.name), mapping.invalid_literals(form.name)
        if not form.records or self._version.meaning.avro is None:
            substitutes = mapping.substitutes(form.name)
            zeros_left_out = mapping.leaves_out_zeros(form.name)
            return Context(zone, keep, literals, zeros_left_out=zeros_left_out, substitutes=substitutes)
        return Context(zone, keep, literals, self._options.second_digits(self._version.meaning.avro.fraction))

    def _build_context_by_type(
        self, form: ValueForm, zone: Zone | None, mapping: ValueMapping, types: tuple[str, ...]
    ) -> Context:
        said = parameters_of(types, form.type_parameters)
        stated = next((scale for scale in map(mapping.scale_of, types) if scale is not None), None)
        if stated is not None and "scale" in form.type_parameters:
            said.setdefault("scale", stated)
        return replace(self._context(form, zone, mapping), **said)

    def _build_schema(self, form: ValueForm, zone: Zone | None, mapping: ValueMapping) -> SchemaCheck:
        return _schema_of(form, self._context(form, zone, mapping))

    def lenient(self, form: ValueForm) -> bool:
        """Return whether the form is undocumented in this version, so that other text is kept with a warning."""
        return self._version.meaning.leaves_open(form.kind)


def zoneless_context(
    form: ValueForm, mapping: ValueMapping, types: tuple[str, ...], default: str | None = None
) -> Context:
    """Return the context of a form in a column of some types, without a time zone."""
    context = Context(
        None, mapping.keeps_invalid(form.name), mapping.invalid_literals(form.name),
        substitutes=mapping.substitutes(form.name), **parameters_of(types, form.type_parameters),
    )  # fmt: skip
    return context if default is None else _with_default(context, default)


@lru_cache(4096)
def _with_default(context: Context, default: str) -> Context:
    return replace(context, substitutes=(*context.substitutes, (default, NULL_AS_DEFAULT)))


@lru_cache(1024)
def _schema_of(form: ValueForm, context: Context) -> SchemaCheck:
    return SchemaCheck(dict(form.schema_in(context)))
