"""Option evidence: which values of a producer's options the values of columns allow, and where these change.

Columns whose form an option decides that nobody states are read as they were sent. What each value of such a column
rules out is kept, so that many messages prove an option together, whatever their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.findings import rule_id
from cdc_contracts.registry.core.contract.value_mappings import DEFAULT, ValueMapping, split_values
from cdc_contracts.registry.core.stats.column_ways import ColumnWays, WrittenTable
from cdc_contracts.registry.core.stats.position_sequences import Stretch
from cdc_contracts.registry.core.validate.form_selection import TypedColumns, zoneless_context
from cdc_contracts.registry.core.values import FORMS, KEPT_AS_SENT, READ, Context, Number, ValueForm
from cdc_contracts.registry.core.values.likely_counts import likely_counts

WRITTEN: Final = (*READ, *KEPT_AS_SENT)
"""What becomes of values that a producer may write under a form: they are read, or stand for none that the form has."""
OPTION_CHANGE: Final = rule_id("other-version", "option")
"""The rule of values that contradict the option of those before."""
_TIME: Final = "time"
_NUMBER: Final = "number"


class OpenColumn(NamedTuple):
    """A column whose values an option decides: the form under each value of the option, None where it decides none.

    `null` are the values of the option that allow null, if it decides that. `stated` are those that a parameter states,
    if all that is looked for is what refutes them, or a unit of time that changes though each count is read. `likely`
    are the forms of likely counts, each with the values of the option whose form it is of; none for a single unit.
    `sampled` if a sample decided what is stated.
    """

    name: str
    option: str
    forms: tuple[tuple[str, ValueForm | None, Context], ...]
    null: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    likely: tuple[tuple[tuple[str, ...], ValueForm], ...] = ()
    sampled: bool = False


class Allowed(NamedTuple):
    """The values of an option under which a value of a column can be read.

    It refutes those `stated`, if there are any. `of_null` if the option decides what NULL is sent as, and no form.
    Under the values `likely` it is a moment between 1980 and 2054, which it is in no other unit. What is stated is
    believed, unless it is what a sample decided (`sampled`).
    """

    option: str
    values: tuple[str, ...]
    stated: tuple[str, ...] = ()
    of_null: bool = False
    likely: tuple[str, ...] = ()
    sampled: bool = False

    @property
    def refutes(self) -> bool:
        """Whether it rules out every value that a parameter states."""
        return bool(self.stated) and not _common((self.stated, self.values))


class TopicOption(NamedTuple):
    """What the `held` values of a topic say of an option: the `values` of it that all of them allow, if any.

    There are none where it changes within a partition, or from one to another. `names` are the columns, as
    TABLE.COLUMN. `of_null` if it decides what NULL of a column with a default is sent as. `left` are the values that
    hold in some part of the topic.
    """

    topic: str
    option: str
    values: tuple[str, ...]
    columns: int
    held: int
    names: tuple[str, ...]
    of_null: bool = False
    left: tuple[str, ...] = ()


class OptionRun(NamedTuple):
    """A part of a partition of which values say that it was written with some `values` of an option, of one mostly.

    It goes from the first value that rules out what holds before it to the last that rules out what holds after it;
    what lies between two runs may belong to either. Without `values`, parts that rule each other out take turns in it.
    """

    topic: str
    partition: int
    option: str
    values: tuple[str, ...]
    first: int
    last: int


class OptionChange(NamedTuple):
    """A column whose values rule out every value of the option that those before the last change allow.

    `clean` is the last offset of a value that `after` does not allow. Values that are `near` only do so unless they are
    moments within a month of 1970.
    """

    rows: WrittenTable
    name: str
    option: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    stretch: Stretch
    clean: int
    near: bool = False


class _Seen(NamedTuple):
    """Values of a column that allow the same; `says` are the values of the option that they speak for."""

    rows: WrittenTable
    name: str
    allowed: Allowed
    stretch: Stretch
    says: tuple[str, ...]

    @property
    def order(self) -> tuple[Any, ...]:
        return self.stretch.first.offset, self.rows.table or "", self.name, self.rows.loaded, self.allowed

    @property
    def likely(self) -> _Seen:
        """The same, speaking only for the values under which it is a likely moment, if there are any."""
        return self._replace(says=self.allowed.likely or self.says)


class _Part(NamedTuple):
    """Values that all speak for some values of an option."""

    says: tuple[str, ...]
    seen: list[_Seen]

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the option that all of them allow."""
        return _common(one.allowed.values for one in self.seen)


