"""The command line as a whole: which commands there are, and how a call ends."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from cdc_contracts.cli import (
    audit,
    bind,
    breaking,
    capture,
    check,
    ci,
    compat,
    convert,
    decode,
    demo,
    detect,
    diff,
    lint,
    list_contracts,
    registry,
    replay,
    report,
    rules,
    sample,
    schema,
    show,
    tables,
    why,
)
from cdc_contracts.cli.output import console
from cdc_contracts.registry.common import signals
from cdc_contracts.registry.common.errors import CdcContractsError, refused
from cdc_contracts.registry.common.exits import COULD_NOT_RUN, INTERRUPTED

PROGRAM = "cdc-contracts"
_CallError: type[Exception] = typer.BadParameter.__mro__[2]
"""Click's own error, wherever this release of typer takes click from."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from cdc_contracts import __version__
        from cdc_contracts.registry.engine.native.native_library import describe_native

        console.print_line(f"{PROGRAM} {__version__}")
        console.print_line(f"fast validator: {describe_native()}")
        raise typer.Exit


def _start(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a failure. May stand anywhere.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Versioned contracts for change data capture messages on Kafka: lint, compare, audit, decode."""


app = typer.Typer(
    name=PROGRAM,
    callback=_start,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# The help cuts what is longer than a line; short_help is whole at 80 columns.
app.command("demo", short_help="See a complete run on a generated topic.")(demo.demo)
app.command("list", short_help="List the contracts and how versions differ.")(list_contracts.list_contracts)
app.command("show", short_help="Explain one contract, or the schema of a report.")(show.show)
app.command("schema", short_help="Print the schema of a version's messages.")(schema.schema)
app.command("diff", short_help="Show how two contracts differ.")(diff.diff)
app.command("compat", short_help="Check whether versions are compatible, with proof.")(compat.compat)
app.command("detect", short_help="Detect which contract messages conform to.")(detect.detect)
app.command("check", short_help="Validate files without Spark: a line per finding.")(check.check)
app.add_typer(audit.app, name="audit", short_help="Validate a whole topic or file; print a report.")
app.command("why", short_help="Explain one message and why it fails.")(why.why)
app.add_typer(report.app, name="report", short_help="Show a stored report, or convert its format.")
app.add_typer(decode.app, name="decode", short_help="Decode conforming messages into canonical rows.")
app.add_typer(replay.app, name="replay", short_help="Decode quarantined records that now conform.")
app.add_typer(capture.app, name="capture", short_help="Save a range of a topic as one Parquet file.")
app.add_typer(convert.app, name="convert", short_help="Convert JSON messages to Avro and back, losslessly.")
app.add_typer(tables.app, name="tables", short_help="Create table contracts from DDL or topics; check.")
app.command("bind", short_help="Bind a topic to its contract.")(bind.bind)
app.command("sample", short_help="Generate messages of a contract, with drift too.")(sample.sample)
app.command("lint", short_help="Check contracts for consistency.")(lint.lint)
app.command("breaking", short_help="Find changes that break published contracts.")(breaking.breaking)
app.command("ci", short_help="Run lint and breaking for a pull request.")(ci.check_change)
app.add_typer(registry.app, name="registry", short_help="Serve contracts and schemas to registry clients.")
app.add_typer(rules.app, name="rules", short_help="List and explain the rules: drift, lint, compatibility.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one call and return its exit code. Errors are printed on stderr; a traceback only with `--debug`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in own
    rest = [argument for argument in own if argument != "--debug"] + given[len(own) :]
    console.prepare()
    try:
        with signals.raising():
            code = _command().main(rest, prog_name=PROGRAM, standalone_mode=False)
            console.flush()
    except BaseException as error:  # noqa: BLE001  whatever it is, a person reads one message
        return _report_error(error, debug=debug)
    if (number := signals.raised()) is not None:
        return signals.code_of(number)
    return code if isinstance(code, int) else 0


def run(carry_out: Callable[[], int]) -> int:
    """Carry out the call that this process was started with, and return its exit code. A signal can end it any time."""
    signals.watch()
    try:
        code = carry_out()
    finally:
        signals.end_at_once()
    if signals.raised() is not None:
        console.drop_output()  # nobody may be left to take it
    return code


@cache
def _command() -> Any:
    """Return the tree of commands, which takes long to make: typer reads the annotations of them all."""
    return typer.main.get_command(app)


def _report_error(error: BaseException, *, debug: bool) -> int:
    """Tell what went wrong, and return the exit code it stands for."""
    # typer ends like this where a reader of stdout went away in mid-command
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__
    if debug:
        traceback.print_exception(error)
    if (number := signals.raised()) is not None:
        return signals.code_of(number)
    match error:
        case BrokenPipeError() | console.ReaderGone():
            console.drop_output()
            return console.ReaderGone.exit_code
        case KeyboardInterrupt() | typer.Abort():
            return INTERRUPTED
        case CdcContractsError():
            console.say(f"error: {error}")
            return error.exit_code
        case OSError(errno=int()):
            what = "a file" if error.filename else "standard output, or a file,"  # typer and rich name neither
            return _report_error(refused(error, what=f"{what} cannot be written or read"), debug=False)
        case _CallError():
            error.show()  # type: ignore[attr-defined]
            return int(error.exit_code)  # type: ignore[attr-defined]
        case Exception():
            hint = "" if debug else "\n  run again with --debug for the traceback"
            console.say(f"error: {type(error).__name__}: {error} (this is a bug in {PROGRAM}){hint}")
            return COULD_NOT_RUN
    raise error


if __name__ == "__main__":
    sys.exit(run(main))
