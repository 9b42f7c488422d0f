"""Opened batches: the messages of values that are more than their text, and the values that could not be opened."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.native.text_image_values import TextImageValues
from cdc_contracts.registry.core.message.text_images import TextImages
from cdc_contracts.registry.core.message.unwrapping import WRAPPINGS, unwrap
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.records.record_batches import Batch
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import unreadable


def open_wrapped(batch: Batch, wrapping: str) -> tuple[Batch, *tuple[tuple[Batch, BatchResult], ...]]:
    """Return the unwrapped messages of a batch, and the records without this wrapping, with their findings."""
    values: list[bytes | None] = []
    failures: dict[int, Unreadable] = {}
    for number, value in enumerate(batch.values):
        try:
            values.append(unwrap(value, wrapping))
        except Unreadable as error:
            values.append(None)
            failures[number] = error
    place = batch.records.schema.get_field_index("value")
    opened = Batch(batch.records.set_column(place, "value", pa.array(values, pa.binary())))
    return part_unreadable(batch, opened, failures, WRAPPINGS[wrapping])


def open_images(values: MessageValues, keys: pa.BinaryArray | None, images: TextImages | None) -> MessageValues:
    """Return the messages of values, which are opened when they are read if their images are texts.

    Without `images`, the values of a version whose images are no texts, they stay as they are.
    """
    return values if images is None else TextImageValues(values, keys, images)


def part_unreadable(
    batch: Batch, opened: Batch, failures: Mapping[int, Unreadable], expected: str
) -> tuple[Batch, *tuple[tuple[Batch, BatchResult], ...]]:
    """Return opened records without those that could not be opened, and these as they came, with their findings."""
    if not failures:
        return (opened,)
    alone = [
        (place, ValidatedMessage(unreadable(failures[number].cause, expected, failures[number].observed)))
        for place, number in enumerate(sorted(failures))
    ]
    refused = batch.part(failures)[1]
    return opened.part(failures)[0], (refused, BatchResult(pa.array([None], pa.string()), alone=alone))
