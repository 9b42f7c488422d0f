"""Table identifiers: the names by which Spark finds the tables of a source table.

DIR/tables/<database>.<table>        Delta: the history            DIR/current/..., DIR/deleted/...  as well
DIR/tables/<database>/<table>        Iceberg: the history, in a catalog without a service; current, deleted as well
CATALOG.DB.<database>__<table>       in a catalog of the user's; with __current and __deleted appended
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, TableName
from cdc_contracts.spark_checks.files.file_sinks import TABLES, encode_name, table_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORY: Final = TABLES
CURRENT: Final = "current"
DELETED: Final = "deleted"
"""The tables of a source table: all changes, the current rows, and the keys of deleted rows.

They are folders in a directory, and suffixes of names in a catalog.
"""

_NAMESPACE: Final = "_"
"""The database of a table that names none: tables of this kind of catalog need a namespace."""


def holding(kind: str, layout: TableLayout) -> str:
    """Return what a table of a kind is recorded to hold, so that no row of one table is taken for one of a shard."""
    return kind if layout.shards is None else f"{kind} of shards"


class TableIdentifiers(Protocol):
    """Locates tables. `format` is their table format."""

    @property
    def format(self) -> str: ...

    def prepare(self, session: SparkSession) -> None:
        """Make the session know the catalog of the tables. Raises UnavailableError if it cannot."""

    def find(self, kind: str, table: TableName) -> str:
        """Return the identifier of a table, quoted as SQL takes it."""


@dataclass(frozen=True)
class DeltaDirectory:
    """Delta tables below a directory; a table is its path."""

    directory: str
    format: str = "delta"

    def prepare(self, session: SparkSession) -> None:
        """Do nothing: a path needs no catalog."""

    def find(self, kind: str, table: TableName) -> str:
        return f"delta.{quote(f'{self.directory}/{table_folder(table, kind)}')}"


@dataclass(frozen=True)
class IcebergDirectory:
    """Iceberg tables below a directory, each kind in a catalog that is just a folder."""

    directory: str
    format: str = "iceberg"

    def prepare(self, session: SparkSession) -> None:
        for kind in (HISTORY, CURRENT, DELETED):
            settings = {
                "": "org.apache.iceberg.spark.SparkCatalog",
                ".type": "hadoop",
                ".warehouse": f"{self.directory}/{kind}",
                # Commits of other processes have to be visible.
                ".cache-enabled": "false",
            }
            for name, value in settings.items():
                session.conf.set(f"spark.sql.catalog.{self._catalog(kind)}{name}", value)

    def find(self, kind: str, table: TableName) -> str:
        namespace = _NAMESPACE if table.database is None else encode_name(TableName(None, None, table.database))
        return f"{self._catalog(kind)}.{quote(namespace)}.{quote(encode_name(table._replace(database=None)))}"

    def _catalog(self, kind: str) -> str:
        # A session keeps a catalog as it was first used, so each directory needs a separate one.
        return f"cdc_{hashlib.sha256(self.directory.encode()).hexdigest()[:8]}_{kind}"


@dataclass(frozen=True)
class CatalogSchema:
    """Tables of a schema in a catalog that the user's settings of Spark define."""

    parts: tuple[str, ...]
    format: str

    @property
    def text(self) -> str:
        """The schema as `parse_schema` reads it."""
        return ".".join(quote(part) if set(part) & set(".`") else part for part in self.parts)

    def prepare(self, session: SparkSession) -> None:
        setting = f"spark.sql.catalog.{self.parts[0]}"
        if self.parts[0] != "spark_catalog" and session.conf.get(setting, None) is None:
            raise UnavailableError(
                f"Spark has no catalog {self.parts[0]}",
                where=setting,
                hint="Configure it in spark-defaults.conf, or with --conf when you start Spark.",
            )

    def find(self, kind: str, table: TableName) -> str:
        name = "__".join(_spell(part) for part in table if part is not None)
        end = "" if kind == HISTORY else f"__{kind}"
        return ".".join([*map(quote, self.parts), quote(f"{name}{end}")])


def parse_schema(text: str, table_format: str) -> CatalogSchema:
    """Return the schema that `CATALOG.DB` names; a part with dots is quoted with backquotes.

    Raises UsageError if it is written otherwise.
    """
    parts = tuple(re.findall(r"`(?:[^`]|``)+`|[^.`]+", text))
    if len(parts) < 2 or ".".join(parts) != text:  # noqa: PLR2004  a catalog and a schema
        raise UsageError("a schema in a catalog is written CATALOG.DB", where=text)
    return CatalogSchema(tuple(part.strip("`").replace("``", "`") for part in parts), table_format)


def quote(name: str) -> str:
    """Return a name as SQL quotes it."""
    return "`" + name.replace("`", "``") + "`"


def _spell(name: str) -> str:
    """Return a name that every catalog accepts. Two names may become equal: tables record which one they hold."""
    return re.sub(rb"[^A-Za-z0-9_]", lambda odd: b"_x%02x" % odd[0][0], name.encode()).decode()
