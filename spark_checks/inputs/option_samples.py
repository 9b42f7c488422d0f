"""Option samples: the options of a producer that a decode takes before it starts, and checks every message against.

A sample decides which values of an option are left: those that all its values of a topic allow, or of a part of it
where the option changes, together with those of other topics. Earlier runs of the same output over what comes before
leave fewer, if the sample does not rule these out. A column is read where every value that is left writes it in one
form; others are written as they were sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.value_mappings import AS_SENT, ValueMapping, known_options, split_values
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.records.file_batches import as_batch
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.option_evidence import TopicOption
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.column_types import TEXT
from cdc_contracts.registry.core.tables.canonical.table_layouts import Layouts
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.registry.core.values import FORMS

_SENT_KIND: Final = FORMS[AS_SENT].kind
Sample = Iterable[pa.RecordBatch | RecordsWithoutArrow]


@dataclass(frozen=True)
class SampledOptions:
    """The options that are taken, and what the sample says of each, topic by topic; `read` is its size.

    `left_open` is what it says of the others: columns with values that are written as they were sent.
    """

    taken: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[TopicOption, ...] = ()
    read: int = 0
    left_open: tuple[TopicOption, ...] = ()


def sample_options(validation: ValidationContext, sample: Sample, known: Mapping[str, str]) -> SampledOptions:
    """Return the options that messages of a sample decide, and of the `known` ones those that it does not rule out."""
    kernel, total = Kernel(validation), Tally()
    for batch in sample:
        total.merge(kernel.audit(as_batch(batch) if isinstance(batch, RecordsWithoutArrow) else batch))
    wanted = open_options(validation)
    evidence = tuple(one for one in total.statistics.options.options() if one.option in wanted)
    read = sum(counts.read for counts in total.partitions.values())
    return SampledOptions(_decide(evidence, known, _mappings_of(validation)), evidence, read)


def take_options(
    validation: ValidationContext, sample: Callable[[], Sample], known: Mapping[str, str] | None = None
) -> tuple[ValidationContext, SampledOptions]:
    """Return the context with the options that are taken for it, and what the sample says of these.

    `sample` is only read if some option is open. `known` are options that earlier runs were read by.
    """
    wanted = open_options(validation)
    if not wanted:
        return validation, SampledOptions()
    ranged = {name for one in validation.declared_scopes for name, _ in one.options}
    kept = {name: value for name, value in (known or {}).items() if name in wanted - ranged}
    sampled = sample_options(validation, sample(), kept)
    evidence = tuple(
        one._replace(values=split_values(sampled.taken[one.option]))
        for one in sampled.evidence
        if one.option in sampled.taken
    )
    left_open = tuple(one for one in sampled.evidence if one.option not in sampled.taken)
    return validation.stating(sampled.taken), replace(sampled, evidence=evidence, left_open=left_open)


def open_options(validation: ValidationContext) -> frozenset[str]:
    """Return the options of producers that decide forms of columns with known types, and that nobody states.

    Those are left out whose form each value says itself: nothing is kept as sent for them.
    """
    return frozenset(
        option
        for mapping in _mappings_of(validation)
        for option, types in mapping.open_types.items()
        if not mapping.self_evident.issuperset(types)
    )


def _mappings_of(validation: ValidationContext) -> Iterator[ValueMapping]:
    """Yield the value mappings by which columns with known types may be read, with the options that are stated."""
    for scope in validation.declared_scopes.values() or (validation,):
        options = scope.reading_options
        typed = [one for one in scope.validated if options.tables or one.meaning.columns.types != "none"]
        for name in dict.fromkeys(name for version in typed for name in version.mapping_names()):
            yield scope.catalogue.mapping(name).given(options.parameters)


def check_as_sent(validation: ValidationContext, observed: ObservedColumns, layouts: Layouts) -> None:
    """Raise UsageError if a column was read as it was sent, and the table that is there holds it by a type.

    A text as it was sent may look like a value of the type that it is not.
    """
    mappings = [*_mappings_of(validation)]
    for name in observed.tables() if any(one.open_types for one in mappings) else ():
        types = {column.name: column.type for column in layouts[name].columns} if name in layouts else {}
        for column, seen in observed.columns(name).items():
            source_types = {source_type for source_type, kind in seen if kind == _SENT_KIND and source_type is not None}
            options = {
                option for one in mappings for source_type in source_types for option in one.options_of(source_type)
            }
            if options and types.get(column, TEXT) != TEXT:
                raise _undecided(min(options), name.text, column, types[column])


def check_sample(sampled: SampledOptions, layouts: Layouts) -> None:
    """Raise UsageError as `check_as_sent` does, before anything is decoded, where the sample has such values."""
    for name, layout in sorted(layouts.items()):
        for column in layout.columns:
            full = f"{name.text}.{column.name}"
            option = next((one.option for one in sampled.left_open if full in one.names), None)
            if option is not None and column.type != TEXT:
                raise _undecided(option, name.text, column.name, column.type)


def _undecided(option: str, table: str, column: str, type_: str) -> UsageError:
    return UsageError(
        f"no message tells {option}, by which {column} is read, and the table has it as {type_}",
        where=table,
        hint=f"State it: --parameter {option}=VALUE, or `options` in --versions FILE; or choose another directory.",
    )


def _decide(
    evidence: Iterable[TopicOption], earlier: Mapping[str, str], mappings: Iterable[ValueMapping]
) -> dict[str, str]:
    """Return the values of each option that are left, where they write columns in one form and others do not."""
    taken, listed = dict(earlier), list(mappings)
    known = known_options(listed)
    for option, found in groupby(sorted(evidence, key=lambda one: one.option), lambda one: one.option):
        topics = list(found)
        left = {value for one in topics for value in one.left}
        before = set(split_values(taken.pop(option))) if option in taken else set(known[option])
        left &= before if all(before.intersection(one.values) for one in topics) else left
        stated = {option: ",".join(sorted(left))}
        if len(left) == 1 or any(mapping.given(stated).decides(option) for mapping in listed if left):
            taken |= stated
    return taken