class OptionEvidence(ColumnWays[Allowed]):
    """The values of options that each column allows, with the stretch of the values that allow just these."""

    def add_row(
        self, rows: WrittenTable, row: Mapping[str, Any], columns: Iterable[OpenColumn], stretch: Stretch
    ) -> None:
        """Count the values of one row."""
        self.add_ways(rows, ((one.name, allowed_by(one, row[one.name])) for one in columns if one.name in row), stretch)

    def options(self) -> Iterator[TopicOption]:
        """Yield what each topic says of each option, in order of both."""
        parts_of: dict[tuple[str, str], list[list[_Part]]] = {}
        for (topic, _, option, stated), parts in self._parts():
            if not stated:
                parts_of.setdefault((topic, option), []).append(parts)
        for (topic, option), partitions in sorted(parts_of.items()):
            parts = [part for found in partitions for part in found]
            seen = [one for part in parts for one in part.seen]
            agree = len(parts) == len(partitions) and _common(part.says for part in parts)
            values = _common(part.values for part in parts) if agree else ()
            left = values or tuple(sorted({value for part in parts for value in part.values}))
            columns = {(one.rows.table, one.name) for one in seen}
            held = sum(one.stretch.count for one in seen)
            names = tuple(sorted(".".join(part for part in one if part) for one in columns))
            of_null = any(one.allowed.of_null for one in seen)
            yield TopicOption(topic, option, values, len(columns), held, names, of_null, left)

    def changes(self) -> Iterator[OptionChange]:
        """Yield the columns from which on values contradict those before, or a parameter, partition by partition."""
        for one in self._all():
            if one.allowed.refutes:
                name, values, stated, *_ = one.allowed
                yield OptionChange(one.rows, one.name, name, stated, values, one.stretch, -1)
        for (_, _, name, stated), parts in self._parts():
            seen = [one for part in parts for one in part.seen]
            sampled = [_Part(stated, [])] if seen[0].allowed.sampled else []
            for before, part in pairwise([*sampled, *parts]):
                for one in part.seen:
                    if not _common((before.says, one.says)):
                        clean = _last_against(one.says, seen)
                        near = bool(stated) or bool(_common((before.values, one.allowed.values)))
                        yield OptionChange(one.rows, one.name, name, before.says, one.says, one.stretch, clean, near)

    def runs(self) -> Iterator[OptionRun]:
        """Yield which values of each option hold in which part of each partition, in order."""
        for (topic, partition, option, stated), parts in self._parts():
            if stated:
                continue
            seen: list[_Seen] = []
            first = parts[0].seen[0].stretch.first.offset
            for part, after in zip(parts, [*parts[1:], None], strict=True):
                seen += part.seen
                last = max(one.stretch.last.offset for one in seen if _common((part.says, one.says)))
                clean, start = last, last + 1
                if after is not None:
                    clean, start = _last_against(after.says, seen), after.seen[0].stretch.first.offset
                if first <= min(last, clean, start - 1):
                    yield OptionRun(topic, partition, option, part.values, first, min(last, clean, start - 1))
                if start <= clean:
                    yield OptionRun(topic, partition, option, (), start, clean)
                first = max(start, clean + 1)

    def _parts(self) -> Iterator[tuple[tuple[str, int, str, tuple[str, ...]], list[_Part]]]:
        """Yield topic, partition, option and what is stated of it with the parts, each of values that agree.

        Likely moments speak for their unit where they take no turns with those of another, neither in their column nor
        in all of them: a unit that changes does so once, and dates of January 1970 come between others.
        """
        found: dict[tuple[str, int, str, tuple[str, ...]], list[_Seen]] = {}
        for one in self._all():
            if not one.allowed.refutes:
                place = one.rows.topic, one.rows.partition, one.allowed.option, one.allowed.stated
                found.setdefault(place, []).append(one)
        for place, unordered in sorted(found.items()):
            seen = sorted(unordered, key=lambda one: one.order)
            columns: dict[tuple[str | None, str], list[_Seen]] = {}
            for one in seen:
                columns.setdefault((one.rows.table, one.name), []).append(one.likely)
            mixed = {column for column, likely in columns.items() if _take_turns(_split(likely))}
            parts = _split(one if (one.rows.table, one.name) in mixed else one.likely for one in seen)
            yield place, _split(seen) if _take_turns(parts) else parts

    def _all(self) -> Iterator[_Seen]:
        for rows in self.tables():
            for name, column in self.seen[rows].items():
                for allowed, stretch in column.items():
                    yield _Seen(rows, name, allowed, stretch, allowed.values)


def _split(seen: Iterable[_Seen]) -> list[_Part]:
    """Return the parts of what is seen in a partition, in order."""
    parts: list[_Part] = []
    for one in seen:
        left = _common((parts[-1].says, one.says)) if parts else ()
        if left:
            parts[-1] = _Part(left, [*parts[-1].seen, one])
        else:
            parts.append(_Part(one.says, [one]))
    return parts


def _take_turns(parts: Sequence[_Part]) -> bool:
    """Return whether values of a part come behind the first of a later one that they contradict."""
    seen: list[_Seen] = []
    for part, after in pairwise(parts):
        seen += part.seen
        if _last_against(after.says, seen) >= after.seen[0].stretch.first.offset:
            return True
    return False


def _last_against(values: tuple[str, ...], seen: Iterable[_Seen]) -> int:
    """Return the last offset of a value that speaks for none of some values of an option; -1 if there is none."""
    against = (one.stretch.last.offset for one in seen if not _common((values, one.says)))
    return max(against, default=-1)


