"""Detecting: the validation context of an input, as it was declared or as a sample of its messages gives it."""

from __future__ import annotations

from collections.abc import Collection

from cdc_contracts.registry.core.detect.detection import Detection
from cdc_contracts.registry.core.detect.topic_samples import ENOUGH, find_validation
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.inputs.sources import TopicInput


def find_input_validation(
    engine: Engine, source: Input, asked: ValidationContext | Undetected
) -> tuple[ValidationContext | None, Detection | None]:
    """Return the validation context of an input, None if it cannot be detected, and its detection if none was declared.

    Messages that name no table are of one with the name of their topic, as under a declared contract.
    """
    found, detection = find_validation(
        asked, lambda: source.peek(engine, ENOUGH), lambda within: source.peek(engine, ENOUGH, within)
    )
    if found is not None and detection is not None and isinstance(source, TopicInput):
        found = name_table(found, source.selected)
    return found, detection


def name_table(validation: ValidationContext, topics: Collection[str]) -> ValidationContext:
    """Return a context in which the only topic is the table of messages that name none."""
    return validation.with_table(*topics) if len(topics) == 1 else validation
