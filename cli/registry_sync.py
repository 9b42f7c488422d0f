"""`cdc-contracts registry plan|apply|push|dump|pull|ids`: synchronise a folder in git with a registry server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.remote_options import Remote, bindings, open_remote
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.output import console, plan_output
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.safe_text import visible

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.deployment import Deployment
    from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Contracts, subjects/, registry.yaml, ids.lock.")]
Prune = Annotated[bool, typer.Option("--prune", help="Also soft-delete what the folder does not name.")]
Topics = Annotated[
    bool, typer.Option("--topics/--no-topics", help="Also the values of topics that cdc-contracts.yaml binds.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what the folder holds.")]


@spread
def plan(
    folder: Folder, remote: Remote, *, prune: Prune = False, topics: Topics = True, as_json: AsJson = False
) -> None:
    """Show what `registry apply` would do. Exit 0: nothing; 1: there are changes, or they are refused."""
    from cdc_contracts.registry.authoring.sync.deployment import prepare

    with open_remote(remote) as client:
        found = prepare(client, folder, bindings(folder, wanted=topics), prune=prune)
    if as_json:
        console.print_json(plan_output.as_data(found.plan))
    else:
        plan_output.print_plan(found.plan)
    if not found.plan.changes_nothing:
        raise typer.Exit(1)


@spread
def apply(
    folder: Folder, remote: Remote, *, prune: Prune = False, topics: Topics = True, as_json: AsJson = False
) -> None:
    """Make a server match a folder: schemas with the ids of ids.lock, config and modes.

    If anything in the plan is refused, nothing is written (exit 1). Repeating it does nothing; an interrupted run is
    continued.
    """
    from cdc_contracts.registry.authoring.sync.deployment import prepare

    with open_remote(remote) as client:
        found = prepare(client, folder, bindings(folder, wanted=topics), prune=prune)
        _carry_out(client, found, as_json=as_json)


@spread
def push(folder: Folder, remote: Remote, *, topics: Topics = True, as_json: AsJson = False) -> None:
    """Register what is new in a folder; ids that the server assigns go to ids.lock. Nothing else changes."""
    from cdc_contracts.registry.authoring.sync.deployment import only_additions, prepare

    with open_remote(remote) as client:
        found = prepare(client, folder, bindings(folder, wanted=topics), prune=False)
        _carry_out(client, only_additions(found), as_json=as_json)


@spread
def dump(folder: Folder, remote: Remote, *, force: Force = False) -> None:
    """Write everything on a server to a folder, including deleted versions, ids, config and modes."""
    from cdc_contracts.registry.authoring.sync.retrieval import dump_server

    with open_remote(remote) as client:
        held = dump_server(client, folder, force=force)
    console.print_line(f"{folder}: {len(held.subjects())} subjects, {len(held.schemas)} versions")


@spread
def pull(folder: Folder, remote: Remote, *, topics: Topics = True, force: Force = False) -> None:
    """Write to a folder what only the server has. Where both differ, the folder's files are kept (exit 1)."""
    from cdc_contracts.registry.authoring.sync.retrieval import pull_server

    with open_remote(remote) as client:
        bound = [f"{topic}-value" for topic in bindings(folder, wanted=topics)]
        pulled = pull_server(client, folder, force=force, bound=bound)
    for name in pulled.written:
        console.print_line(visible(f"+ {name}", most=None))
    for name in pulled.kept:
        console.print_line(visible(f"! {name}", most=None))
    if not pulled.written and not pulled.kept:
        console.print_line("the server has nothing new")
    if pulled.kept:
        console.say("differing files were kept; --force overwrites them with those of the server")
        raise typer.Exit(1)


def ids(folder: Folder) -> None:
    """Assign an id in ids.lock to every schema of every contract of a folder, and retire ids of removed ones."""
    from cdc_contracts.registry.authoring.sync.id_numbering import number_contracts

    numbered = number_contracts(folder)
    for entry in numbered.new:
        console.print_line(f"+ {entry.id} {entry.key}")
    for entry in numbered.retired:
        console.print_line(f"- {entry.id} {entry.key} (retired)")
    if not numbered.new and not numbered.retired:
        console.print_line("every schema has an id")


def _carry_out(client: RegistryClient, found: Deployment, *, as_json: bool) -> None:
    """Apply a plan without refusals, and print each completed step."""
    from cdc_contracts.registry.authoring.sync.deployment import carry_out

    if found.plan.refusals:
        plan_output.print_json_or_text(found.plan, as_json=as_json)
        console.say("nothing was written")
        raise typer.Exit(1)
    done = []
    try:
        for step in carry_out(client, found):
            done.append(step)
            if not as_json:
                console.print_line(plan_output.line_of(step))
    except CdcContractsError:
        console.say(f"{len(done)} of {len(found.plan.steps)} steps were done; run it again to continue")
        raise
    if as_json:
        console.print_json({"done": [plan_output.step_data(step) for step in done]})
    elif not done:
        console.print_line("nothing to do")
