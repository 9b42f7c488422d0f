"""Conversion forms: what messages are turned into, and the frames of Avro records. Commands have them as options."""

from enum import StrEnum


class MessageForm(StrEnum):
    """The form that messages are turned into."""

    AVRO = "avro"
    JSON = "json"


class Framing(StrEnum):
    """The frame around Avro records."""

    CONTAINER = "container"
    CONFLUENT = "confluent"
    BARE = "bare"