def open_columns(columns: TypedColumns) -> tuple[OpenColumn, ...]:
    """Return the columns of a row whose values an option decides that no parameter states, or that may refute one."""
    return (*_of_open_forms(columns, columns.mapping), *_of_stated_units(columns), *_of_defaults(columns))


def allowed_by(column: OpenColumn, value: Any) -> Allowed | None:
    """Return the values of its option under which a value of a column can be read.

    Null says nothing of an option that decides a form, and neither does what is written under no value of it, such as
    NaN: None.
    """
    if value is None:
        return null_allowed_by(column) if column.null else None
    values = tuple(name for name, form, context in column.forms if _reads(form, context, value))
    likely = [name for names, form in column.likely if _reads(form, Context(), value) for name in names]
    return allowing(column, values, likely)


def allowing(column: OpenColumn, values: tuple[str, ...], likely: Collection[str]) -> Allowed | None:
    """Return what a value says that is read under some values of the option of its column, as a `likely` one of some.

    None if it says nothing: it is read under no value of the option, or under none that a parameter states, which is a
    finding of its own.
    """
    if not values or (column.stated and not _common((column.stated, values))):
        return None
    of_both = tuple(value for value in values if value in likely)
    return Allowed(column.option, values, column.stated, bool(column.null), of_both, column.sampled)


def null_allowed_by(column: OpenColumn) -> Allowed:
    """Return the values of an option that decides what NULL is sent as, where it is sent as null."""
    return Allowed(column.option, column.null, column.stated, of_null=True)


def takes_any_count(form: ValueForm) -> bool:
    """Return whether a count of any size is one of the form: releases have written times of day far out of range."""
    return form.kind == _TIME and _NUMBER in form.wire


def _of_open_forms(columns: TypedColumns, mapping: ValueMapping) -> Iterator[OpenColumn]:
    """Yield the columns whose form an option decides that a mapping has no statement of."""
    if mapping.open_types:
        for name, source_type in (columns.types or {}).items():
            for option, names in mapping.options_of(source_type).items():
                forms = tuple(_forms_of(mapping, columns.types_of(name), names))
                yield OpenColumn(name, option, forms, likely=_likely_counts(forms))


def _of_stated_units(columns: TypedColumns) -> Iterator[OpenColumn]:
    """Yield the columns with counts of a unit of time that a parameter states: a larger one would be read as well."""
    mapping = columns.mapping
    if mapping.unstated is None:
        return
    still_open = {(one.name, one.option) for one in _of_open_forms(columns, mapping)}
    for one in _of_open_forms(columns, mapping.unstated):
        if one.likely and one.option in mapping.stated and (one.name, one.option) not in still_open:
            stated, sampled = split_values(mapping.stated[one.option]), one.option in columns.sampled
            yield one._replace(stated=stated, sampled=sampled)


def _of_defaults(columns: TypedColumns) -> Iterator[OpenColumn]:
    """Yield the columns with a default: null was not replaced by it, and any other value may stand for itself."""
    for option, ways in columns.mapping.document.null_sent_as.items() if columns.defaulted else ():
        stated = columns.mapping.stated.get(option)
        left = tuple(sorted(ways)) if stated is None else split_values(stated)
        null = tuple(sorted(value for value, sent in ways.items() if sent != DEFAULT))
        allowed = tuple(value for value in left if value in null)
        if null and not allowed:
            yield from (OpenColumn(name, option, (), null, left) for name in columns.defaulted)
        elif len(left) > 1:
            forms = tuple((value, None, Context()) for value in left)
            yield from (OpenColumn(name, option, forms, allowed) for name in columns.defaulted)


def _forms_of(
    mapping: ValueMapping, types: tuple[str, ...], forms: Mapping[str, str | None]
) -> Iterator[tuple[str, ValueForm | None, Context]]:
    for value, name in sorted(forms.items()):
        form = None if name is None else FORMS[name]
        context = Context() if form is None else zoneless_context(form, mapping, types)
        yield value, form, context


def _likely_counts(
    forms: Iterable[tuple[str, ValueForm | None, Context]],
) -> tuple[tuple[tuple[str, ...], ValueForm], ...]:
    """Return the forms of likely counts, with the values of the option that each is of; none for a single unit."""
    found: dict[ValueForm, tuple[str, ...]] = {}
    for value, form, _ in forms:
        likely = None if form is None else likely_counts(form)
        if likely is not None:
            found[likely] = (*found.get(likely, ()), value)
    return tuple((values, likely) for likely, values in found.items()) if len(found) > 1 else ()


def _reads(form: ValueForm | None, context: Context, value: Any) -> bool:
    if form is None or (isinstance(value, Number) and takes_any_count(form)):
        return True
    return form.reads(value, context, WRITTEN)


def _common(values: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the values that are in all of some tuples, in the order of the first."""
    first, *others = values
    return tuple(value for value in first if all(value in other for other in others))
