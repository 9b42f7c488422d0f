"""Changes of rows in a made-up source database: what truly happened, before any dialect writes it down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

Image = Mapping[str, str | None]
"""A row, as canonical text by column."""

INSERT, UPDATE, DELETE, SNAPSHOT, TRUNCATE, ADD_COLUMN = (
    "insert",
    "update",
    "delete",
    "snapshot",
    "truncate",
    "add column",
)
ROW_OPS = (INSERT, UPDATE, DELETE, SNAPSHOT)
CODES = {"bigint": -5, "varchar": 12, "int": 4, "decimal": 3, "date": 91, "datetime": 93, "timestamp": 93}
_EPOCH = datetime(2001, 1, 1, tzinfo=UTC)


class Column(NamedTuple):
    """A column and its source type."""

    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """A table; `key` names no column where it has none, `number` is its place among the tables."""

    number: int
    database: str
    name: str
    key: tuple[str, ...]


@dataclass(frozen=True)
class RowChange:
    """One change: of a row, or of a table where `row` is None. `number` is its place in the log of the database.

    A row of the full load has the number of the change before which it was read.
    """

    number: int
    op: str
    table: Table
    columns: tuple[Column, ...]
    before: Image | None = None
    after: Image | None = None
    row: int | None = None
    statement: str = ""

    @property
    def image(self) -> Image:
        """The image by which a message finds its partition."""
        return self.after or self.before or {}

    @property
    def key(self) -> tuple[str | None, ...]:
        return tuple(self.image.get(name) for name in self.table.key)


@dataclass(frozen=True)
class SourceHabits:
    """What happens in the database. Shares are of changes; `states` are the values a row goes through, None for new ones.

    `load` is the share of the log during which rows of a full load are read, None without one.
    """

    changes: int = 600
    tables: int = 1
    columns: int = 3
    rows: int = 12
    keyless: int = 0
    composite: bool = False
    timestamps: bool = False
    inserts: float = 0.1
    deletes: float = 0.0
    no_ops: float = 0.0
    key_changes: float = 0.0
    nulls: float = 0.05
    states: int | None = None
    flips: bool = False
    truncates: int = 0
    added_columns: int = 0
    load: float | None = None


@dataclass
class Log:
    """The changes of a database in order, and the rows that its full load read meanwhile."""

    changes: list[RowChange] = field(default_factory=list)
    loaded: list[RowChange] = field(default_factory=list)


class SourceDatabase:
    """A database whose rows change by chance; every change is told with the row before and after it."""

    def __init__(self, draw: Random, habits: SourceHabits) -> None:
        self._draw, self._habits = draw, habits
        self._fresh = iter(range(1, 10**9))
        self._columns: dict[Table, tuple[Column, ...]] = {}
        self._rows: dict[int, tuple[Table, dict[str, str | None]]] = {}
        for number in range(habits.tables):
            keyless = number >= habits.tables - habits.keyless
            key = () if keyless else ("id", "region") if habits.composite else ("id",)
            table = Table(number, "shop" if number % 3 < 2 else "stock", f"t{number}", key)
            self._columns[table] = self._make_columns(table)
        for _ in range(habits.rows):
            self._insert(0)

    def run(self) -> Log:
        """Return what happens from here on."""
        log, habits = Log(), self._habits
        reading = 0 if habits.load is None else max(1, int(habits.load * habits.changes))
        statements = self._place_statements()
        unread: list[int] = []
        for number in range(habits.changes):
            if reading and number == 0:
                unread = list(self._rows)
            if reading and number < reading:
                each = -(-len(unread) // (reading - number))
                log.loaded += [self._load(number, row) for row in unread[:each] if row in self._rows]
                unread = unread[each:]
            statement = statements.get(number)
            change = self._alter(number, statement) if statement else self._change(number)
            if change.op == INSERT and number < reading and change.row is not None:
                unread.append(change.row)
            log.changes.append(change)
        return log

    def _place_statements(self) -> dict[int, str]:
        wanted = [TRUNCATE] * self._habits.truncates + [ADD_COLUMN] * self._habits.added_columns
        middle = range(self._habits.changes // 10, self._habits.changes * 9 // 10)
        return dict(zip(self._draw.sample(middle, len(wanted)), wanted, strict=True))

    def _change(self, number: int) -> RowChange:
        draw, habits = self._draw, self._habits
        kind = draw.random()
        if not self._rows or kind < habits.inserts:
            return self._insert(number)
        row = draw.choice(list(self._rows))
        table, before = self._rows[row]
        if kind < habits.inserts + habits.deletes and len(self._rows) > 1:
            del self._rows[row]
            return RowChange(number, DELETE, table, self._columns[table], before, None, row)
        after = dict(before)
        if draw.random() >= habits.no_ops:
            self._modify(table, after)
            if table.key and draw.random() < habits.key_changes:
                after["id"] = str(next(self._fresh))
        self._rows[row] = table, after
        return RowChange(number, UPDATE, table, self._columns[table], before, after, row)

    def _insert(self, number: int) -> RowChange:
        table = self._draw.choice(list(self._columns))
        row, image = next(self._fresh), dict[str, str | None]()
        for column in self._columns[table]:
            image[column.name] = self._value(column)
        if table.key:
            image["id"] = str(row)
        if "region" in table.key:
            image["region"] = self._draw.choice(("eu", "us"))
        if self._habits.states is not None:
            self._enter(table, image, self._draw.randrange(self._habits.states))
        self._rows[row] = table, image
        return RowChange(number, INSERT, table, self._columns[table], None, image, row)

    def _modify(self, table: Table, image: dict[str, str | None]) -> None:
        """Change a row: to another of its states, or one or more of its columns to values never seen."""
        states = self._habits.states
        if states is not None:
            now = self._state(table, image)
            others = [state for state in range(states) if state != now] or [0]
            self._enter(table, image, (now + 1) % states if self._habits.flips else self._draw.choice(others))
            return
        free = [column for column in self._columns[table] if column.name not in table.key]
        for column in self._draw.sample(free, self._draw.randint(1, len(free))):
            image[column.name] = self._value(column)
        image[free[0].name] = self._text_of(free[0], next(self._fresh))

    def _enter(self, table: Table, image: dict[str, str | None], state: int) -> None:
        for place, column in enumerate(self._columns[table]):
            if column.name not in table.key:
                image[column.name] = self._text_of(column, 1000 * place + state)

    def _state(self, table: Table, image: Image) -> int:
        first = next(column for column in self._columns[table] if column.name not in table.key)
        states = range(self._habits.states or 1)
        place = self._columns[table].index(first)
        return next((one for one in states if image[first.name] == self._text_of(first, 1000 * place + one)), 0)

    def _alter(self, number: int, op: str) -> RowChange:
        table = self._draw.choice(list(self._columns))
        if op == TRUNCATE:
            self._rows = {row: held for row, held in self._rows.items() if held[0] != table}
            return RowChange(number, op, table, (), statement=f"TRUNCATE TABLE {table.name}")
        added = Column(f"added{number}", "int")
        self._columns[table] = (*self._columns[table], added)
        for row, (of, image) in list(self._rows.items()):
            if of == table:
                self._rows[row] = of, {**image, added.name: "0"}
        statement = f"ALTER TABLE {table.name} ADD COLUMN {added.name} INT NOT NULL DEFAULT 0"
        return RowChange(number, op, table, (), statement=statement)

    def _load(self, number: int, row: int) -> RowChange:
        table, image = self._rows[row]
        return RowChange(number, SNAPSHOT, table, self._columns[table], None, image, row)

    def _make_columns(self, table: Table) -> tuple[Column, ...]:
        types = ["varchar", "int", "decimal", "datetime", "date"]
        free = [Column(f"c{place}", types[place % len(types)]) for place in range(self._habits.columns)]
        if self._habits.timestamps:
            free.append(Column("seen", "timestamp"))
        own = [Column(name, "bigint" if name == "id" else "varchar") for name in table.key]
        return (*own, *free)

    def _value(self, column: Column) -> str | None:
        if self._draw.random() < self._habits.nulls:
            return None
        return self._text_of(column, next(self._fresh))

    def _text_of(self, column: Column, number: int) -> str:
        match column.type:
            case "bigint" | "int":
                return str(number)
            case "decimal":
                return f"{number}.{number % 100:02}"
            case "varchar":
                return f"v{number}"
            case "date":
                return (_EPOCH + timedelta(days=number % 100_000)).strftime("%Y-%m-%d")
        return (_EPOCH + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S")


def rows_of(changes: list[RowChange]) -> Iterator[RowChange]:
    """Yield the changes that are of rows."""
    return (change for change in changes if change.op in ROW_OPS)
