"""The DDL of a table's rows by Flink's own parser; Flink itself is not run here."""

from __future__ import annotations

import pytest
from both_paths import CATALOGUE
from java import running_jvm

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.generate.event_streams import ORDERS
from cdc_contracts.registry.core.tables.canonical.layout_resolution import canonical_table
from cdc_contracts.registry.core.tables.schemas.warehouse_sql import warehouse_ddl
from cdc_contracts.spark_checks.spark.jars import fetch_jars, find_java

pytestmark = pytest.mark.java
PARSER = ("org.apache.flink:flink-sql-parser:1.20.0", "org.apache.calcite:calcite-linq4j:1.32.0")
TABLE = TableContract.model_validate({
    "table": "shop.orders",
    "columns": {**{name: {"type": reported} for name, reported in ORDERS.types.items()}, "back`tick and 'quote'": {"type": "int"}},
})  # fmt: skip


@pytest.fixture(scope="module")
def parse():
    """A function that returns the statements of a text as Flink's parser writes them."""
    try:
        program, jars = find_java(), fetch_jars(PARSER, say=print)
    except UnavailableError as error:
        pytest.skip(f"no parser of Flink here: {error.what}")
    with running_jvm(program, jars) as jvm:
        config = (
            jvm.org.apache.calcite.sql.parser.SqlParser.config()
            .withParserFactory(jvm.org.apache.flink.sql.parser.impl.FlinkSqlParserImpl.FACTORY)
            .withLex(jvm.org.apache.calcite.config.Lex.JAVA)
            .withIdentifierMaxLength(256)
        )
        yield lambda text: list(jvm.org.apache.calcite.sql.parser.SqlParser.create(text, config).parseStmtList())


@pytest.mark.parametrize(
    "name", ["oms-community/default@1", "oms-community/default@2", "dts/canal@2", "oms/debezium@1"]
)
def test_the_parser_of_flink_reads_the_table_with_every_column_and_its_type(parse, name):
    layout = canonical_table(CATALOGUE.version(name), TABLE, ReadingOptions())
    (statement,) = parse(warehouse_ddl("flink-ddl", layout))
    assert statement.getTableName().toString() == "shop.orders"
    columns = {one.getName().getSimple(): one.getType() for one in statement.getColumnList()}
    types = {name: type_.toString().upper() for name, type_ in columns.items()}
    assert list(columns) == layout.arrow.names
    assert [name for name, type_ in columns.items() if type_.getNullable() is False] == [
        one.name for one in layout.arrow if not one.nullable
    ]
    assert (types["_offset"], types["_event_time"]) == ("BIGINT", "TIMESTAMP_LTZ(6)")
    assert "MAP<" in types["_raw"].replace(" ", "")
    assert [part.count("DECIMAL(20, 2)") for part in (types["before"], types["after"])] == [1, 1]
    assert "BACK`TICK AND 'QUOTE'" in types["after"].replace("``", "`")
