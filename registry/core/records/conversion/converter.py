"""Converter of one value: a JSON message into an Avro record, or a record into a JSON message.

A record is written bare, or in the frame of a schema registry: a zero byte, the id of its schema in four bytes, and
the record. Nothing is validated here: what the schema can hold exactly is converted, and everything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import MAX_BYTES, Unreadable, parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.message.avro_records import AvroError, Codec
from cdc_contracts.registry.core.records.conversion.conversion_forms import Framing, MessageForm

FRAME: Final = 5
_MAGIC: Final = b"\x00"


class ConversionRefused(Exception):
    """A value that cannot be converted without loss; the text says why, and shows nothing of the value."""


@dataclass(frozen=True)
class Conversion:
    """What is asked for, as a value that can be pickled: the Avro schema, the form, the framing, and the id in a frame.

    When reading, no framing means that containers are recognised by their beginning and everything else is framed.
    """

    schema: Any
    form: MessageForm
    framing: Framing | None = None
    schema_id: int | None = None
    max_bytes: int = MAX_BYTES
    strict_json: bool = False

    def open(self) -> Callable[[bytes], bytes]:
        """Return the function that turns one value into the other form, or raises ConversionRefused.

        Raises UsageError if the id of a frame is not known.
        """
        codec = Codec(self.schema)
        return self._to_avro(codec) if self.form is MessageForm.AVRO else self._to_json(codec)

    def check(self) -> None:
        """Raise UsageError if frames are required and their id is not known."""
        if self.framing is Framing.CONFLUENT:
            self._frame_id()

    def _frame_id(self) -> int | None:
        """Return the id of a frame, None if there is no frame. Raises UsageError if it is not known."""
        if self.framing in (Framing.BARE, Framing.CONTAINER):
            return None
        if self.schema_id is None:
            hint = "Give --schema-id N, or --registry URL where it is asked for; --framing bare has none."
            raise UsageError("no ids.lock has an id for the schema", hint=hint)
        return self.schema_id

    def _to_avro(self, codec: Codec) -> Callable[[bytes], bytes]:
        number = self._frame_id()
        head = b"" if number is None else _MAGIC + number.to_bytes(FRAME - 1)

        def convert(value: bytes) -> bytes:
            try:
                return head + codec.write(parse_message(value, max_bytes=self.max_bytes, strict=self.strict_json))
            except Unreadable as error:
                raise ConversionRefused(f"no JSON message: {error.observed}") from None
            except AvroError as error:
                raise ConversionRefused(str(error)) from None

        return convert

    def _to_json(self, codec: Codec) -> Callable[[bytes], bytes]:
        def convert(value: bytes) -> bytes:
            number = self._frame_id()  # asked for where it is needed: containers have none
            try:
                return write_message(codec.read(value if number is None else _unframe(value, number)))
            except AvroError as error:
                raise ConversionRefused(str(error)) from None

        return convert


def write_message(message: Any) -> bytes:
    """Return a parsed message as one line of JSON in UTF-8, every number by its token."""
    return write_json(message).encode()


def _unframe(value: bytes, schema_id: int) -> bytes:
    if len(value) < FRAME or value[:1] != _MAGIC:
        raise ConversionRefused("no frame of a schema registry: a zero byte and an id of four bytes")
    found = int.from_bytes(value[1:FRAME])
    if found != schema_id:
        raise ConversionRefused(f"written with schema id {found}, not {schema_id}")
    return value[FRAME:]
