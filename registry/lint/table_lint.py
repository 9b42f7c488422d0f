"""Table lint: whether what a table contract says can be true of a table, and is of use to the contracts of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.common.findings import ERROR, WARNING
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule
from cdc_contracts.registry.values.type_ranges import read_range

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from cdc_contracts.registry.contract.table_contracts import TableContract
    from cdc_contracts.registry.contract.value_mappings import ValueMapping
    from cdc_contracts.registry.lint.lint_run import LintRun

_WIDEST: Final = 38
"""So many digits the decimals of typed tables have at most."""
_WITHOUT_ZONE: Final = frozenset({"timestamp", "timestamp with local time zone", "datetime", "date"})


def types_are_known(draft: LintRun) -> Iterator[LintFault]:
    """Every type is one of some database."""
    mappings = _mappings(draft, draft.mappings)
    for file, contract in draft.tables:
        for name, result in contract.types.items():
            if not _is_read(result, mappings) and read_range(result) is None:
                yield LintFault(file, "a type of a database", result, ("columns", name, "type"))


def types_are_read(draft: LintRun) -> Iterator[LintFault]:
    """Some value mapping of the catalogue reads every type that there is."""
    mappings = _mappings(draft, draft.mappings)
    for file, contract in draft.tables:
        for name, result in contract.types.items():
            if not _is_read(result, mappings) and read_range(result) is not None:
                yield LintFault(file, "a type that some value mapping reads", result, ("columns", name, "type"))


def types_belong_together(draft: LintRun) -> Iterator[LintFault]:
    """One value mapping reads all types: of a contract that a topic is bound to, where topics are bound."""
    bound = _bound_mappings(draft)
    mappings = _mappings(draft, bound or draft.mappings)
    for file, contract in draft.tables:
        unread = {one.name: _unread(one, contract, draft) for one in mappings}
        if not unread or not min(map(len, unread.values())):
            continue
        nearest = min(unread, key=lambda name: (len(unread[name]), name))
        for name in unread[nearest]:
            expected = f"a type that {nearest} reads, as the others" + (": topics are bound to it" if bound else "")
            yield LintFault(file, expected, contract.types[name], ("columns", name, "type"))


def keys_are_not_null(draft: LintRun) -> Iterator[LintFault]:
    """No column of a primary key is said to be nullable; one that does not say is not."""
    for file, contract in draft.tables:
        for name in dict.fromkeys(contract.primary_key):
            column = contract.columns[name]
            if column.nullable and "nullable" in column.model_fields_set:
                yield LintFault(file, "nullable: false, for a column of the key", "nullable", ("columns", name))


def keys_name_columns_once(draft: LintRun) -> Iterator[LintFault]:
    """A primary key has no column twice."""
    for file, contract in draft.tables:
        for name in sorted({one for one in contract.primary_key if contract.primary_key.count(one) > 1}):
            yield LintFault(file, f"{name} once", f"{contract.primary_key.count(name)} times", ("primary_key",))


def names_differ_in_more_than_case(draft: LintRun) -> Iterator[LintFault]:
    """No two columns of a table, and no two tables, differ in nothing but capital letters."""
    for file, contract in draft.tables:
        for first, second in _alike(contract.columns):
            yield LintFault(file, f"a name other than {first}", second, ("columns", second))
    files = {contract.table: file for file, contract in draft.tables}
    for first, second in _alike(files):
        yield LintFault(files[second], f"a name other than {first}", second, ("table",))


def tables_have_one_contract(draft: LintRun) -> Iterator[LintFault]:
    """No table has a contract in two files that are read together; L25 reports those in one folder."""
    seen: dict[str, Traversable] = {}
    for file, contract in draft.tables:
        before = seen.setdefault(contract.table, file)
        if before is not file and Path(str(before)).parent != Path(str(file)).parent:
            yield LintFault(file, f"one contract for {contract.table}", f"another is {before}", ("table",))


def zones_are_of_use(draft: LintRun) -> Iterator[LintFault]:
    """A table with a time zone has a column of times that need one."""
    for file, contract in draft.tables:
        types = [read_range(one) for one in contract.types.values()]
        if contract.zone is not None and not any(one is None or one.family in _WITHOUT_ZONE for one in types):
            yield LintFault(file, "a column of times without a zone", "none", ("source_time_zone",))


def decimals_fit_typed_tables(draft: LintRun) -> Iterator[LintFault]:
    """No decimal has more digits than the decimals of typed tables."""
    for file, contract in draft.tables:
        for name, result in contract.types.items():
            read = read_range(result)
            if read is not None and read.family == "decimal" and (read.precision or 0) > _WIDEST:
                yield LintFault(file, f"up to {_WIDEST} digits", result, ("columns", name, "type"))


def tables_name_their_database(draft: LintRun) -> Iterator[LintFault]:
    """A table is named with the database that messages name it with."""
    for file, contract in draft.tables:
        parts = contract.table.split(".")
        if not all(part.strip() == part and part for part in parts):
            yield LintFault(file, "DATABASE.TABLE", contract.table or "nothing", ("table",))
        elif len(parts) == 1:
            yield LintFault(file, "DATABASE.TABLE", contract.table, ("table",))


def _mappings(draft: LintRun, names: Iterable[str]) -> list[ValueMapping]:
    """Return the mappings that know types; one with a default accepts any type."""
    found = [draft.mappings[name] for name in names if name in draft.mappings]
    return [mapping for mapping in found if mapping.document.default is None]


def _bound_mappings(draft: LintRun) -> set[str]:
    """Return the mappings of the contracts that `cdc-contracts.yaml` binds topics to."""
    from cdc_contracts.registry.common.errors import CdcContractsError
    from cdc_contracts.registry.contract.settings import read_settings

    try:
        bound = set(read_settings(Path.cwd()).topics.values())
        return {name for one in bound for version in draft.catalogue.resolve(one) for name in version.mapping_names()}
    except CdcContractsError:
        return set()


def _unread(mapping: ValueMapping, contract: TableContract, draft: LintRun) -> list[str]:
    """Return the columns whose type a mapping does not read in any words, though another one does."""
    from cdc_contracts.registry.contract.type_families import told_in

    table = "protocol" if "code" in mapping.document.names else None
    known = _mappings(draft, draft.mappings)
    return [
        name
        for name, result in contract.types.items()
        if told_in(mapping, result, table) is None and _is_read(result, known)
    ]


def _is_read(told: str, mappings: Iterable[ValueMapping]) -> bool:
    return any(mapping.form_of(told) is not None for mapping in mappings)


def _alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    by_case: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_case[name.casefold()].append(name)
    for first, *others in by_case.values():
        yield from ((first, other) for other in others)


TABLE_RULES: Final = (
    LintRule(
        "T01", "column-type-known", ERROR,
        "Checks that the types of a table contract are types of a database.",
        "A type that nothing reads makes every message of the table drift, in dialects that send no types.",
        "id: {type: bigint unsigned}", "id: {type: bigitn}",
        types_are_known,
    ),
    LintRule(
        "T02", "column-type-read", WARNING,
        "Checks that some value mapping of the catalogue reads every type of a table contract.",
        "No document says how such a value is written: messages with one drift, whatever their dialect.",
        "doc: {type: CLOB}", "doc: {type: LONG RAW}",
        types_are_read,
    ),
    LintRule(
        "T03", "column-types-of-one-source", WARNING,
        "Checks that one value mapping reads all types of a table: one that topics are bound to, where they are.",
        "Types of two databases in one table are mostly a slip, and the messages of the table cannot be read whole.",
        "id: {type: int} and at: {type: datetime}", "id: {type: int} and name: {type: VARCHAR2(20)}",
        types_belong_together,
    ),
    LintRule(
        "T04", "key-not-null", ERROR,
        "Checks that no column of a primary key is said to be nullable; one that does not say it is not.",
        "Rows whose key is NULL cannot be told apart, and no database has them.",
        "id: {type: int, nullable: false} in primary_key", "id: {type: int, nullable: true} in primary_key",
        keys_are_not_null,
    ),
    LintRule(
        "T05", "key-column-once", ERROR,
        "Checks that a primary key names no column twice.",
        "One of the two was meant to be another column: rows are merged that are not one.",
        "primary_key: [id, shop]", "primary_key: [id, id]",
        keys_name_columns_once,
    ),
    LintRule(
        "T06", "names-apart", WARNING,
        "Checks that no two columns of a table, and no two tables, differ in nothing but capital letters.",
        "Most databases take them for one, and so do most readers of typed tables.",
        "id and order_id", "id and ID",
        names_differ_in_more_than_case,
    ),
    LintRule(
        "T07", "table-once", ERROR,
        "Checks that no table has contracts in two folders that are read together.",
        "A run that is given both does not begin.",
        "shop.orders.yaml", "shop.orders.yaml and old/shop.orders.yaml, both of shop.orders",
        tables_have_one_contract,
    ),
    LintRule(
        "T08", "zone-of-use", WARNING,
        "Checks that a table with a time zone has a column of times that need one.",
        "The zone was meant for another table, or the type of a column is wrong.",
        'at: {type: timestamp} and source_time_zone: "+08:00"', 'no time at all and source_time_zone: "+08:00"',
        zones_are_of_use,
    ),
    LintRule(
        "T09", "decimal-fits", WARNING,
        f"Checks that no decimal has more than {_WIDEST} digits, as many as the decimals of typed tables have.",
        "Such a column is text in typed tables: exact, but nothing to reckon with.",
        "decimal(38,10)", "decimal(65,30)",
        decimals_fit_typed_tables,
    ),
    LintRule(
        "T10", "database-named", WARNING,
        "Checks that a table contract names the database of its table.",
        "Messages mostly name both: the contract of `orders` is not found for shop.orders.",
        "table: shop.orders", "table: orders",
        tables_name_their_database,
    ),
)  # fmt: skip
