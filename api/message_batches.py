"""Message batches: Arrow, pandas and iterators of messages as record batches with the columns of the Kafka source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.api.messages import Message, records_of
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.records.file_plans import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

Messages = Iterable[Message] | Any
"""Messages: an iterable of single ones, or columns with one named `value`: an Arrow table, record batch or reader, a
pandas DataFrame or Series, or anything that exports an Arrow stream (Polars, DuckDB)."""

_TOPIC: Final = "messages"
_COORDINATES: Final = ("topic", "partition", "offset")
_OPTIONAL: Final = ("key", "timestamp", "timestampType", "headers")


def is_columnar(messages: object) -> bool:
    """Return whether messages are columns of Arrow or pandas."""
    return _is_pandas(messages) or any(hasattr(messages, f"__arrow_c_{kind}__") for kind in ("stream", "array"))


def read_batches(messages: Messages, *, placed: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield messages as batches with the columns of the Kafka source; without coordinates offsets count from 0.

    Raises UsageError if there is no column of messages, or what is given is no message, or has no coordinates although
    they have to be `placed`.
    """
    first = 0
    for batch in _columns(messages) if is_columnar(messages) else _gather(messages):
        if placed and not {*_COORDINATES} <= {*batch.schema.names}:
            raise UsageError(
                "a versions file needs the topic, partition and offset of each message",
                hint="Give columns with these names beside `value`.",
            )
        if batch.num_rows:
            yield _with_coordinates(batch, first)
        first += batch.num_rows


def _gather(messages: Iterable[Message]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE

    records = records_of(messages)
    while some := list(islice(records, BATCH_ROWS)):
        values, keys, headers = zip(*some, strict=True)
        columns = {"value": _as_binary(values)}
        if any(key is not None for key in keys):  # an empty one is a key
            columns["key"] = _as_binary(keys)
        if any(headers):
            columns["headers"] = pa.array(
                [[{"key": name, "value": content} for name, content in one] for one in headers], HEADERS_TYPE
            )
        yield pa.RecordBatch.from_pydict(columns)


def _as_binary(held: Sequence[bytes | None]) -> pa.Array:
    """Return values as Arrow holds them; those of more than 2 GB need long offsets."""
    import pyarrow as pa

    found = pa.array(held, pa.binary())
    return found if isinstance(found, pa.Array) else pa.array(held, pa.large_binary())


def _columns(messages: Any) -> Iterator[pa.RecordBatch]:
    """Yield columns in batches. Raises UsageError if there is no column `value`."""
    import pyarrow as pa

    if _is_pandas(messages):
        messages = _from_pandas(messages)
    if isinstance(messages, pa.Array | pa.ChunkedArray):
        messages = pa.table({"value": messages})
    if isinstance(messages, pa.RecordBatch):
        messages = pa.Table.from_batches([messages])
    if isinstance(messages, pa.Table):
        _refuse_no_values(messages.schema.names)
        yield from messages.to_batches(max_chunksize=BATCH_ROWS)
        return
    try:
        reader = pa.RecordBatchReader.from_stream(messages)
    except (pa.ArrowInvalid, TypeError):  # one column alone
        yield from pa.table({"value": pa.chunked_array(messages)}).to_batches(max_chunksize=BATCH_ROWS)
        return
    yield from reader


def _is_pandas(messages: object) -> bool:
    return type(messages).__module__.partition(".")[0] == "pandas"


def _from_pandas(messages: Any) -> pa.Table:
    import pyarrow as pa

    if not hasattr(messages, "columns"):  # a Series
        messages = messages.to_frame("value")
    _refuse_no_values([str(name) for name in messages.columns])
    known = [name for name in ("value", *_COORDINATES, *_OPTIONAL) if name in messages.columns]
    try:
        return pa.Table.from_pandas(messages[known], preserve_index=False)
    except pa.ArrowException as error:
        raise UsageError(
            f"the DataFrame cannot be read: {error}", hint="A column `value` of bytes or text is needed."
        ) from error


def _with_coordinates(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa

    names, rows = batch.schema.names, batch.num_rows
    _refuse_no_values(names)
    columns = {
        "value": _cast(batch, "value", pa.binary()),
        "topic": _cast(batch, "topic", pa.string()) if "topic" in names else pa.array([_TOPIC] * rows),
        "partition": (
            _cast(batch, "partition", pa.int32()) if "partition" in names else pa.array(np.zeros(rows, np.int32))
        ),
        "offset": _cast(batch, "offset", pa.int64()) if "offset" in names else pa.array(np.arange(first, first + rows)),
    }
    for name in _COORDINATES:
        if columns[name].null_count:
            raise UsageError(f"the column `{name}` contains nulls", hint="Leave the column out, or fill it.")
    kinds = {"key": pa.binary(), "timestamp": pa.timestamp("us", tz="UTC"), "timestampType": pa.int32()}
    for name in (name for name in _OPTIONAL if name in names):
        columns[name] = _cast(batch, name, kinds[name]) if name in kinds else _headers_of(batch)
    return pa.RecordBatch.from_arrays([*columns.values()], [*columns])


def _headers_of(batch: pa.RecordBatch) -> pa.Array:
    import pyarrow as pa

    from cdc_contracts.registry.core.records.record_batches import read_headers

    column = batch.column("headers")
    try:
        return read_headers(column)
    except (pa.ArrowException, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"the column `headers` is of the type {column.type}, and holds no headers",
            hint="Lists of `key` and `value` are needed, as Kafka sources have them.",
        ) from error


def _refuse_no_values(names: Sequence[str]) -> None:
    twice = next((name for name in ("value", *_COORDINATES, *_OPTIONAL) if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"there are several columns `{twice}`", hint="Select those of the messages.")
    if "value" not in names:
        raise UsageError(
            f"there is no column `value` among {', '.join(names) or 'none'}",
            hint="Name the column of the messages `value`, as Kafka sources do.",
        )


def _cast(batch: pa.RecordBatch, name: str, wanted: pa.DataType) -> pa.Array:
    """Return a column in the type that the kernel takes. Raises UsageError if it is of another kind."""
    import pyarrow as pa

    from cdc_contracts.registry.core.records.record_batches import is_number

    column = batch.column(name)
    try:
        if not is_number(column.type) or pa.types.is_integer(wanted):
            return column if column.type == wanted else column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    hint = "Bytes or text are needed." if wanted == pa.binary() else f"{wanted} is needed."
    raise UsageError(f"the column `{name}` is of the type {column.type}", hint=hint)
