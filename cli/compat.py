"""`cdc-contracts compat`: whether versions are compatible, and the message that proves it where they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, open_catalogue
from cdc_contracts.cli.output import console
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES, INCONCLUSIVE, PASS, USAGE

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.version_pairs import Comparer, ComparisonRequest

_ENDS = {True: PASS, False: DRIFT, None: INCONCLUSIVE}


def compat(
    versions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OLD... NEW",
            help="References (dts/canal@1) or schema files (.json, .avsc); of more than two, the last is the new one.",
        ),
    ] = None,
    level: Annotated[
        Level, typer.Option("--level", case_sensitive=False, help="Compatibility level; cdc ignores it.")
    ] = Level.BACKWARD,
    policy: Annotated[Policy, typer.Option("--policy", help="Whose rules apply.")] = Policy.CDC,
    pairs: Annotated[
        Path | None, typer.Option("--pairs", metavar="FILE", help='A JSON list of {"old", "new"}: a line for each.')
    ] = None,
    *,
    as_json: AsJson = False,
    contracts: ContractFolders = None,
) -> None:
    """Check whether readers of each version read the other's messages correctly, with proof if not.

    Exits with 0 if they are compatible, 1 if not, 4 if it could not be decided.
    """
    from cdc_contracts.cli.output.compatibility_output import print_verdict
    from cdc_contracts.registry.authoring.compat.version_pairs import Comparer, ComparisonRequest, verdict_document

    named = versions or []
    if (pairs is None and len(named) < 2) or (pairs is not None and named):  # noqa: PLR2004  an old and a new one
        raise UsageError("no versions are given", hint="Give OLD and NEW, or --pairs FILE.")
    comparer, demand = Comparer(lambda: open_catalogue(contracts)), ComparisonRequest(level, policy)
    if pairs is not None:
        raise typer.Exit(_compare_pairs(pairs, comparer, demand, as_json=as_json))
    verdict = comparer.compare(named[:-1], named[-1], demand)
    if as_json:
        console.print_json(verdict_document(verdict))
    else:
        print_verdict(verdict, named)
    raise typer.Exit(EXIT_CODES[_ENDS[verdict.compatible]])


def _compare_pairs(file: Path, comparer: Comparer, demand: ComparisonRequest, *, as_json: bool) -> int:
    """Print a line for each pair, and return the exit code of the heaviest: unreadable, incompatible, undecided."""
    from cdc_contracts.cli.output.compatibility_output import print_outcome
    from cdc_contracts.registry.authoring.compat.version_pairs import compare_pairs, read_pairs

    codes = {0}
    for outcome in compare_pairs(read_pairs(file), comparer, demand, file.parent):
        if as_json:
            console.print_line(json.dumps(outcome.as_document(), separators=(",", ":")))
        else:
            print_outcome(outcome)
        codes.add(USAGE if outcome.verdict is None else EXIT_CODES[_ENDS[outcome.verdict.compatible]])
    return next(code for code in (USAGE, EXIT_CODES[DRIFT], EXIT_CODES[INCONCLUSIVE], 0) if code in codes)
