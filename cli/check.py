"""`cdc-contracts check`: messages of a file or standard input against a contract, at once and without a JVM."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.options.arrow_start import start_arrow
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.options.validation_options import FailOn, ShowValues
from cdc_contracts.cli.options.version_options import RangedValidationOptions, fit_validation
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES
from cdc_contracts.registry.core.common.extras import has_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from cdc_contracts.registry.core.detect.detection import Detection
    from cdc_contracts.registry.core.records.file_plans import FilePlan
    from cdc_contracts.registry.core.report.message_checks import Checker
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext

_FEW = 64
"""Up to this many messages are validated one by one, which takes less time than importing Arrow."""


@spread
def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILE...|-", help="Files, or - for standard input.")],
    validating: RangedValidationOptions,
    whole: Annotated[bool, typer.Option("--whole", help="Each file, or the input, is one message.")] = False,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    as_json: AsJson = False,
) -> None:
    """Check messages against a contract: one line per finding, then a summary. Starts no JVM."""
    from cdc_contracts.registry.core.records.input_files import STDIN, plan_files
    from cdc_contracts.registry.core.report.message_checks import check_batches
    from cdc_contracts.registry.core.report.report_wording import counts_of, open_questions
    from cdc_contracts.registry.core.report.stored_reports import write_document
    from cdc_contracts.registry.core.stats.partition_tallies import Source
    from cdc_contracts.registry.core.validate.validation_context import ValidationContext

    asked = validating.open_validation(show_values=show_values)
    plan = None if paths == [STDIN] else plan_files([Path(path) for path in paths], whole=whole)
    data = sys.stdin.buffer.read() if plan is None else b""
    read_batches, open_checker = _one_by_one() if _are_few(plan, data) or not has_extra("arrow") else _by_kernel()
    batches: Iterable[Any]
    if plan is None:
        batches = list(read_batches(None, data, whole=whole))
        fitted = fit_validation(asked, {Source(STDIN, 0)})
    else:
        batches = read_batches(plan)
        fitted = fit_validation(asked, plan.limits)
    validation, detection = (
        (fitted, None) if isinstance(fitted, ValidationContext) else _detect(fitted, plan, batches, paths)
    )
    print_line: Any = None if as_json else console.print_line
    report = check_batches(
        batches, open_checker(validation), plan=plan, paths=paths, fail_on=fail_on, print_line=print_line,
        detection=detection,
    )  # fmt: skip
    if as_json:
        console.print_json(write_document(report))
    else:
        ledger = report.ledger
        counts = ", ".join(f"{getattr(ledger, name):,} {name}" for name in counts_of(ledger))
        detected = f" ({', '.join(validation.detected.subjects)}, detected from the messages)" if detection else ""
        console.say(f"{report.verdict}: {counts}, validated against {report.contract}{detected}")
        for note in open_questions(report):
            console.say(note)
    raise typer.Exit(EXIT_CODES[report.verdict])


def _detect(
    undetected: Undetected, plan: FilePlan | None, batches: Iterable[Any], paths: list[str]
) -> tuple[ValidationContext, Detection]:
    """Return what the messages are validated against. Raises UndetectedError if no contract is found."""
    from cdc_contracts.registry.core.detect.detection import hint_undetected
    from cdc_contracts.registry.core.detect.topic_samples import ENOUGH, find_validation, sample_files

    sample = partial(sample_files, plan, ENOUGH) if plan is not None else None
    validation, detection = find_validation(undetected, sample or (lambda: batches), sample)
    if validation is not None and detection is not None:
        return validation, detection
    if detection is not None and not detection.messages:
        raise UndetectedError("there is no message to detect the contract from", where=", ".join(paths[:3]))
    raise UndetectedError("the contract of these messages cannot be detected", hint=hint_undetected(detection))


def _are_few(plan: FilePlan | None, data: bytes) -> bool:
    """Return whether there are so few messages, none of them in Parquet, that no fast validator is needed."""
    from cdc_contracts.registry.core.records.file_plans import ParquetRowGroup

    if plan is None:
        return data.count(b"\n") < _FEW
    total = sum(end - start for start, end in plan.limits.values())
    return total <= _FEW and not any(isinstance(one, ParquetRowGroup) for one in plan.slices)


def _by_kernel() -> tuple[Callable[..., Iterable[Any]], Callable[[ValidationContext], Checker[Any]]]:
    """Return how messages are read as Arrow batches, and what validates these."""
    from cdc_contracts.registry.core.engine.kernel_checks import KernelChecks
    from cdc_contracts.registry.core.records.file_batches import read_input, read_slice

    start_arrow()

    def read(plan: FilePlan | None, data: bytes = b"", *, whole: bool = False) -> Iterable[Any]:
        if plan is None:
            return read_input(data, whole=whole)
        return (batch for one in plan.slices for batch in read_slice(one, plan.limits))

    return read, KernelChecks


def _one_by_one() -> tuple[Callable[..., Iterable[Any]], Callable[[ValidationContext], Checker[Any]]]:
    """Return how messages are read without Arrow, and what validates them one by one: slower, with the same result."""
    from cdc_contracts.registry.core.engine.messages.validation_without_arrow import ValidationWithoutArrow
    from cdc_contracts.registry.core.records.file_plans import ParquetRowGroup
    from cdc_contracts.registry.core.records.input_files import read_input_without_arrow, read_slice_without_arrow

    def read(plan: FilePlan | None, data: bytes = b"", *, whole: bool = False) -> Iterable[Any]:
        if plan is None:
            return read_input_without_arrow(data, whole=whole)
        lines = [one for one in plan.slices if not isinstance(one, ParquetRowGroup)]  # rows are refused when planned
        return (records for one in lines for records in read_slice_without_arrow(one, plan.limits))

    return read, ValidationWithoutArrow
