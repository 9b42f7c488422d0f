"""Table inference over a topic or files: what the columns of their tables were seen to hold."""

from __future__ import annotations

from cdc_contracts.registry.common.errors import UndetectedError
from cdc_contracts.registry.detect.topic_samples import ENOUGH, find_validation
from cdc_contracts.registry.tables.inference.column_evidence import InferenceEvidence
from cdc_contracts.registry.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.engines import Engine, Input
from cdc_contracts.spark_checks.stopping import Stop


def infer_input(
    engine: Engine, source: Input, validation: ValidationContext | Undetected, stop: Stop
) -> InferenceEvidence:
    """Return what the rows of an input show of their tables.

    A run that is to stop returns what it has seen. Raises UndetectedError where no contract can be detected.
    """
    found, _ = find_validation(validation, lambda: source.peek(engine, ENOUGH))
    if found is None:
        raise UndetectedError(
            "the contract of the messages cannot be detected",
            hint="name it with --contract; `detect` shows the evidence",
        )
    return engine.infer(source, found, stop)
