"""`cdc-contracts rules`: every rule by its stable id."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from cdc_contracts.cli.options.shared_options import AsJson
from cdc_contracts.cli.output import console

_TITLES = {
    "drift": "Drift: how messages differ from their contract",
    "cross-field": "Rules across fields: the drift class cross-field in particular",
    "lint": "Lint: whether contracts are consistent",
    "table": "Table contracts: whether one is consistent",
    "json-schema": "Compatibility: how JSON Schemas differ",
    "avro": "Compatibility: how Avro schemas differ",
    "meaning": "Compatibility: how the meaning of contracts differs",
    "publication": "Compatibility: how a published version may change",
    "table-versions": "Compatibility: how versions of a table contract differ",
}

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None, no_args_is_help=False)


@app.callback()
def list_rules(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List every rule: drift classes, cross-field rules, lint, compatibility."""
    from cdc_contracts.registry.authoring.explain.rulebook import rules

    if context.invoked_subcommand is not None:
        return
    if as_json:
        console.print_json([asdict(rule) for rule in rules()])
        return
    for family, group in groupby(rules(), key=lambda rule: rule.family):
        console.print_heading(_TITLES[family], first=family == "drift")
        rows = [(f"{one.id} {one.name}" if one.name not in one.id else one.id, one.severity, one.says) for one in group]
        console.print_table(["RULE", "SEVERITY", "DESCRIPTION"], rows)
    console.say("\n`cdc-contracts rules show ID` explains one.")


@app.command("show")
def show_rule(
    rule: Annotated[str, typer.Argument(metavar="ID", help="D07, D09.columns-typed, L03, C301, or a name.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Explain one rule, with a good and a bad example."""
    from cdc_contracts.registry.authoring.explain.rulebook import find_rule

    found = find_rule(rule)
    if as_json:
        console.print_json(asdict(found))
        return
    console.print_line(f"{found.id} {found.name}  {found.severity}")
    why = [("Why", found.why)] if found.why else []
    console.print_table(["", ""], [
        ("Description", found.says), *why, ("Good", found.good), ("Bad", found.bad), ("Fix", found.action),
        *([("Confluent", found.confluent)] if found.confluent else []),
    ])  # fmt: skip
