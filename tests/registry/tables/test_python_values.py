"""Values of Python from canonical text: by hand, and the same as in typed columns of Arrow."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from cdc_contracts.registry.core.tables.canonical.column_types import TEXT, column_type
from cdc_contracts.registry.core.tables.canonical.python_values import python_reader
from cdc_contracts.registry.core.tables.canonical.typed_values import read_column

CASES = [
    ("18446744073709551616", "bigint unsigned", "integer", 18446744073709551616),
    ("-7", "int", "integer", -7),
    ("5", "number(10)", "integer", Decimal(5)),
    ("5", None, "number", Decimal(5)),
    ("5", "int", "number", 5),
    ("255", "bit(8)", "bit", 255),
    ("1241.410", "decimal(20,3)", "decimal", Decimal("1241.410")),
    ("9" * 400 + ".5", "decimal", "decimal", Decimal("9" * 400 + ".5")),
    ("1e+21", "double", "float", 1e21),
    ("0.1", "float", "float", 0.1),
    ("-Infinity", "double", "float", float("-inf")),
    ("true", "boolean", "boolean", True),
    ("AAEC", "blob", "bytes", b"\x00\x01\x02"),
    ("", "blob", "bytes", b""),
    ("2024-02-29", "date", "date", date(2024, 2, 29)),
    ("2024", "year", "year", 2024),
    ("2024-05-06T12:53:20.5", "datetime(3)", "datetime", datetime.fromisoformat("2024-05-06T12:53:20.500")),
    ("2024-05-06T12:53:20Z", "timestamp", "timestamp", datetime(2024, 5, 6, 12, 53, 20, tzinfo=UTC)),
    ("2024-05-06T12:53:20.123456789", "timestamp(9)", "datetime", "2024-05-06T12:53:20.123456789"),
    ("2024-05-06T12:53:20[Asia/Shanghai]", "timestamp(3) with time zone", "datetime",
     "2024-05-06T12:53:20[Asia/Shanghai]"),
    ("838:59:59", "time", "time", "838:59:59"),
    ("P4Y", "interval year to month", "interval", "P4Y"),
    ("1", "varchar(3)", "text", "1"),
    ("{}", "json", "json", "{}"),
    ("5", "bit(8)", "opaque", "5"),
]  # fmt: skip
REFUSED = [
    ("007", "int", "integer"),
    ("+7", "int", "integer"),
    ("\u0667", "int", "integer"),
    ("1e3", "decimal(5,1)", "decimal"),
    ("0.10000000000000000001", "double", "float"),
    ("1e+400", "double", "float"),
    ("nan", "double", "float"),
    ("TRUE", "boolean", "boolean"),
    ("AAE", "blob", "bytes"),
    ("AAF=", "blob", "bytes"),
    ("0000-00-00", "date", "date"),
    ("2020-02-30", "date", "date"),
    ("2024-05-06T12:53:20.1234567", "datetime(6)", "datetime"),
    ("2024-05-06 12:53:20", "datetime", "datetime"),
    ("0000-00-00T00:00:00", "datetime", "datetime"),
]


@pytest.mark.parametrize(("text", "source_type", "kind", "value"), CASES)
def test_a_text_is_the_value_that_its_type_says(text, source_type, kind, value):
    found = python_reader(source_type, kind)(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("text", "source_type", "kind"), REFUSED)
def test_what_is_not_exactly_a_value_of_the_type_is_refused(text, source_type, kind):
    with pytest.raises(ValueError, match=r"."):
        python_reader(source_type, kind)(text)


@pytest.mark.parametrize(("text", "source_type", "kind"), [*(case[:3] for case in CASES), *REFUSED])
def test_a_typed_column_has_the_same_value_or_text(text, source_type, kind):
    type_ = column_type(source_type, kind)
    read = read_column(pa.array([text]), type_)
    try:
        value = python_reader(source_type, kind)(text)
    except ValueError:
        assert type_ == TEXT or read.unread[0]
        return
    if type_ == TEXT:
        assert isinstance(value, Decimal) or value == text
    elif read.unread is None or not read.unread[0]:
        assert read.values.to_pylist() == [value]
    else:
        assert isinstance(value, int)  # beyond the 64 bits of a column
