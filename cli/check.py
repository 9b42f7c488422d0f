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
from cdc_contracts.registry.common.errors import UndetectedError
from cdc_contracts.registry.common.exits import EXIT_CODES

if TYPE_CHECKING:
    import pyarrow as pa


_HINT = "`cdc-contracts detect` shows the evidence; declare it with --contract SYSTEM/DIALECT@N"


@spread
def check(
    paths: Annotated[list[str], typer.Argument(metavar="FILE...|-", help="Files, or - for standard input.")],
    judging: RangedValidationOptions,
    whole: Annotated[bool, typer.Option("--whole", help="Each file, or the input, is one message.")] = False,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    as_json: AsJson = False,
) -> None:
    """Check messages against a contract: one line per finding, then a summary. Starts no JVM."""
    from cdc_contracts.registry.detect.topic_samples import ENOUGH, find_validation, sample_files
    from cdc_contracts.registry.records.file_batches import read_input, read_slice
    from cdc_contracts.registry.records.input_files import STDIN, plan_files
    from cdc_contracts.registry.report.message_checks import check_batches
    from cdc_contracts.registry.report.stored_reports import write_document
    from cdc_contracts.registry.stats.partition_tallies import Source

    start_arrow()
    asked = judging.open_validation(show_values=show_values)
    batches: Iterable[pa.RecordBatch]
    if paths == [STDIN]:
        plan, batches = None, list(read_input(sys.stdin.buffer.read(), whole=whole))
        validation, detection = find_validation(fit_validation(asked, {Source(STDIN, 0)}), lambda: batches)
    else:
        plan = plan_files([Path(path) for path in paths], whole=whole)
        batches = (batch for one in plan.slices for batch in read_slice(one, plan.limits))
        validation, detection = find_validation(fit_validation(asked, plan.limits), partial(sample_files, plan, ENOUGH))
    if validation is None:
        if detection is not None and not detection.messages:
            raise UndetectedError("there is no message to detect the contract from", where=", ".join(paths[:3]))
        raise UndetectedError("the contract of these messages cannot be detected", hint=_HINT)
    print_line: Any = None if as_json else console.print_line
    report = check_batches(
        batches, validation, plan=plan, paths=paths, fail_on=fail_on, print_line=print_line, detection=detection
    )  # fmt: skip
    if as_json:
        console.print_json(write_document(report))
    else:
        ledger = report.ledger
        counts = ", ".join(
            f"{getattr(ledger, name):,} {name}"
            for name in ("read", "conforming", "control", "tombstone", "quarantined")
        )
        detected = f" ({', '.join(validation.detected.subjects)}, detected from the messages)" if detection else ""
        console.say(f"{report.verdict}: {counts}, validated against {report.contract}{detected}")
    raise typer.Exit(EXIT_CODES[report.verdict])
