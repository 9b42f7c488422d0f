"""The command line as a whole: all commands, and how a call ends."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from cdc_contracts.cli.command_table import Command, CommandTable
from cdc_contracts.cli.output import console
from cdc_contracts.cli.output.waiting import QUIET
from cdc_contracts.registry.core.common import signals
from cdc_contracts.registry.core.common.errors import CdcContractsError, refused
from cdc_contracts.registry.core.common.exit_codes import COULD_NOT_RUN, INTERRUPTED
from cdc_contracts.registry.core.common.extras import name_extra
from cdc_contracts.registry.core.common.memory_limits import name_lack_of_memory

PROGRAM = "cdc-contracts"
_CallError: type[Exception] = typer.BadParameter.__mro__[2]
"""Click's own error, from wherever this release of typer imports click."""
_OF_PYDANTIC = "Value error, "


def _print_version(wanted: bool) -> None:
    if wanted:
        from cdc_contracts import __version__
        from cdc_contracts.registry.core.engine.native.native_library import describe_native

        console.print_line(f"{PROGRAM} {__version__}")
        console.print_line(f"fast validator: {describe_native()}")
        raise typer.Exit


def _start(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure. Allowed anywhere.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress, only results and errors. Allowed anywhere.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Versioned contracts for change data capture messages on Kafka: lint, compare, audit, decode."""


# In the order of the help: commands, then groups of commands. Each line of help fits into 80 columns.
COMMANDS = {
    "demo": Command("demo", "demo", "See a complete run on a generated topic."),
    "list": Command("list_contracts", "list_contracts", "List the contracts and how versions differ."),
    "show": Command("show", "show", "Explain one contract, or the schema of a report."),
    "schema": Command("schema", "schema", "Print the schema of a version's messages."),
    "diff": Command("diff", "diff", "Show how two contracts differ."),
    "compat": Command("compat", "compat", "Check whether versions are compatible, with proof."),
    "detect": Command("detect", "detect", "Detect which contract messages conform to."),
    "check": Command("check", "check", "Validate files without Spark: a line per finding."),
    "why": Command("why", "why", "Explain one message and why it fails."),
    "bind": Command("bind", "bind", "Bind a topic to its contract."),
    "sample": Command("sample", "sample", "Generate messages of a contract, with drift too."),
    "contract": Command("contract", "app", "Draft a contract of your own from messages."),
    "lint": Command("lint", "lint", "Check contracts for consistency."),
    "breaking": Command("breaking", "breaking", "Find changes that break published contracts."),
    "ci": Command("ci", "check_change", "Run lint and breaking for a pull request."),
    "audit": Command("audit", "app", "Validate a whole topic or file; print a report."),
    "report": Command("report", "app", "Show a stored report, or convert its format."),
    "decode": Command("decode", "app", "Decode conforming messages into canonical rows."),
    "replay": Command("replay", "app", "Decode quarantined records that now conform."),
    "capture": Command("capture", "app", "Save a range of a topic as one Parquet file."),
    "convert": Command("convert", "app", "Convert JSON messages to Avro and back, losslessly."),
    "tables": Command("tables", "app", "Create table contracts from DDL or topics; check."),
    "registry": Command("registry", "app", "Serve contracts and schemas to registry clients."),
    "rules": Command("rules", "app", "List and explain the rules: drift, lint, compatibility."),
}
app = typer.Typer(
    name=PROGRAM,
    cls=CommandTable.of(COMMANDS),
    callback=_start,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Errors are printed on stderr, a traceback only with `--debug`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in own
    rest = [argument for argument in own if argument != "--debug" and argument not in QUIET] + given[len(own) :]
    console.prepare(quiet=not QUIET.isdisjoint(own))
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
    """Run the command that this process was started with, and return its exit code. A signal can end it any time."""
    signals.watch()
    try:
        code = carry_out()
    finally:
        signals.end_at_once()
    if signals.raised() is not None:
        console.drop_output()  # the reader may be gone
    return code


@cache
def _command() -> Any:
    """Return the tree of commands. A command is imported when it is looked up, see `command_table`."""
    return typer.main.get_command(app)


def _report_error(error: BaseException, *, debug: bool) -> int:
    """Print an error, and return its exit code."""
    # typer ends like this where a reader of stdout went away in mid-command
    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__
    given, error = error, name_lack_of_memory(name_extra(error))
    if debug:
        traceback.print_exception(given)
    if (number := signals.raised()) is not None:
        return signals.code_of(number)
    match error:
        case BrokenPipeError() | console.ReaderGone():
            console.drop_output()
            return console.ReaderGone.exit_code
        case KeyboardInterrupt() | typer.Abort():
            return INTERRUPTED
        case CdcContractsError():
            return console.report_failure(error)
        case OSError(errno=int()):
            what = "a file" if error.filename else "standard output, or a file,"  # typer and rich name neither
            return _report_error(refused(error, what=f"{what} cannot be written or read"), debug=False)
        case _CallError():
            error.message = error.message.replace(_OF_PYDANTIC, "")  # type: ignore[attr-defined]
            error.show()  # type: ignore[attr-defined]
            return int(error.exit_code)  # type: ignore[attr-defined]
        case Exception():
            hint = "" if debug else "\n  Run again with --debug for the traceback."
            console.say(f"error: {type(error).__name__}: {error} (this is a bug in {PROGRAM}){hint}")
            return COULD_NOT_RUN
    raise error


if __name__ == "__main__":
    sys.exit(run(main))
