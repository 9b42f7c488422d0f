"""Messages as callers have them: bytes, text, or the record of a Kafka client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from cdc_contracts.registry.core.common.errors import UsageError

_BARE = (bytes, bytearray, memoryview, str)
_KINDS = "bytes, str, None, or a record of a Kafka client with a value"


@runtime_checkable
class KafkaRecord(Protocol):
    """A record of a Kafka client: `value` is an attribute (aiokafka, kafka-python) or a method (confluent-kafka)."""

    @property
    def value(self) -> Any: ...


Message = bytes | bytearray | memoryview | str | KafkaRecord | None
"""One message. A record may also have `key`, `topic`, `partition` and `offset`; None is a tombstone."""


def value_of(message: Message) -> bytes | None:
    """Return the bytes of a message. Raises UsageError if it is none, or the record of an error."""
    if message is None or isinstance(message, bytes):
        return message
    if isinstance(message, bytearray | memoryview):
        return bytes(message)
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")  # a lone surrogate is a finding, not an exception
    if not hasattr(message, "value"):
        hint = (
            "Give the bytes or the text as they were received." if isinstance(message, Mapping) else f"Give {_KINDS}."
        )
        raise UsageError(f"a message cannot be of the type {type(message).__name__}", hint=hint)
    failure = part_of(message, "error")
    if failure is not None:
        raise UsageError(f"the consumer returned an error instead of a message: {failure}", hint="Skip such records.")
    value = part_of(message, "value")
    if not isinstance(value, bytes | bytearray | memoryview | str | None):
        raise UsageError(
            f"the value of this record is of the type {type(value).__name__}", hint="Consume without a deserializer."
        )
    return value_of(value)


def key_of(message: Message) -> bytes | None:
    """Return the bytes of the key of a message; None if it has none, or none that is bytes or text."""
    key = None if isinstance(message, _BARE) else part_of(message, "key")
    if isinstance(key, str):
        return key.encode("utf-8", "surrogatepass")
    return bytes(key) if isinstance(key, bytes | bytearray | memoryview) else None


def headers_of(message: Message) -> Sequence[tuple[str, bytes | None]]:
    """Return the headers of a record of a Kafka client; none of other messages, or if they have another form."""
    headers = None if message is None or isinstance(message, _BARE) else part_of(message, "headers")
    if not isinstance(headers, list | tuple):
        return ()
    pairs = [one for one in headers if isinstance(one, tuple) and len(one) == 2]  # noqa: PLR2004  a name and bytes
    return [one for one in pairs if isinstance(one[0], str) and isinstance(one[1], bytes | None)]


def part_of(record: object, name: str) -> Any:
    """Return a part of a record of a Kafka client, be it an attribute or a method; None if it has none."""
    part = getattr(record, name, None)
    return part() if callable(part) else part


class MessagePlace(NamedTuple):
    """Where a message is in Kafka; `timestamp` is in microseconds since 1970 UTC, None if it has none."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None


def place_of(message: Message) -> MessagePlace:
    """Return where a record of a Kafka client was read. Raises UsageError if it does not say so."""
    bare = isinstance(message, _BARE)  # a text has a `partition` of another meaning
    topic, partition, offset = (None if bare else part_of(message, name) for name in ("topic", "partition", "offset"))
    if not isinstance(topic, str) or type(partition) is not int or type(offset) is not int:
        raise UsageError(
            "a versions file needs the topic, partition and offset of each message",
            hint="Give the record of the Kafka client as it is, not its value.",
        )
    time = part_of(message, "timestamp")  # milliseconds, of confluent-kafka behind their type, 0 where there are none
    kind, millis = time if isinstance(time, tuple) else (None, time)
    return MessagePlace(
        topic, partition, offset, millis * 1_000 if type(millis) is int and millis >= 0 and kind != 0 else None
    )


def values_of(messages: Iterable[Message]) -> Iterator[bytes | None]:
    """Yield the bytes of messages. Raises UsageError if they are no messages, or only one."""
    return (value for value, _, _ in records_of(messages))


def records_of(
    messages: Iterable[Message],
) -> Iterator[tuple[bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]]:
    """Yield the bytes of messages and of their keys, and their headers. Raises UsageError as `values_of` does."""
    if isinstance(messages, bytes | bytearray | memoryview | str):
        raise UsageError("several messages are needed, and this is one", hint="Put it into a list.")
    if not isinstance(messages, Iterable) or isinstance(messages, Mapping):
        raise UsageError(
            f"messages cannot be of the type {type(messages).__name__}",
            hint="Give an iterable of bytes, an Arrow table, or a pandas DataFrame or Series.",
        )
    return ((value_of(message), key_of(message), headers_of(message)) for message in messages)
